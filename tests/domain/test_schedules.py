"""A schedule sees to each period once: as notifications, or on record as missed."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import schedules
from duebook.domain.missed import Missed
from duebook.domain.policy import Kind
from duebook.domain.recurrence import Every
from duebook.domain.schedules import Advance, Schedule, advance, advanced, draft, following, pass_over
from tests.domain.timing import BERLIN, DAY, HOUR, KIND, MIDNIGHT, scheduled, wall

SIX_HOURS_LATER = MIDNIGHT + 6 * HOUR
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


def labels(step: Advance) -> list[str]:
    return [one.occurrence.label[11:] for one in step.due]


def runs(missed: Sequence[Missed]) -> list[tuple[str, str, int, str]]:
    return [(one.first_label[11:], one.last_label[11:], one.periods, one.outcome) for one in missed]


# What is made of an outage


@pytest.mark.parametrize(
    ("catch_up", "sent", "missed"),
    [
        ("latest", ["06:00"], [("00:00", "05:00", 6, "skipped")]),
        ("all", ["00:00", "01:00", "02:00", "03:00", "04:00", "05:00", "06:00"], []),
        ("combine", ["06:00"], [("00:00", "05:00", 6, "combined")]),
        ("skip", ["06:00"], [("00:00", "05:00", 6, "skipped")]),
    ],
)
def test_each_policy_has_its_way_with_what_was_missed(catch_up: Any, sent: list[str], missed: list[Any]) -> None:
    step = advance(scheduled(catch_up=catch_up), SIX_HOURS_LATER)
    assert (labels(step), runs(step.missed)) == (sent, missed)
    assert step.next_at == SIX_HOURS_LATER + HOUR


def test_skip_sends_nothing_once_the_last_period_is_a_minute_old() -> None:
    one = scheduled(catch_up="skip")
    assert labels(advance(one, SIX_HOURS_LATER + MINUTE)) == ["06:00"]
    late = advance(one, SIX_HOURS_LATER + MINUTE + SECOND)
    assert (labels(late), runs(late.missed)) == ([], [("00:00", "06:00", 7, "skipped")])


def test_all_makes_up_for_no_more_than_it_may_and_for_the_newest() -> None:
    step = advance(scheduled(catch_up="all", most=2), SIX_HOURS_LATER)
    assert labels(step) == ["05:00", "06:00"]
    assert runs(step.missed) == [("00:00", "04:00", 5, "skipped")]
    assert step.missed[0].reason == "more than 2 periods were missed"


@pytest.mark.parametrize(
    ("catch_up", "sent", "missed"),
    [
        ("latest", ["06:00"], [("00:00", "03:00", 4, "skipped"), ("04:00", "05:00", 2, "skipped")]),
        ("all", ["04:00", "05:00", "06:00"], [("00:00", "03:00", 4, "skipped")]),
        ("combine", ["06:00"], [("00:00", "03:00", 4, "skipped"), ("04:00", "05:00", 2, "combined")]),
    ],
)
def test_what_is_too_late_is_skipped_whatever_the_policy(catch_up: Any, sent: list[str], missed: list[Any]) -> None:
    step = advance(scheduled(catch_up=catch_up, max_lateness=2 * HOUR), SIX_HOURS_LATER)
    assert (labels(step), runs(step.missed)) == (sent, missed)
    assert step.missed[0].reason == "more than 2:00:00 late"


def test_a_period_that_is_exactly_as_late_as_it_may_be_is_sent() -> None:
    one = scheduled(cron="0 6 * * *", max_lateness=HOUR)
    assert labels(advance(one, SIX_HOURS_LATER + HOUR)) == ["06:00"]
    assert labels(advance(one, SIX_HOURS_LATER + HOUR + SECOND)) == []


def test_a_combined_one_says_what_it_stands_for() -> None:
    one = scheduled(catch_up="combine")
    (period,) = advance(one, SIX_HOURS_LATER).due
    assert json.loads(draft(one, period, KIND, SIX_HOURS_LATER).data) == {
        "n": 1,
        "period": {"schedule": "hourly", "label": "2030-01-07T06:00", "first": "2030-01-07T00:00", "periods": 7},
    }
    (missed,) = advance(one, SIX_HOURS_LATER).missed
    assert missed.combined_into == "2030-01-07T06:00"


def test_an_outage_of_years_is_gone_through_in_bounded_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_AT_ONCE", 10)
    one, now = scheduled(cron="* * * * *"), MIDNIGHT + 25 * MINUTE
    first = advance(one, now)
    assert (labels(first), runs(first.missed)) == ([], [("00:00", "00:09", 10, "skipped")])
    second = advance(advanced(one, first), now)
    assert runs(second.missed) == [("00:10", "00:19", 10, "skipped")]
    last = advance(advanced(one, second), now)
    assert (labels(last), last.next_at) == (["00:25"], now + MINUTE)


# Where it stands afterwards


@given(
    st.lists(st.integers(-300, 900), min_size=1, max_size=12),
    st.sampled_from(["all", "latest", "combine", "skip"]),
    st.sampled_from([None, 30 * MINUTE, 3 * HOUR]),
    st.integers(1, 4),
)
def test_every_period_is_seen_to_once_whatever_the_clock_does(
    steps: list[int], catch_up: Any, max_lateness: timedelta | None, most: int
) -> None:
    one = scheduled(cron="*/20 * * * *", catch_up=catch_up, max_lateness=max_lateness, most=most)
    now, furthest, seen = MIDNIGHT, MIDNIGHT, 0
    sent: set[str] = set()
    for minutes in [0, *steps]:
        now += minutes * MINUTE
        furthest = max(furthest, now)
        step = advance(one, now)
        assert step.cursor_at >= one.cursor_at
        assert step.next_at is not None
        assert step.next_at >= step.cursor_at
        fresh = {period.occurrence.label for period in step.due}
        assert not fresh & sent, "a period is never due twice"
        sent |= fresh
        seen += len(fresh) + sum(run.periods for run in step.missed)
        one = advanced(one, step)
    assert seen == (furthest - MIDNIGHT) // (20 * MINUTE) + 1


def test_a_clock_that_steps_back_finds_nothing() -> None:
    one = scheduled()
    ahead = advanced(one, advance(one, SIX_HOURS_LATER))
    back = advance(ahead, MIDNIGHT + HOUR)
    assert (back.due, back.missed, back.next_at) == ((), (), SIX_HOURS_LATER + HOUR)
    assert back.cursor_at == ahead.cursor_at


def test_an_ended_schedule_has_no_next_instant() -> None:
    one = scheduled(until_at=MIDNIGHT + 2 * HOUR)
    step = advance(one, SIX_HOURS_LATER)
    assert (labels(step), step.next_at) == (["01:00"], None)
    assert advance(advanced(one, step), SIX_HOURS_LATER + DAY).due == ()
    assert following(one, MIDNIGHT + 2 * HOUR) is None


def test_what_came_during_a_pause_is_skipped_on_record_and_not_due_again() -> None:
    one = scheduled()
    step = pass_over(one, SIX_HOURS_LATER, "paused: on holiday")
    assert (step.due, runs(step.missed)) == ((), [("00:00", "06:00", 7, "skipped")])
    assert step.missed[0].reason == "paused: on holiday"
    assert step.next_at == SIX_HOURS_LATER + HOUR, "the period at this very instant was passed over, too"
    nothing = pass_over(advanced(one, step), MIDNIGHT, "paused: on holiday")
    assert (nothing.missed, nothing.cursor_at) == ((), step.cursor_at)


def test_a_pause_of_years_is_told_to_the_last_period(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedules, "MOST_AT_ONCE", 10)
    step = pass_over(scheduled(cron="* * * * *"), MIDNIGHT + 25 * MINUTE, "paused: on holiday")
    assert runs(step.missed) == [("00:00", "00:25", 26, "skipped")]


# The two odd nights


def instants(one: Schedule, now: datetime) -> list[str]:
    return [f"{period.occurrence.at:%H:%M}" for period in advance(one, now).due]


def test_a_fixed_time_runs_once_in_the_hour_that_comes_twice() -> None:
    night = datetime(2030, 10, 27, tzinfo=UTC)
    one = scheduled(cron="30 2 * * *", zone=BERLIN, cursor_at=night, catch_up="all")
    assert instants(one, night + 12 * HOUR) == ["00:30"]


def test_an_hourly_one_runs_in_both_hours_of_one_name_under_two_labels() -> None:
    night = datetime(2030, 10, 27, tzinfo=UTC)
    one = scheduled(zone=BERLIN, cursor_at=night, catch_up="all")
    step = advance(one, night + 2 * HOUR)
    assert instants(one, night + 2 * HOUR) == ["00:00", "01:00", "02:00"]
    assert labels(step) == ["02:00", "02:00+01:00", "03:00"]
    promises = [draft(one, period, KIND, night).promise for period in step.due]
    assert [promise.rule for promise in promises] == ["compatible", "later", "compatible"]


def test_a_fixed_time_that_does_not_exist_moves_forward_and_an_hourly_one_has_no_such_hour() -> None:
    night = datetime(2030, 3, 31, tzinfo=UTC)
    fixed = scheduled(cron="30 2 * * *", zone=BERLIN, cursor_at=night, catch_up="all")
    assert instants(fixed, night + 12 * HOUR) == ["01:30"]
    hourly = scheduled(zone=BERLIN, cursor_at=night, catch_up="all")
    assert labels(advance(hourly, night + 2 * HOUR)) == ["01:00", "03:00", "04:00"]


# The notification of a period


def test_a_period_is_named_by_schedule_and_label_and_keeps_its_wall_time() -> None:
    one = scheduled(cron="0 9 * * *", zone=BERLIN, tenant="acme")
    (period,) = advance(one, MIDNIGHT + 9 * HOUR).due
    made = draft(one, period, Kind("digest", "mail", max_lateness=2 * HOUR), MIDNIGHT + 9 * HOUR)
    due_at = MIDNIGHT + 8 * HOUR
    assert (made.key, made.group, made.tenant) == ("hourly/2030-01-07T09:00", "schedule:hourly", "acme")
    assert (made.promise.due_at, made.promise.wall, made.promise.zone) == (due_at, "2030-01-07T09:00:00", BERLIN)
    assert (made.expires_at, made.wake_at) == (due_at + 2 * HOUR, MIDNIGHT + 9 * HOUR)


def test_every_so_many_counts_from_its_anchor_and_not_from_the_cursor() -> None:
    one = scheduled(recurrence=Every(7, "day", wall("2029-12-01")), zone=BERLIN)
    assert one.next_at == datetime(2030, 1, 11, 23, tzinfo=UTC)
