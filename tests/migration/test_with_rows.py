"""A database of an older release, with rows in place, is brought up to this one and loses nothing."""

from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from duebook import DeadlinePolicy, Duebook, Email, State
from duebook.domain.receipt import Receipt
from duebook.engine.auditor import Auditor
from duebook.features.receipts import Recorded
from duebook.stores import catalog
from tests.migration.test_migration import Place, place

__all__ = ["place"]

ROWS = """
    select key, state, due_at, wake_at, number, reason, wall, zone, version from @notifications order by id"""
AT = "'2030-01-07T12:00:00.000000Z'"
NOON = "'2099-06-01T10:00:00.000000Z'"
LEFT = [
    f"""
    insert into @notifications (
        kind, key, recipient, namespace, channel, priority, data, due_at, wall, zone, rule, tzdata, state, event,
        version, wake_at, created_at, moved_at)
    values ('renewal', '{key}', 'ann', 'test', 'mail', 1, '{{"n":1}}', {NOON}, '2099-06-01T12:00:00', 'Europe/Berlin',
        'compatible', '2026a', 'scheduled', 'schedule', 1, {NOON}, {AT}, {AT})"""
    for key in ("waits", "withdrawn")
] + [
    f"""
    update @notifications set state = 'cancelled', event = 'cancel', version = 2, wake_at = null, closed_at = {AT},
        reason = 'she left' where key = 'withdrawn'""",
    f"""
    insert into @history (notification_id, version, at, by, event, state, next, reason)
    select id, 2, {AT}, 'app', 'cancel', 'scheduled', 'cancelled', 'she left' from @notifications where version = 2""",
    f"insert into @controls (scope, paused_at, reason, by, at) values ('everything', {AT}, 'moving', 'ops', {AT})",
]
SENT = [
    LEFT[0].replace("'waits'", "'sent'"),
    *(
        f"""
        update @notifications set state = '{state}', event = '{event}', version = version + 1, {rest}
        where key = 'sent'"""
        for event, state, rest in (
            ("claim", "claimed", f"wake_at = null, lease_until = {AT}, holder = 'w'"),
            ("begin", "sending", f"number = 1, message = '{{}}', begun_at = {AT}"),
            ("accept", "accepted", f"lease_until = null, holder = null, closed_at = {AT}, basis = 'reported'"),
        )
    ),
    f"""
    insert into @attempts (notification_id, number, channel, begun_at, ended_at, holder, outcome, provider_id)
    select id, 1, 'mail', {AT}, {AT}, 'w', 'accepted', 'p-1' from @notifications where key = 'sent'""",
    f"insert into @controls (scope, paused_until, reason, by, at) values ('channel:mail', {AT}, '429', 'w', {AT})",
]
IDENTITIES = """
    insert into @identities (kind, key, notification_id, recipient, due_at, created_at)
    select kind, key, id, recipient, due_at, created_at from @notifications"""
HOUR = timedelta(hours=1)
DIALECTS: tuple[catalog.Dialect, ...] = ("sqlite", "postgres")


def a_book(place: Place) -> Duebook:
    book = Duebook(place.url, namespace="test")

    @book.channel("mail")
    def mail(message: Any, context: Any) -> Any:
        raise AssertionError("nothing is due")

    @book.kind("renewal", channel="mail", deadline=DeadlinePolicy())
    def renewal(due: Any) -> Email:
        raise AssertionError("nothing is due")

    return book


async def of_the_first_release(place: Place, monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """Have a database as the first release left it: one waits, one was cancelled, all is paused."""
    oldest = {dialect: catalog.migrations(dialect)[:1] for dialect in DIALECTS}
    book = a_book(place)
    with monkeypatch.context() as patched:
        patched.setattr(catalog, "migrations", lambda dialect: oldest[dialect])
        assert await book.migrate() == [name for _, name, _ in oldest[book.wired.database.dialect]]
    await book.close()
    with closing(place.shell()) as shell:
        for statement in LEFT:
            shell.run(statement)
        if shell.dialect == "postgres":
            shell.run(IDENTITIES)
    return place.look(ROWS)


async def test_what_was_there_is_there_and_the_new_tables_work(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    before = await of_the_first_release(place, monkeypatch)
    book = a_book(place)
    assert await book.migrate() == [name for _, name, _ in catalog.migrations(book.wired.database.dialect)][1:]
    assert place.look(ROWS) == before
    assert [n.state for n in await book.search()] == [State.CANCELLED, State.SCHEDULED]
    assert [control.reason for control in await book.controls() if control.paused_at] == ["moving"]
    again = await book.schedule("renewal", "waits", recipient="ann", after=HOUR)
    assert not again.created
    schedule = await book.schedules.set("s", kind="renewal", recipient="ann", recurrence="0 9 * * *", zone="UTC")
    deadline = await book.deadlines.set("renewal", "d", recipient="ann", on=date(2099, 6, 1), zone="Europe/Berlin")
    assert (schedule.result, deadline.result) == ("created", "created")
    wired = book.wired
    assert (await Auditor(wired.database, wired.store).report()).clean
    await book.close()


async def test_receipts_throttles_and_wishes_meet_what_was_there(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    await of_the_first_release(place, monkeypatch)
    with closing(place.shell()) as shell:
        for statement in SENT:
            shell.run(statement)
        if shell.dialect == "postgres":
            shell.run(f"{IDENTITIES} where key = 'sent'")
    book = a_book(place)
    await book.migrate()
    now = book.wired.clock.now()
    said = Receipt("resend", "e-1", "bounced", now, "p-1", address="ann@example.org", permanent=True)
    assert await book.receipts.record([said]) == Recorded(new=1, matched=1, suppressed=1)
    (throttled,) = [control for control in await book.controls() if control.scope == "channel:mail"]
    assert throttled.throttle(datetime(2030, 1, 8, tzinfo=UTC)) == "waiting"
    await book.people.set("ann", zone="Europe/Kyiv")
    await book.people.opt_out("ann", kind="renewal")
    known = await book.people.find("ann")
    assert known is not None
    assert (known.zone, known.opted_out) == ("Europe/Kyiv", ("kind:renewal",))
    assert (await Auditor(book.wired.database, book.wired.store).report()).clean
    await book.close()


async def test_a_worker_that_starts_on_it_takes_it_for_the_database_it_always_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    await of_the_first_release(place, monkeypatch)
    book = a_book(place)
    await book.migrate()
    await book.resume()
    async with book.worker():
        pass
    assert [control for control in await book.controls() if control.paused_at] == []
    assert place.look("select count(*) from @incarnation") == [(1,)]
    await book.close()
