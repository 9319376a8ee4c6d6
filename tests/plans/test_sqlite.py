import re

import pytest

from duebook.stores import catalog
from tests.plans.statements import BIG, PINNED
from tests.support.shell import Shell

SCAN = rf"^SCAN (?:duebook_(?:{'|'.join(BIG)})|[adeimnopsw])\b.*"

# SQLite names its own primary keys, and none for a rowid.
NAMES = {
    "notifications_pkey": "INTEGER PRIMARY KEY",
    "missed_pkey": "INTEGER PRIMARY KEY",
    "schedules_pkey": "sqlite_autoindex_duebook_schedules_1",
    "deadlines_pkey": "sqlite_autoindex_duebook_deadlines_1",
    "identities_pkey": "sqlite_autoindex_duebook_identities_1",
    "attempts_pkey": "sqlite_autoindex_duebook_attempts_1",
    "evidence_pkey": "sqlite_autoindex_duebook_evidence_1",
    "messages_pkey": "sqlite_autoindex_duebook_messages_1",
    "conversations_pkey": "sqlite_autoindex_duebook_conversations_1",
    "people_pkey": "sqlite_autoindex_duebook_people_1",
    "opt_outs_pkey": "sqlite_autoindex_duebook_opt_outs_1",
    "suppressions_pkey": "sqlite_autoindex_duebook_suppressions_1",
}


@pytest.mark.parametrize("name", PINNED)
def test_a_statement_goes_through_its_indexes(crowded_sqlite: Shell, name: str) -> None:
    pinned = PINNED[name]
    compiled = catalog.prepare("sqlite", "named", pinned.statement)
    rows = crowded_sqlite.connection.execute(f"explain query plan {compiled.text}", pinned.statement.parameters)
    plan = "\n".join(str(detail) for *_, detail in rows.fetchall())
    # What has news about it is all that this index holds, so it is meant to be read whole.
    scans = [line for line in re.findall(SCAN, plan, re.MULTILINE) if "duebook_evidence_new" not in line]
    assert scans == [], plan
    missing = [index for index in pinned.indexes if NAMES.get(index, index) not in plan]
    assert missing == [], plan


@pytest.mark.parametrize("name", ["an empty claim", "peek", "look", "lock_expired_leases", "lock_worthless"])
def test_an_order_comes_from_the_index_and_is_not_sorted(crowded_sqlite: Shell, name: str) -> None:
    compiled = catalog.prepare("sqlite", "named", PINNED[name].statement)
    rows = crowded_sqlite.connection.execute(f"explain query plan {compiled.text}", PINNED[name].statement.parameters)
    assert "TEMP B-TREE" not in "\n".join(str(detail) for *_, detail in rows.fetchall())


@pytest.mark.parametrize("name", ["an empty claim", "peek", "look", "a claim of a paused channel", "mark_read"])
def test_an_idle_look_or_a_reading_takes_few_steps(crowded_sqlite: Shell, name: str) -> None:
    """Counted in thousands of instructions of SQLite's own machine, which no clock disturbs."""
    compiled = catalog.prepare("sqlite", "named", PINNED[name].statement)
    connection = crowded_sqlite.connection
    ticks = 0

    def tick() -> int:
        nonlocal ticks
        ticks += 1
        return 0

    connection.execute("begin")
    connection.set_progress_handler(tick, 1_000)
    try:
        connection.execute(compiled.text, PINNED[name].statement.parameters).fetchall()
    finally:
        connection.set_progress_handler(None, 0)
        connection.execute("rollback")
    assert ticks < 5
