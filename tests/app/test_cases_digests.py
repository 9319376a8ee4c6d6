"""Reports of what went wrong with summaries elsewhere, replayed on digests. The ids are those of our list."""

from datetime import datetime, time, timedelta
from typing import Any

import pytest

from duebook import DigestPolicy
from duebook.testing import Crash, accept_then
from tests.app.desk import DAY, HOUR, MINUTE, START, Desk
from tests.app.gathered import add, declare, items, told
from tests.app.places import Place
from tests.app.times import at, missed, subjects

SANTIAGO = "America/Santiago"
EVENING = DigestPolicy(daily_at=time(22), zone=SANTIAGO)


def utc(text: str) -> datetime:
    return datetime.fromisoformat(f"{text}+00:00")


async def test_h12_two_that_prepare_the_same_hours_make_each_digest_once(bare: Desk) -> None:
    declare(bare.book)
    bare.channel()
    for number in range(6):
        ready_at = START + number * HOUR
        await bare.book.digests.add("news", "ann", f"i{number}", ready_at=ready_at)
    for _ in range(7):
        await bare.step("digester")
        await bare.step("digester")
        bare.clock.advance(HOUR)
    assert len(await bare.book.search(kind="news")) == 6
    assert [one.selected for one in await bare.book.digests.search()] == [1] * 6


async def test_h27_what_is_added_six_times_over_is_six_items_that_say_so(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy())
    answers = [await timeline.book.digests.add("news", "ann", name) for name in "abcdef"]
    assert all(answer.created for answer in answers)
    assert {answer.close_at for answer in answers} == {START + HOUR}
    assert items(await timeline.advance(hours=2)) == [list("abcdef")]


async def test_h28_the_same_item_for_two_recipients_is_two(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy())
    for recipient in ("ann", "bob"):
        assert (await timeline.book.digests.add("news", recipient, "same")).created
    assert len(await timeline.advance(hours=2)) == 2


async def test_h29_a_digest_whose_worker_died_blocks_no_later_one(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy())
    await add(timeline, "a")
    timeline.channel("mail").next(accept_then(Crash()))
    await timeline.advance(hours=1, minutes=5)
    await add(timeline, "b")
    assert items(await timeline.advance(hours=2)) == [["b"]]


async def test_h30_days_around_the_new_year_have_names_of_their_own(of_policy: Any) -> None:
    start = utc("2025-12-28T12:00")
    timeline = of_policy(DigestPolicy(daily_at=time(9)), start)
    for number in range(8):
        await add(timeline, f"i{number}", ready_at=start + number * DAY)
    labels = subjects(await timeline.advance(days=9))
    assert labels == [f"2025-12-{day}" for day in (29, 30, 31)] + [f"2026-01-0{day}" for day in range(1, 6)]


async def test_h31_a_slower_one_comes_to_a_period_that_is_over_and_makes_nothing(of_policy: Any, place: Place) -> None:
    timeline = of_policy(DigestPolicy())
    await add(timeline, "a")
    assert len(await timeline.advance(hours=1)) == 1
    await add(timeline, "b")
    place.ask("update @digest_cursors set closed_to = null, next_close_at = open_from")
    assert await timeline.run_due() == []
    assert items(await timeline.advance(hours=1)) == [["b"]]


@pytest.mark.parametrize(("catch_up", "number"), [("skip", 0), ("latest", 1), ("combine", 1)])
async def test_h33_an_hour_off_is_made_up_for_by_policy_and_never_by_twelve_mails(
    of_policy: Any, catch_up: Any, number: int
) -> None:
    timeline = of_policy(DigestPolicy(catch_up=catch_up))
    for hour in range(12):
        await add(timeline, f"i{hour:02}", ready_at=START + hour * HOUR)
    timeline.at(START + 12 * HOUR + 30 * MINUTE)
    assert len(await timeline.run_due()) == number
    await add(timeline, "new")
    assert at(await timeline.advance(hours=1)) == ["01-08 01:00"]


async def test_h34_five_hundred_missed_hours_stop_nothing(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy(expire_after=None))
    for hour in range(49, 500, 50):
        await add(timeline, f"i{hour:03}", ready_at=START + hour * HOUR)
    timeline.at(START + 500 * HOUR + 30 * MINUTE)
    (sent,) = await timeline.run_due()
    assert told(sent)["periods"] == 24
    # Fifty hours had nothing in them, and nothing was missed.
    assert sum(one.periods for one in await missed(timeline)) == 450
    await add(timeline, "new")
    assert items(await timeline.advance(hours=1)) == [["new"]]


async def test_h35_a_restart_after_a_digest_sends_no_second_one(of_policy: Any) -> None:
    timeline = of_policy(EVENING, utc("2026-03-10T12:00"))
    await add(timeline, "a")
    assert at(await timeline.advance_to(utc("2026-03-11T01:00"))) == ["03-11 01:00"]
    await add(timeline, "b", ready_at=utc("2026-03-11T00:00"))
    timeline.at(utc("2026-03-11T01:30"))
    assert await timeline.run_due() == []
    assert at(await timeline.advance_to(utc("2026-03-12T23:00"))) == ["03-12 01:00"]


async def test_h36_a_deploy_over_the_hour_loses_nothing(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy(daily_at=time(15)))
    await add(timeline, "a")
    timeline.at(START.replace(hour=15, minute=3))
    (sent,) = await timeline.run_due()
    n = await timeline.book.find("news", sent.key)
    assert n is not None
    assert (n.due_at, sent.at) == (START.replace(hour=15), START.replace(hour=15, minute=3))


@pytest.mark.parametrize("late", [timedelta(milliseconds=1_800), timedelta(seconds=59)])
async def test_h37_a_moment_late_is_on_time(of_policy: Any, late: timedelta) -> None:
    timeline = of_policy(DigestPolicy(catch_up="skip"))
    await add(timeline, "a")
    timeline.at(START + HOUR + late)
    assert items(await timeline.run_due()) == [["a"]]
    assert await missed(timeline) == []
