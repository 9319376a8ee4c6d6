"""Reports of what went wrong with recurring times elsewhere, replayed. The ids are those of our list of cases."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duebook import Every, Retention, State
from duebook.domain.policy import Kind
from duebook.stores.rows import instant_text
from duebook.testing import Timeline
from tests.app.desk import DAY, HOUR, MINUTE, Desk
from tests.app.places import Place
from tests.app.times import BERLIN, at, declare, missed

LOS_ANGELES, NEW_YORK, SANTIAGO = "America/Los_Angeles", "America/New_York", "America/Santiago"
SECOND = timedelta(seconds=1)

# id, cron, zone, from (inclusive), to (exclusive), and every instant at which something is sent: all in UTC
SENT: list[tuple[str, str, str, str, str, list[str]]] = [
    ("H01 noon on Mondays after the clocks went back", "0 12 * * 1", "Europe/Amsterdam",
     "2013-10-21 10:00", "2013-10-29 00:00", ["10-21 10:00", "10-28 11:00"]),
    ("H02 every hour through the one that comes twice", "0 * * * *", LOS_ANGELES,
     "2026-11-01 07:00", "2026-11-01 11:01", [f"11-01 {hour:02}:00" for hour in range(7, 12)]),
    ("H03 a Sunday of 23 hours", "0 12 * * 0", BERLIN,
     "2022-03-24 11:00", "2022-04-04 00:00", ["03-27 10:00", "04-03 10:00"]),
    ("H04 two o'clock comes twice and runs once", "0 2 * * *", BERLIN,
     "2023-10-28 00:00", "2023-10-31 00:00", ["10-28 00:00", "10-29 00:00", "10-30 01:00"]),
    ("H05 midnight does not exist", "0 0 * * *", SANTIAGO,
     "2023-09-02 00:00", "2023-09-05 00:00", ["09-02 04:00", "09-03 04:00", "09-04 03:00"]),
    ("H06 half past two does not exist", "30 2 * * *", NEW_YORK,
     "2026-03-07 00:00", "2026-03-11 00:00", ["03-07 07:30", "03-08 07:30", "03-09 06:30", "03-10 06:30"]),
    ("H08 the hours of UTC are nobody's summer time", "0 * * * *", "UTC",
     "2025-10-05 02:00", "2025-10-05 05:00", ["10-05 02:00", "10-05 03:00", "10-05 04:00"]),
    ("H10 the same wall time every week", "0 9 * * 5", "Europe/London",
     "2020-07-10 00:00", "2020-08-01 00:00", ["07-10 08:00", "07-17 08:00", "07-24 08:00", "07-31 08:00"]),
]  # fmt: skip


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


async def schedule(timeline: Timeline, cron: str, zone: str = "UTC", **options: Any) -> None:
    await timeline.book.schedules.set("s", kind="digest", recipient="ann", recurrence=cron, zone=zone, **options)


@pytest.mark.parametrize(
    ("cron", "zone", "start", "end", "sent"), [case[1:] for case in SENT], ids=[c[0] for c in SENT]
)
async def test_each_period_is_sent_once_at_its_instant(
    timeline: Timeline, cron: str, zone: str, start: str, end: str, sent: list[str]
) -> None:
    timeline.at(utc(start))
    await schedule(timeline, cron, zone)
    assert at(await timeline.advance_to(utc(end) - SECOND)) == sent
    assert await missed(timeline) == []


@pytest.mark.parametrize(
    ("start", "end", "number"),
    [("2021-11-07 08:00", "2021-11-07 10:00", 120), ("2021-11-07 07:00", "2021-11-08 08:00", 1_500)],
    ids=["H07 both passes of one hour", "H07 a day of 25 hours"],
)
async def test_every_minute_has_its_own_period(
    timeline: Timeline, place: Place, start: str, end: str, number: int
) -> None:
    await timeline.book.pause(kind="digest", reason="only counted")
    timeline.clock.jump(utc(start))
    await schedule(timeline, "* * * * *", LOS_ANGELES, catch_up="all", most=2_000)
    timeline.at(utc(end) - SECOND)
    await timeline.run_due()
    assert place.count() == number


async def test_h09_a_wall_time_outlives_the_zone_rules_it_was_promised_under(timeline: Timeline, place: Place) -> None:
    timeline.at(utc("2022-09-01 12:00"))
    await schedule(timeline, "0 9 1 6 *", "America/Mexico_City")
    place.ask("update @schedules set next_at = '2023-06-01T14:00:00.000000Z'")
    timeline.at(utc("2022-11-01 12:00"))
    await timeline.book.retime()
    assert at(await timeline.advance_to(utc("2023-06-02 00:00"))) == ["06-01 15:00"]


async def test_h12_two_who_both_think_they_lead_make_each_period_once(timeline: Timeline, place: Place) -> None:
    timeline.at(utc("2026-12-01 00:00"))
    await timeline.book.pause(kind="digest", reason="only counted")
    await schedule(timeline, "*/30 * * * *", catch_up="all", most=2_000)
    for _ in range(38):
        timeline.at(timeline.now + 12 * HOUR - SECOND)
        await timeline.run_due()
        await timeline.run_due()
        timeline.at(timeline.now + SECOND)
    assert place.count() == 912


async def test_h14_starts_that_crash_and_declare_it_again_keep_one_schedule(timeline: Timeline) -> None:
    """Twenty starts in three periods; a period is a minute here, the shortest there is."""
    timeline.at(utc("2026-12-01 00:00"))
    recurrence: Any = Every(1, "minute", datetime.fromisoformat("2026-12-01"))
    sent = []
    for _ in range(20):
        await schedule(timeline, recurrence)
        sent += await timeline.advance(seconds=9)
        assert len(await timeline.book.search(kind="digest", state="scheduled")) <= 1
    sent += await timeline.advance(minutes=3)
    assert at(sent) == [f"12-01 00:0{minute}" for minute in range(1, 7)]
    assert len(await timeline.book.schedules.search()) == 1


async def test_h18_a_weekly_one_survives_restarts_every_three_days(timeline: Timeline) -> None:
    timeline.at(utc("2026-12-01 00:00"))
    recurrence: Any = Every(7, "day", datetime.fromisoformat("2026-12-01"))
    sent = []
    for _ in range(10):
        await schedule(timeline, recurrence)
        sent += await timeline.advance(days=3)
    assert at(sent) == ["12-08 00:00", "12-15 00:00", "12-22 00:00", "12-29 00:00"]


async def test_h29_a_worker_that_died_holding_one_period_blocks_no_other(desk: Desk) -> None:
    declare(desk.book)
    await desk.book.schedules.set("week", kind="digest", recipient="ann", recurrence="0 12 * * MON", zone="UTC")
    await desk.step("scheduler")
    (held,) = await desk.book.search()
    now = desk.clock.now()
    plan = desk.book.wired.store.claim("mail", ["digest"], (1, 1, 1), 1, now - DAY, now, now + 5 * MINUTE, "dead")
    await desk.book.wired.database.ask(plan)
    desk.clock.advance(7 * DAY)
    await desk.step("scheduler")
    await desk.step("rescuer")
    assert [n.state for n in await desk.book.search()] == [State.SCHEDULED, State.SCHEDULED]
    desk.clock.advance(HOUR)
    async with desk.worker():
        await desk.until(State.ACCEPTED, held.key, "week/2030-01-14T12:00", kind="digest")
    assert [desk.copies(held.key), desk.copies("week/2030-01-14T12:00")] == [1, 1]


async def test_h30_a_period_is_named_by_its_day_and_never_by_a_week_of_a_year(timeline: Timeline) -> None:
    timeline.at(utc("2025-12-28 12:00"))
    await schedule(timeline, "0 9 * * 1")
    keys = [one.key for one in await timeline.advance_to(utc("2027-01-05 00:00"))]
    assert (keys[0], keys[-2:]) == ("s/2025-12-29T09:00", ["s/2026-12-28T09:00", "s/2027-01-04T09:00"])
    assert len(set(keys)) == 54


async def test_h31_a_period_is_remembered_when_its_notification_is_gone(bare: Desk) -> None:
    bare.channel()
    bare.kind("digest", retention=Retention(timedelta(0), timedelta(0), timedelta(0)))
    await bare.book.schedules.set("night", kind="digest", recipient="ann", recurrence="0 12 * * *", zone="UTC")
    before = await bare.book.schedules.find("night")
    assert before is not None
    stated = f"'{instant_text(before.cursor_at)}'"
    await bare.step("scheduler")
    async with bare.worker():
        await bare.until(State.ACCEPTED, "night/2030-01-07T12:00", kind="digest")
    bare.clock.advance(SECOND)
    kind: Kind = bare.book.registry.kinds["digest"]
    for _ in range(3):
        await bare.book.wired.database.run(bare.book.wired.store.prune(kind, bare.clock.now(), 10))
    assert (bare.place.count(), bare.place.count("identities")) == (0, 1)
    # A slower one with an old view of the schedule comes to the same period.
    bare.place.ask(f"update @schedules set next_at = {stated}, cursor_at = {stated}")
    await bare.step("scheduler")
    assert bare.place.count() == 0
    assert len(bare.sent) == 1


@pytest.mark.parametrize(("catch_up", "number"), [("skip", 0), ("latest", 1), ("combine", 1), ("all", 12)])
async def test_h33_twelve_missed_ones_by_policy(timeline: Timeline, catch_up: Any, number: int) -> None:
    timeline.at(utc("2026-12-01 10:01"))
    await schedule(timeline, "*/5 * * * *", catch_up=catch_up)
    timeline.at(utc("2026-12-01 11:02"))
    sent = await timeline.run_due()
    assert len(sent) == number
    assert len({one.key for one in sent}) == number
    assert at(await timeline.advance(minutes=3)) == ["12-01 11:05"]


@pytest.mark.parametrize(("catch_up", "number"), [("skip", 0), ("latest", 1), ("all", 100)])
async def test_h34_more_than_a_hundred_missed_ones_stop_nothing(timeline: Timeline, catch_up: Any, number: int) -> None:
    timeline.at(utc("2026-12-01 08:29:30"))
    await schedule(timeline, "* * * * *", catch_up=catch_up, max_lateness=3 * HOUR)
    timeline.at(utc("2026-12-01 10:20:30"))
    sent = await timeline.run_due()
    # The last of them was half a minute ago, which is no outage.
    assert len(sent) == max(number, 1)
    assert sum(one.periods for one in await missed(timeline)) == 111 - len(sent)
    assert at(await timeline.advance(minutes=1)) == ["12-01 10:21"]


async def test_h35_a_restart_after_a_digest_sends_no_second_one(timeline: Timeline) -> None:
    timeline.at(utc("2026-03-10 12:00"))
    await schedule(timeline, "0 22 * * *", SANTIAGO)
    assert at(await timeline.advance_to(utc("2026-03-11 01:00"))) == ["03-11 01:00"]
    timeline.at(utc("2026-03-11 01:30"))
    await schedule(timeline, "0 22 * * *", SANTIAGO)
    assert await timeline.run_due() == []
    assert at(await timeline.advance_to(utc("2026-03-12 23:00"))) == ["03-12 01:00"]


@pytest.mark.parametrize("catch_up", ["latest", "all", "combine"])
async def test_h36_a_deploy_over_the_hour_loses_nothing(timeline: Timeline, catch_up: Any) -> None:
    timeline.at(utc("2026-12-01 14:57"))
    await schedule(timeline, "0 15 * * *", catch_up=catch_up)
    timeline.at(utc("2026-12-01 15:03"))
    (sent,) = await timeline.run_due()
    n = await timeline.book.find("digest", sent.key)
    assert n is not None
    assert (n.due_at, sent.at) == (utc("2026-12-01 15:00"), utc("2026-12-01 15:03"))


async def test_h38_a_time_of_day_that_has_passed_today_waits_for_tomorrow(timeline: Timeline) -> None:
    timeline.at(utc("2023-09-12 11:00"))
    await schedule(timeline, "20 11 * * *")
    assert at(await timeline.advance(minutes=30)) == ["09-12 11:20"]
    await schedule(timeline, "25 11 * * *")
    assert at(await timeline.advance_to(utc("2023-09-14 00:00"))) == ["09-13 11:25"]
