from tests.support.fixtures import clock, migrated_file, psql_session, world

__all__ = ["clock", "migrated_file", "psql_session", "world"]
