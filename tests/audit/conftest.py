from collections.abc import Iterator

import pytest

from tests.support.fixtures import clock, crew, emptied, migrated_file, psql_session, world
from tests.support.worlds import World

__all__ = ["clock", "crew", "migrated_file", "psql_session", "world"]

_CHECKS = """
    select conrelid::regclass, conname, pg_get_constraintdef(oid) from pg_constraint
    where contype = 'c' and connamespace = 'duebook'::regnamespace"""


@pytest.fixture
def defenceless(world: World) -> Iterator[World]:
    """A world whose database refuses nothing, as after a restore without constraints and triggers."""
    shell = world.shell
    if world.dialect == "sqlite":
        shell.run("pragma ignore_check_constraints = on")
        kept = "('duebook_identity', 'duebook_posted')"
        for (name,) in shell.run(f"select name from sqlite_master where type = 'trigger' and name not in {kept}"):
            shell.run(f"drop trigger {name}")
        yield world
        return
    checks = shell.run(_CHECKS)
    shell.run("alter table @notifications disable trigger user")
    for table, name, _ in checks:
        shell.run(f"alter table {table} drop constraint {name}")
    yield world
    emptied(shell)
    for table, name, definition in checks:
        shell.run(f"alter table {table} add constraint {name} {definition}")
    shell.run("alter table @notifications enable trigger user")
