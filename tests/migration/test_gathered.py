"""A database without unread messages and digests is brought up to one that has them, with its rows in place."""

from contextlib import closing
from typing import Any

import pytest

from duebook import DigestPolicy, Duebook, Email, State, UnreadPolicy
from duebook.engine.auditor import Auditor
from duebook.stores import catalog
from tests.migration.test_migration import Place, place
from tests.migration.test_with_rows import AT, IDENTITIES, LEFT

__all__ = ["place"]

ROWS = "select kind, key, state, due_at, wake_at, version from @notifications order by id"
JUNE = "'2030-06-01T10:00:00.000000Z'"
SCHEDULE = f"""
    insert into @schedules (
        name, kind, recipient, namespace, data, recurrence, zone, catch_up, most, version, cursor_at, next_at,
        created_at, changed_at, changed_by)
    values ('s', 'renewal', 'ann', 'test', '{{}}', '{{"cron": "0 10 1 6 *"}}', 'UTC', 'latest', 100, 1, {AT}, {JUNE},
        {AT}, {AT}, 'app')"""
SCHEDULES = "select name, next_at, version from @schedules order by name"
DIALECTS: tuple[catalog.Dialect, ...] = ("sqlite", "postgres")


def a_book(place: Place) -> Duebook:
    book = Duebook(place.url, namespace="test")
    policies: dict[str, dict[str, Any]] = {
        "renewal": {}, "chat": {"unread": UnreadPolicy()}, "news": {"digest": DigestPolicy()},
    }  # fmt: skip
    for name, policy in policies.items():

        @book.kind(name, channel="mail", **policy)
        def handler(due: Any) -> Email:
            raise AssertionError("nothing is due")

    return book


async def test_rows_stay_and_what_is_new_works(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    older = {dialect: catalog.migrations(dialect)[:2] for dialect in DIALECTS}
    book = a_book(place)
    with monkeypatch.context() as patched:
        patched.setattr(catalog, "migrations", lambda dialect: older[dialect])
        await book.migrate()
    await book.close()

    with closing(place.shell()) as shell:
        for statement in (*LEFT, SCHEDULE, *([IDENTITIES] if shell.dialect == "postgres" else [])):
            shell.run(statement)
    book = a_book(place)
    before = place.look(ROWS), place.look(SCHEDULES)
    await book.migrate()
    assert (place.look(ROWS), place.look(SCHEDULES)) == before

    room = book.unread
    for message in ("m1", "m2"):
        assert (await room.posted("chat", "room", message, author="bob", recipients=["ann"])).reminders == 1
    assert (await room.mark_read("chat", "room", "ann", up_to="m1")).moved
    states = {n.key: n.state for n in await book.search()}
    assert states == {
        "waits": State.SCHEDULED, "withdrawn": State.CANCELLED, "room/m1/ann": State.CANCELLED,
        "room/m2/ann": State.SCHEDULED,
    }  # fmt: skip
    assert (await book.digests.add("news", "ann", "a")).created
    assert [item.item for item in await book.digests.waiting("news", "ann")] == ["a"]
    assert (await Auditor(book.wired.database, book.wired.store).report()).violations == []
    await book.close()
