"""What holds for every kind of connection, on every database it leads to."""

import json
from datetime import UTC, datetime

import pytest

from duebook.errors import SchemaMismatch
from duebook.ports import Plan, Statement
from duebook.stores import catalog
from duebook.stores.callers import AsyncCaller, SyncCaller
from tests.callers import plans
from tests.callers.conftest import Database
from tests.callers.kinds import Kind


def test_commits_with_the_caller(kind: Kind, database: Database, key: str) -> None:
    with kind.open(database.url) as transaction:
        assert transaction.run(plans.schedule(key, f"{key}/2")) == [key, f"{key}/2"]
        assert transaction.run(plans.schedule(key)) == []
        (row,) = transaction.run(plans.read_identities(key))
        assert tuple(row[:2]) == (plans.KIND, key)
        assert row[4] == "scheduled"
        assert not database.has(key)
        transaction.commit()
        assert database.has(key)


def test_rolls_back_with_the_caller(kind: Kind, database: Database, key: str) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        transaction.rollback()
    assert not database.has(key)


def test_is_not_committed_by_reading_or_by_going_away(kind: Kind, database: Database, key: str) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        transaction.run(plans.read_identities(key))
    assert not database.has(key)


def test_speaks_the_dialect_of_its_database(kind: Kind, database: Database) -> None:
    with kind.open(database.url) as transaction:
        assert transaction.caller.dialect == kind.dialect
        assert isinstance(transaction.caller, SyncCaller if transaction.wait is None else AsyncCaller)


def test_values_arrive_as_they_were_given(kind: Kind, database: Database, key: str) -> None:
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key))
        (row,) = transaction.run(plans.ask("read", kind=plans.KIND, key=key))
        number, data, due_at = row[0], row[9], row[10]
        assert isinstance(number, int)
        assert json.loads(data) == plans.DATA
        moment = datetime.fromisoformat(due_at) if isinstance(due_at, str) else due_at
        assert moment.tzinfo is not None
        assert moment == datetime(2027, 1, 14, 14, tzinfo=UTC)


def test_every_sort_of_parameter_is_understood(kind: Kind, database: Database, key: str) -> None:
    """Numbers and nulls, names used twice, percent signs and colons in literals."""
    with kind.open(database.url) as transaction:
        transaction.run(plans.schedule(key, f"{key}/2"))
        filters: dict[str, str | None] = dict.fromkeys(("kind", "state", "channel", "tenant"))
        found = transaction.run(plans.ask("search", before=1 << 40, limit=2, **filters))
        assert [row[2] for row in found] == [f"{key}/2", key]
        assert len(transaction.run(plans.ask("lock_groups", groups='["all"]', limit=1))) == 1
        assert len(transaction.run(plans.ask("read_clock"))) == 1
        rate = {"wanted": 3, "now_micros": 1_800_000_000_000_000, "interval_micros": 10, "burst_micros": 100}
        now = "2027-01-15T08:00:00.000000Z"
        (row,) = transaction.run(plans.ask("take_rate", channel=key, by="me", now=now, **rate))
        assert tuple(row) == (3, 1_800_000_000_000_030)
        transaction.rollback()


def test_missing_tables_are_explained(kind: Kind, bare: Database, key: str) -> None:
    with kind.open(bare.url) as transaction:
        with pytest.raises(SchemaMismatch, match="duebook migrate"):
            transaction.run(plans.schedule(key))
        transaction.rollback()


def test_tables_that_vanish_after_the_check_are_explained(kind: Kind, bare: Database, key: str) -> None:
    with kind.open(bare.url) as transaction, pytest.MonkeyPatch.context() as patch:
        patch.setattr("duebook.stores.callers.schema.known", lambda database: True)
        with pytest.raises(SchemaMismatch, match="duebook migrate"):
            transaction.run(plans.schedule(key))
        transaction.rollback()


@pytest.mark.parametrize("version", [0, 99])
def test_tables_of_another_release_are_refused(kind: Kind, database: Database, key: str, version: int) -> None:
    present = catalog.newest("sqlite")
    with kind.open(database.url) as transaction, pytest.MonkeyPatch.context() as patch:
        patch.setattr("duebook.stores.catalog.newest", lambda dialect: version)
        with pytest.raises(SchemaMismatch, match=rf"schema {present}, .*(knows 0|needs 99)"):
            transaction.run(plans.schedule(key))
        patch.undo()
        assert transaction.run(plans.schedule(key)) == [key]


def test_an_error_of_the_driver_reaches_the_plan(kind: Kind, database: Database) -> None:
    seen: list[Exception] = []

    def plan() -> Plan[str]:
        try:
            yield Statement("schedule", {"rows": "this is no JSON"})
        except Exception as error:
            seen.append(error)
            raise
        return "never"

    with kind.open(database.url) as transaction:
        with pytest.raises(Exception, match=r"(?i)json") as raised:
            transaction.run(plan())
        assert seen == [raised.value]
        assert not type(raised.value).__module__.startswith("duebook")
        transaction.rollback()
