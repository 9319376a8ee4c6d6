"""Periods of digests: where they end, how they are named, and which are closed after an outage."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import deciding, digests
from duebook.domain.decision import DigestItem, Skip
from duebook.domain.digests import Cursor, Selection, Weighed
from duebook.domain.policy import DigestPolicy, Kind
from duebook.domain.text import KEY_CHARACTERS
from duebook.errors import InvalidInput
from tests.domain.builders import DAY, HOUR, MINUTE, NOW, SECOND, make

MOMENT = timedelta(microseconds=1)
HOURLY = DigestPolicy()
LOS_ANGELES = "America/Los_Angeles"
MORNING = DigestPolicy(daily_at=time(9), zone=LOS_ANGELES)
KIND = Kind("news", "mail", digest=HOURLY)

INSTANTS = st.datetimes(datetime(2025, 1, 1), datetime(2031, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
TIMES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
ZONES = st.sampled_from([LOS_ANGELES, "Europe/Berlin", "UTC", "Australia/Lord_Howe", "Asia/Kathmandu"])


def cursor(next_close_at: datetime | None = NOW, **changes: Any) -> Cursor:
    stated: dict[str, Any] = {
        "kind": "news", "recipient": "ann", "tenant": None, "namespace": "test", "zone": "UTC",
        "open_from": NOW - HOUR, "closed_to": None, "next_close_at": next_close_at,
    }  # fmt: skip
    return Cursor(**{**stated, **changes})


def labels(policy: DigestPolicy, one: Cursor, now: datetime) -> list[str]:
    return [digests.label(policy, cutoff) for cutoff in digests.come(one, policy, now)]


# Where a period ends


def test_what_is_ready_at_the_end_belongs_to_the_next_one() -> None:
    assert digests.cutoff_after(HOURLY, "UTC", NOW - MOMENT) == NOW
    assert digests.cutoff_after(HOURLY, "UTC", NOW) == NOW + HOUR


@given(at=INSTANTS, daily_at=TIMES, zone=ZONES)
def test_a_day_ends_within_a_day_and_its_hour_after_and_at_its_time_of_day(
    at: datetime, daily_at: time, zone: str
) -> None:
    policy = DigestPolicy(daily_at=daily_at, zone=zone)
    cutoff = digests.cutoff_after(policy, zone, at)
    assert timedelta(0) < cutoff - at <= DAY + HOUR
    local = cutoff.astimezone(ZoneInfo(zone)).time().replace(tzinfo=None)
    # On the night on which the clocks go forward the time of day may not come.
    assert local == daily_at or local.hour in (daily_at.hour, (daily_at.hour + 1) % 24)


@given(at=INSTANTS, zone=ZONES, hours=st.integers(1, 100))
def test_no_two_periods_share_a_name(at: datetime, zone: str, hours: int) -> None:
    for policy in (HOURLY, DigestPolicy(daily_at=time(2, 30), zone=zone)):
        one = cursor(at, zone="UTC" if policy is HOURLY else zone)
        found = labels(policy, one, at + hours * HOUR)
        assert len(found) == len(set(found))


def test_an_hour_that_comes_twice_has_two_names() -> None:
    start = datetime(2026, 11, 1, 8, tzinfo=UTC)
    assert labels(HOURLY, cursor(start), start + HOUR) == ["1793516400", "1793520000"]


@pytest.mark.parametrize(
    ("start", "odd"), [(datetime(2026, 3, 7, 12, tzinfo=UTC), 23), (datetime(2026, 10, 31, 12, tzinfo=UTC), 25)]
)
def test_a_day_has_as_many_hours_as_it_has(start: datetime, odd: int) -> None:
    found = digests.come(cursor(start - DAY, zone=LOS_ANGELES), MORNING, start + 4 * DAY)
    cutoffs = [one.at for one in found]
    hours = [(late - early) // HOUR for early, late in pairwise(cutoffs)]
    assert sorted(hours, key=lambda span: span == odd) == [24, 24, 24, odd]
    assert [digests.label(MORNING, one) for one in found] == [str(at.date()) for at in cutoffs]


def test_a_key_is_never_too_long() -> None:
    assert digests.key("123", "ann") == "123/ann"
    long = [digests.key("123", "x" * 319 + last) for last in "ab"]
    assert max(map(len, long)) <= KEY_CHARACTERS
    assert len(set(long)) == 2


# What is closed after an outage


@pytest.mark.parametrize(
    ("catch_up", "periods", "first", "fresh_from"),
    [("combine", 4, "0", None), ("latest", 1, "3", NOW + 2 * HOUR)],
)
def test_the_latest_period_stands_for_as_many_as_the_policy_says(
    catch_up: Any, periods: int, first: str, fresh_from: datetime | None
) -> None:
    policy = DigestPolicy(catch_up=catch_up)
    now = NOW + 3 * HOUR + 30 * MINUTE
    cutoffs = digests.come(cursor(), policy, now)
    found = digests.closing(cursor(), policy, cutoffs, now)
    assert found is not None
    assert (found.cutoff.at, found.periods, found.fresh_from) == (NOW + 3 * HOUR, periods, fresh_from)
    assert found.previous_at == NOW + 2 * HOUR
    assert int(found.first_label) == int((NOW - HOUR).timestamp()) + int(first) * 3_600


@pytest.mark.parametrize(("late", "closed"), [(SECOND, True), (MINUTE, True), (MINUTE + SECOND, False)])
def test_skip_closes_what_is_not_a_minute_late(late: timedelta, closed: bool) -> None:
    policy = DigestPolicy(catch_up="skip")
    cutoffs = digests.come(cursor(), policy, NOW + late)
    assert (digests.closing(cursor(), policy, cutoffs, NOW + late) is not None) is closed


@given(
    hours=st.integers(0, 60),
    minutes=st.integers(0, 59),
    catch_up=st.sampled_from(["combine", "latest", "skip"]),
    most=st.integers(1, 30),
    waiting=st.booleans(),
)
def test_every_period_that_has_come_is_closed_or_on_record_and_then_there_is_nothing(
    hours: int, minutes: int, catch_up: Any, most: int, waiting: bool
) -> None:
    policy = DigestPolicy(catch_up=catch_up, most=most)
    now = NOW + hours * HOUR + minutes * MINUTE
    cutoffs = digests.come(cursor(), policy, now)
    found = digests.closing(cursor(), policy, cutoffs, now)
    missed = digests.passed_over(cursor(), policy, cutoffs, found, now)
    assert len(cutoffs) == hours + 1
    assert sum(one.periods for one in missed) + (found is not None) == len(cutoffs)
    assert all((one.outcome == "combined") is (one.combined_into is not None) for one in missed)
    left = Weighed(1, 0, int(waiting), NOW - HOUR if waiting else None, None)
    moved = digests.moved_on(cursor(), policy, cutoffs, left if found is not None else None, now)
    assert moved.closed_to == cutoffs[-1].at
    assert moved.next_close_at is None or moved.next_close_at > now
    assert (moved.next_close_at is None) is (found is not None and not waiting)


def test_a_period_that_has_a_digest_already_is_on_record_as_such() -> None:
    cutoffs = digests.come(cursor(), HOURLY, NOW)
    (missed,) = digests.passed_over(cursor(), HOURLY, cutoffs, None, NOW)
    assert (missed.outcome, missed.reason) == ("skipped", digests.HAS_ONE)


@pytest.mark.parametrize(
    ("overflow", "left_from", "later_from", "open_from", "next_close_at"),
    [
        ("carry", None, None, None, None),
        ("carry", NOW - HOUR, None, NOW - HOUR, NOW + HOUR),
        ("drop", NOW - HOUR, None, None, None),
        ("drop", NOW - HOUR, NOW + 5 * HOUR, NOW + 5 * HOUR, NOW + 6 * HOUR),
        ("carry", NOW - HOUR, NOW + 5 * HOUR, NOW - HOUR, NOW + HOUR),
    ],
)
def test_a_cursor_goes_on_to_what_waits_next(
    overflow: Any, left_from: Any, later_from: Any, open_from: Any, next_close_at: Any
) -> None:
    policy = DigestPolicy(overflow=overflow)
    left = Weighed(2, 0, int(left_from is not None), left_from, later_from)
    moved = digests.moved_on(cursor(), policy, digests.come(cursor(), policy, NOW), left, NOW)
    assert (moved.open_from, moved.next_close_at) == (open_from, next_close_at)


def test_what_was_closed_before_is_not_closed_again() -> None:
    assert digests.come(cursor(NOW - HOUR, closed_to=NOW), HOURLY, NOW) == ()


# What it tells


def selection(*items: DigestItem, total: int | None = None) -> Selection:
    read = sum(item.read for item in items)
    return Selection("news", "ann", "1", "1", 1, NOW, len(items) if total is None else total, 0, items, read)


def item(name: str, *, read: bool = False) -> DigestItem:
    return DigestItem(name, NOW, 0.0, {}, read)


def test_the_handler_is_told_what_was_frozen_and_how_many_more_there_were() -> None:
    due = deciding.due(make(kind="news"), selection(item("a"), item("b"), total=37), NOW)
    assert due.digest is not None
    assert ([one.item for one in due.digest.items], due.digest.total, due.digest.more) == (["a", "b"], 37, 35)


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([item("a", read=True), item("b", read=True)], "everything in it has been read"),
        ([], "what it held is gone"),
        ([item("a", read=True), item("b")], None),
        ([item("a")], None),
    ],
)
def test_what_has_nothing_to_tell_is_skipped(items: list[DigestItem], says: str | None) -> None:
    found = deciding.foregone(make(kind="news"), selection(*items), NOW)
    assert (found is None) if says is None else (isinstance(found, Skip) and says in found.reason)


def test_a_digest_is_due_at_its_end_and_expires_from_there() -> None:
    kind = replace(KIND, max_lateness=2 * HOUR)
    late = NOW + 30 * MINUTE
    found = digests.closing(cursor(), HOURLY, digests.come(cursor(), HOURLY, late), late)
    assert found is not None
    made = digests.draft(found, kind, late)
    assert (made.promise.due_at, made.wake_at, made.expires_at) == (NOW, late, NOW + 2 * HOUR)
    assert digests.is_digest(make(kind="news", group=made.group))
    assert not digests.is_digest(make(kind="news", group="digest:jobs:ann"))


# What a policy may say


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"zone": "Europe/Berlin"}, "digest.zone"),
        ({"daily_at": time(9), "zone": None, "unread_of": "chat"}, "digest.zone"),
        ({"daily_at": time(9, 0, 1)}, "digest.daily_at"),
        ({"limit": 0}, "digest.limit"),
        ({"most": 0}, "digest.most"),
        ({"expire_after": timedelta(0)}, "digest.expire_after"),
        ({"catch_up": "all"}, "digest.catch_up"),
        ({"overflow": "keep"}, "digest.overflow"),
        ({"unsent": "drop"}, "digest.unsent"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused_by_field(bad: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        DigestPolicy(**bad)
    assert refused.value.field == field
