from tests.support.fixtures import clock, crew, migrated_file, psql_session, world

__all__ = ["clock", "crew", "migrated_file", "psql_session", "world"]
