"""Time passes when the test says so, and everything that is due on the way happens at its instant."""

import itertools
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from duebook import Due, Email, Skip, Uncertain, local
from duebook.testing import SimClock, SyncTimeline, Timeline
from tests.testing.conftest import a_book, mail

NEW_YORK = "America/New_York"


def wall(at: datetime) -> str:
    return f"{at.astimezone(ZoneInfo(NEW_YORK)):%m-%d %H:%M %Z}"


async def test_reminders_fire_one_after_the_other_over_a_year(timeline: Timeline) -> None:
    timeline.at("2027-01-04 09:00", NEW_YORK)
    for days in (30, 7, 1):
        due = datetime(2027, 12, 20, 9, tzinfo=ZoneInfo(NEW_YORK)) - timedelta(days=days)
        await timeline.book.schedule("renewal", f"sub-1/{days}", recipient="ann", at=due)
    sent = await timeline.advance(days=365)
    assert [(one.key, wall(one.at)) for one in sent] == [
        ("sub-1/30", "11-20 09:00 EST"),
        ("sub-1/7", "12-13 09:00 EST"),
        ("sub-1/1", "12-19 09:00 EST"),
    ]
    assert timeline.sent() == sent
    assert timeline.now == datetime(2028, 1, 4, 14, tzinfo=UTC)


async def test_the_hour_that_spring_leaves_out(timeline: Timeline) -> None:
    timeline.at("2027-03-14 01:59", NEW_YORK)
    for minute in ("02:00", "02:30", "03:00"):
        at = local(f"2027-03-14 {minute}", NEW_YORK)
        await timeline.book.schedule("renewal", minute, recipient="ann", at=at)
    assert [one.key for one in await timeline.advance(minutes=1)] == ["02:00", "03:00"]
    assert wall(timeline.now) == "03-14 03:00 EDT"
    timeline.expect("renewal", "02:30").scheduled(at=local("2027-03-14 03:30", NEW_YORK))
    (late,) = await timeline.advance(minutes=30)
    assert (late.key, wall(late.at)) == ("02:30", "03-14 03:30 EDT")


async def test_the_hour_that_autumn_repeats(timeline: Timeline) -> None:
    timeline.at("2027-11-07 00:59", NEW_YORK)
    first, second = (local("2027-11-07 01:30", NEW_YORK, disambiguation=rule) for rule in ("earlier", "later"))
    await timeline.book.schedule("renewal", "first", recipient="ann", at=first)
    await timeline.book.schedule("renewal", "second", recipient="ann", at=second)
    sent = await timeline.advance(hours=3)
    assert [(one.key, wall(one.at)) for one in sent] == [("first", "11-07 01:30 EDT"), ("second", "11-07 01:30 EST")]


async def test_a_wall_time_is_gone_to_by_its_name(timeline: Timeline) -> None:
    timeline.at("2027-11-07 00:59", NEW_YORK)
    await timeline.advance_to("2027-11-07 01:30", NEW_YORK, disambiguation="later")
    assert timeline.now == datetime(2027, 11, 7, 6, 30, tzinfo=UTC)


async def test_going_somewhere_without_working_is_an_outage(timeline: Timeline) -> None:
    book = timeline.book

    @book.kind("offer", channel="email", max_lateness=timedelta(hours=1))
    def offer(due: Due) -> Email:
        return mail(due)

    await book.schedule("offer", "spring", recipient="ann", after=timedelta(hours=1))
    await book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(hours=1))
    timeline.at(timeline.now + timedelta(days=1))
    assert timeline.sent() == []
    (late,) = await timeline.run_due()
    assert (late.key, late.at) == ("sub-1", timeline.now)
    timeline.expect("offer", "spring").skipped(reason="expired")


async def test_what_expires_is_swept_at_its_time(timeline: Timeline) -> None:
    book, until = timeline.book, timeline.now + timedelta(hours=2)
    await book.pause(channel="email", reason="the provider moves")
    await book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(hours=1), expires_at=until)
    await timeline.advance(days=1)
    expectation = timeline.expect("renewal", "sub-1").skipped(reason="expired").attempts(0)
    assert expectation.story.identity.closed_at == until


async def test_a_pause_holds_and_a_resume_lets_go(timeline: Timeline) -> None:
    book = timeline.book
    await book.pause(channel="email", reason="the provider moves")
    await book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(hours=1))
    await book.schedule("receipt", "order-1", recipient="ann", after=timedelta(hours=2))
    assert [one.key for one in await timeline.advance(days=30)] == ["order-1"]
    timeline.expect("renewal", "sub-1").scheduled()
    await book.resume(channel="email")
    assert [one.key for one in await timeline.run_due()] == ["sub-1"]


