"""Newer zone rules: what was promised for nine o'clock stays at nine o'clock."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from duebook import Duebook, Retry, State, local
from duebook.domain import zones
from duebook.features import retiming
from tests.app.desk import DAY, HOUR, START, Desk
from tests.app.times import BERLIN, declare

NINE = local("2030-06-03 09:00", BERLIN)
AT_NINE = datetime.fromisoformat("2030-06-03T07:00:00+00:00")
EARLIER = "'2030-06-03T06:00:00.000000Z'"


@pytest.fixture
def times(bare: Desk) -> Desk:
    bare.channel()
    declare(bare.book)
    bare.kind()
    return bare


async def promise(desk: Desk, key: str, **changes: Any) -> None:
    """One for nine o'clock, as older rules would have put it: an hour too early."""
    await desk.schedule(key, **{"at": NINE, **changes})
    desk.place.ask(
        f"update @notifications set tzdata = '1999a', due_at = {EARLIER}, wake_at = {EARLIER} where key = '{key}'"
    )


def rules(desk: Desk) -> set[str | None]:
    return {tzdata for (tzdata,) in desk.place.ask("select tzdata from @notifications")}


async def test_a_local_promise_moves_with_its_wall_time_and_says_so(times: Desk) -> None:
    await promise(times, "a", expires_at=AT_NINE + HOUR)
    done = await times.book.retime()
    (one,) = done.notifications
    assert (one.key, one.was, one.due_at, done.looked_at) == ("a", AT_NINE - HOUR, AT_NINE, 1)
    n = await times.read("a")
    assert (n.due_at, n.wake_at, n.expires_at, n.wall, n.state) == (
        AT_NINE, AT_NINE, AT_NINE + 2 * HOUR, "2030-06-03T09:00:00", State.SCHEDULED,
    )  # fmt: skip
    (move,) = (await times.story("a")).history
    assert move.reason == f"zone rules {zones.version()}: 2030-06-03T09:00:00 in Europe/Berlin is 2030-06-03 07:00 UTC"
    assert (await times.book.retime()).looked_at == 0


async def test_a_dry_run_tells_and_stores_nothing(times: Desk) -> None:
    await promise(times, "a")
    await times.schedule("same", at=NINE)
    times.place.ask("update @notifications set tzdata = '1999a'")
    before = await times.read("a")
    done = await times.book.retime(dry_run=True)
    assert [one.key for one in done.notifications] == ["a"]
    assert await times.read("a") == before
    assert rules(times) == {"1999a"}


async def test_what_stays_where_it_was_is_confirmed_without_a_move(times: Desk) -> None:
    await times.schedule("a", at=NINE)
    times.place.ask("update @notifications set tzdata = '1999a'")
    before = await times.read("a")
    done = await times.book.retime()
    assert (done.notifications, done.looked_at) == ([], 1)
    assert (await times.read("a")).version == before.version
    assert rules(times) == {zones.version()}


async def test_instants_and_what_is_due_or_has_been_tried_are_left_alone(times: Desk) -> None:
    times.outcomes["tried"] = Retry("451", timedelta(days=200))
    async with times.worker():
        await times.schedule("tried", at=local("2030-01-07 13:00", BERLIN))
        await times.until_put_off("tried", 1)
    await times.schedule("instant", at=START + DAY)
    await times.schedule("overdue", at=local("2030-01-07 09:00", BERLIN))
    times.place.ask("update @notifications set tzdata = '1999a' where zone is not null")
    done = await times.book.retime()
    assert (done.looked_at, done.notifications) == (0, [])


async def test_a_schedule_is_computed_anew_and_repeats_nothing(times: Desk) -> None:
    await times.book.schedules.set("a", kind="digest", recipient="ann", recurrence="0 9 3 6 *", zone=BERLIN)
    times.place.ask(f"update @schedules set next_at = {EARLIER}")
    assert (await times.book.retime(dry_run=True)).schedules == [("a", AT_NINE - HOUR, AT_NINE)]
    assert (await times.book.retime()).schedules == [("a", AT_NINE - HOUR, AT_NINE)]
    found = await times.book.schedules.find("a")
    assert found is not None
    assert found.next_at == AT_NINE
    times.clock.advance(AT_NINE - START)
    await times.step("scheduler")
    assert (await times.book.retime()).schedules == []
    await times.step("scheduler")
    assert [n.key for n in await times.book.search()] == ["a/2030-06-03T09:00"]


async def test_a_paused_schedule_stays_paused(times: Desk) -> None:
    await times.book.schedules.set("a", kind="digest", recipient="ann", recurrence="0 9 3 6 *", zone=BERLIN)
    await times.book.schedules.pause("a", reason="on holiday")
    assert (await times.book.retime()).schedules == []
    found = await times.book.schedules.find("a")
    assert found is not None
    assert found.next_at is None


async def test_it_goes_through_batch_after_batch_and_tells_how_far(
    times: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retiming, "BATCH", 3)
    for number in range(7):
        await promise(times, f"n{number}")
    for number in range(4):
        await times.book.schedules.set(
            f"s{number}", kind="digest", recipient="ann", recurrence="0 9 3 6 *", zone=BERLIN
        )
    done = await times.book.retime()
    assert (len(done.notifications), done.looked_at) == (7, 11)
    assert {n.due_at for n in await times.book.search()} == {AT_NINE}


async def test_nothing_at_all_is_no_mistake(book: Duebook) -> None:
    done = await book.retime()
    assert (done.notifications, done.schedules, done.looked_at) == ([], [], 0)