async def test_what_a_handler_schedules_follows_at_its_time(timeline: Timeline) -> None:
    book = timeline.book

    @book.kind("chain", channel="email")
    async def chain(due: Due) -> Email:
        link = due.data["link"]
        after = timedelta(0) if link % 2 else timedelta(days=1)
        if link < 4:
            await book.schedule("chain", f"{link + 1}", recipient="ann", after=after, data={"link": link + 1})
        return mail(due)

    start = timeline.now
    await book.schedule("chain", "1", recipient="ann", after=timedelta(0), data={"link": 1})
    sent = await timeline.advance(days=7)
    assert [(one.key, (one.at - start).days) for one in sent] == [("1", 0), ("2", 0), ("3", 1), ("4", 1)]


async def test_a_year_of_waiting_for_a_person_costs_few_steps(timeline: Timeline) -> None:
    timeline.channel("email").next(Uncertain("no reply"))
    await timeline.book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(0))
    steps: list[datetime] = []
    advance = timeline.clock.advance

    def counted(span: timedelta) -> datetime:
        steps.append(timeline.now)
        return advance(span)

    timeline.clock.advance = counted  # type: ignore[method-assign]
    await timeline.advance(days=365)
    timeline.expect("renewal", "sub-1").uncertain()
    assert len(steps) < 5


async def test_time_goes_back_only_before_anything_happened(timeline: Timeline) -> None:
    timeline.at("2027-03-14 01:59", NEW_YORK)
    assert wall(timeline.at("2026-06-01 09:00", NEW_YORK)) == "06-01 09:00 EDT"
    await timeline.book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(0))
    with pytest.raises(ValueError, match="does not pass backwards"):
        timeline.at("2026-05-31 09:00", NEW_YORK)
    with pytest.raises(ValueError, match="does not pass backwards"):
        await timeline.advance(days=-1)


def test_a_wall_time_needs_its_zone(timeline: Timeline) -> None:
    with pytest.raises(ValueError, match="in which zone"):
        timeline.at("2027-03-14 01:59")
    with pytest.raises(ValueError, match="has no time zone"):
        timeline.at(datetime.fromisoformat("2027-03-14"))
    with pytest.raises(ValueError, match="has no time zone"):
        Timeline(start=datetime.fromisoformat("2027-03-14"))


async def test_what_never_comes_to_an_end_is_said(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duebook.testing.crew.ROUNDS", 300)
    book, numbers = timeline.book, itertools.count()

    @book.kind("echo", channel="email")
    async def echo(due: Due) -> Skip:
        await book.schedule("echo", f"{next(numbers)}", recipient="ann", after=timedelta(0))
        return Skip("again")

    await book.schedule("echo", "first", recipient="ann", after=timedelta(0))
    with pytest.raises(RuntimeError, match="does not come to an end"):
        await timeline.run_due()


async def test_messages_that_go_to_and_fro_are_noticed(timeline: Timeline, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duebook.testing.crew.PASSES", 20)
    numbers = itertools.count()

    @timeline.book.kind("ball", channel="email")
    def ball(due: Due) -> Email:
        return replace(mail(due), channel=("keyed", "email")[next(numbers) % 2])

    await timeline.book.schedule("ball", "a", recipient="ann", after=timedelta(0))
    with pytest.raises(RuntimeError, match="to and fro"):
        await timeline.run_due()


async def test_a_thousand_notifications_take_moments() -> None:
    with Timeline(a_book()) as timeline:
        for number in range(1_000):
            after = timedelta(minutes=number % 200)
            await timeline.book.schedule("renewal", f"{number}", recipient="ann", after=after)
        began = time.perf_counter()
        assert len(await timeline.advance(days=1)) == 1_000
        assert time.perf_counter() - began < 5.0


def test_a_clock_that_is_moved_by_hand() -> None:
    clock = SimClock(datetime(2027, 3, 14, 1, 59, tzinfo=ZoneInfo(NEW_YORK)))
    assert clock.advance(timedelta(minutes=1)) == clock.now() == datetime(2027, 3, 14, 7, tzinfo=UTC)
    assert clock.monotonic() == 60.0
    clock.jump(datetime(2020, 1, 1, tzinfo=UTC))
    assert (clock.now(), clock.monotonic()) == (datetime(2020, 1, 1, tzinfo=UTC), 60.0)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(timedelta(seconds=-1))


def test_it_works_without_an_event_loop(sync_timeline: SyncTimeline) -> None:
    book = sync_timeline.book
    sync_timeline.at("2027-03-14 01:59", NEW_YORK)
    book.sync.schedule("renewal", "plain", recipient="ann", at=local("2027-03-14 02:30", NEW_YORK))
    book.sync.schedule("receipt", "awaited", recipient="bob", at=local("2027-03-14 03:45", NEW_YORK))
    assert [wall(one.at) for one in sync_timeline.advance(days=1)] == ["03-14 03:30 EDT", "03-14 03:45 EDT"]
    sync_timeline.expect("receipt", "awaited").accepted()
    assert sync_timeline.run_due() == []
    assert sync_timeline.advance_to("2027-03-16 09:00", NEW_YORK) == []
