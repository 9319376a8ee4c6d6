"""What a date on record promises: its steps, what is left out and why, and when a step is not wanted any more."""

from datetime import UTC, date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import deadlines
from duebook.domain.deadlines import Step, check_ahead, days_of, draft, ending, left_out, name_of, overtaken, steps
from duebook.domain.policy import DeadlinePolicy, Kind
from duebook.errors import InvalidInput
from tests.domain.builders import make
from tests.domain.timing import BERLIN, DAY, HOUR, RENEWAL, deadline, wall

NEW_YORK = "America/New_York"
POLICY = DeadlinePolicy()
BEFORE = datetime(2030, 1, 7, tzinfo=UTC)


def at(month: int, day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2030, month, day, hour, minute, tzinfo=UTC)


def promised(found: Any) -> dict[int, datetime]:
    return {step.days: step.promise.due_at for step in found if step.left_out is None}


def omitted(found: Any) -> dict[int, str]:
    return {step.days: step.left_out for step in found if step.left_out is not None}


# A date and its end


def test_a_date_lasts_until_its_day_is_over_and_a_time_until_it_comes() -> None:
    assert ending(date(2030, 3, 15), BERLIN, BEFORE) == ("2030-03-15", BERLIN, at(3, 15, 23))
    assert ending(wall("2030-03-15 17:30"), NEW_YORK, BEFORE) == ("2030-03-15T17:30", NEW_YORK, at(3, 15, 21, 30))
    aware = datetime(2030, 3, 15, 17, 30, tzinfo=ZoneInfo(NEW_YORK))
    assert ending(aware, None, BEFORE) == ending(aware.replace(tzinfo=None), NEW_YORK, BEFORE)


@pytest.mark.parametrize(
    ("on", "zone", "field"),
    [
        ("2030-03-15", BERLIN, "on"),
        (date(2030, 3, 15), None, "zone"),
        (date(2030, 3, 15), "Europe/Brelin", "zone"),
        (date(2030, 3, 15), 5, "zone"),
        (datetime(2030, 3, 15, 9, tzinfo=UTC), BERLIN, "on"),
        (datetime(2030, 3, 15, 9, tzinfo=ZoneInfo(NEW_YORK)), BERLIN, "on"),
        (wall("2030-03-15 09:00:30"), BERLIN, "on"),
        (date(9999, 12, 31), BERLIN, "on"),
        (date(1, 1, 1), BERLIN, "on"),
    ],
)
def test_what_is_no_date_of_a_zone_is_refused_by_field(on: Any, zone: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ending(on, zone, BEFORE)
    assert refused.value.field == field


def test_a_date_that_is_over_is_refused_unless_a_step_comes_after_it() -> None:
    over = deadline(date(2030, 1, 4))
    with pytest.raises(InvalidInput, match="2030-01-04 is over in Europe/Berlin") as refused:
        check_ahead(over, POLICY, BEFORE)
    assert refused.value.field == "on"
    check_ahead(over, DeadlinePolicy(days=(7, -7)), BEFORE)
    with pytest.raises(InvalidInput):
        check_ahead(over, DeadlinePolicy(days=(7, -1)), BEFORE)
    check_ahead(deadline(date(2030, 1, 7)), POLICY, at(1, 7, 22, 59))


# Its steps


def test_each_step_comes_at_its_time_of_day_also_across_the_change_of_the_clocks() -> None:
    found = steps(deadline(date(2030, 4, 2)), POLICY, (), BEFORE)
    assert promised(found) == {30: at(3, 3, 8), 7: at(3, 26, 8), 1: at(4, 1, 7)}
    assert [step.promise.wall for step in found] == [
        "2030-03-03T09:00:00",
        "2030-03-26T09:00:00",
        "2030-04-01T09:00:00",
    ]


@pytest.mark.parametrize(
    ("day", "instant"), [(date(2030, 3, 31), at(3, 31, 1, 30)), (date(2030, 10, 27), at(10, 27, 0, 30))]
)
def test_a_step_in_an_odd_night_has_one_instant(day: date, instant: datetime) -> None:
    policy = DeadlinePolicy(days=(0,), at=time(2, 30))
    assert promised(steps(deadline(day), policy, (), BEFORE)) == {0: instant}


def test_steps_after_the_date_come_after_it() -> None:
    found = steps(deadline(), DeadlinePolicy(days=(0, -1, -10)), (), BEFORE)
    assert promised(found) == {0: at(3, 15, 8), -1: at(3, 16, 8), -10: at(3, 25, 8)}


def test_a_step_on_the_day_of_a_deadline_that_ends_before_is_left_out() -> None:
    early = deadline(wall("2030-03-15 08:00"))
    found = steps(early, DeadlinePolicy(days=(1, 0, -1)), (), BEFORE)
    assert sorted(promised(found)) == [-1, 1]
    assert omitted(found) == {0: "its time is not before the end of the deadline"}


@pytest.mark.parametrize(
    ("passed", "now", "sent_now", "left"),
    [
        ("newest", at(3, 10, 12), {7: at(3, 10, 12)}, {30}),
        ("skip", at(3, 10, 12), {}, {30, 7}),
        ("newest", at(3, 14, 8), {1: at(3, 14, 8)}, {30, 7}),
        ("newest", at(1, 7, 0), {}, set()),
    ],
)
def test_of_passed_steps_the_newest_is_sent_at_once_or_none(
    passed: Any, now: datetime, sent_now: dict[int, datetime], left: set[int]
) -> None:
    found = steps(deadline(), DeadlinePolicy(passed=passed), (), now)
    assert {days: due_at for days, due_at in promised(found).items() if due_at <= now} == sent_now
    assert set(omitted(found)) == left
    assert set(omitted(found).values()) <= {"its time had passed when the date was set"}


def test_a_step_sent_in_this_cycle_is_left_out_and_no_older_one_takes_its_place() -> None:
    found = steps(deadline(), POLICY, {7}, at(3, 10, 12))
    assert promised(found) == {1: at(3, 14, 8)}
    assert omitted(found) == {
        30: "its time had passed when the date was set",
        7: "sent already, for the date before",
    }


def test_of_a_date_that_is_over_only_what_comes_after_it_is_left() -> None:
    found = steps(deadline(date(2030, 1, 4)), DeadlinePolicy(days=(1, -1, -7)), (), BEFORE)
    assert promised(found) == {-1: BEFORE, -7: at(1, 11, 8)}
    assert omitted(found) == {1: "the deadline was over when it was set"}


@given(
    st.sets(st.integers(-40, 400), min_size=1, max_size=6),
    st.sampled_from(["newest", "skip"]),
    st.integers(0, 500),
    st.sets(st.integers(-40, 400), max_size=3),
)
def test_every_step_is_promised_or_left_out_and_nothing_is_promised_for_the_past(
    days: set[int], passed: Any, hours: int, sent: set[int]
) -> None:
    policy = DeadlinePolicy(days=tuple(days), passed=passed)
    now = BEFORE + hours * 7 * HOUR
    found = steps(deadline(), policy, sent, now)
    assert [step.days for step in found] == sorted(days, reverse=True)
    assert all(due_at >= now for due_at in promised(found).values())
    assert not sent & set(promised(found))
    assert sum(due_at == now for due_at in promised(found).values()) <= 1


# Its notifications


def test_each_term_has_names_of_its_own_so_that_moving_to_and_fro_reminds_again() -> None:
    step = Step(30, steps(deadline(), POLICY, (), BEFORE)[0].promise)
    keys = [draft(deadline(term=term), step, RENEWAL, BEFORE).key for term in (1, 2, 3)]
    assert keys == ["contract/1/30d", "contract/2/30d", "contract/3/30d"]
    assert deadlines.keys_of_cycle(deadline(term=3, first_term=2), DeadlinePolicy(days=(7, -1))) == {
        "contract/2/7d": 7, "contract/2/-1d": -1, "contract/3/7d": 7, "contract/3/-1d": -1,
    }  # fmt: skip


def test_a_reminder_is_worth_nothing_once_its_date_is_over_but_one_after_the_date_is() -> None:
    before, after = steps(deadline(), DeadlinePolicy(days=(1, -1)), (), BEFORE)
    assert draft(deadline(), before, RENEWAL, BEFORE).expires_at == at(3, 15, 23)
    assert draft(deadline(), after, RENEWAL, BEFORE).expires_at is None
    hasty = Kind("renewal", "mail", max_lateness=2 * HOUR, deadline=POLICY)
    assert draft(deadline(), before, hasty, BEFORE).expires_at == at(3, 14, 10)
    assert draft(deadline(), after, hasty, BEFORE).expires_at == at(3, 16, 10)


def test_spreading_never_takes_a_reminder_past_its_date() -> None:
    kind = Kind("renewal", "mail", spread=12 * HOUR, deadline=DeadlinePolicy(days=(0,), at=time(20)))
    for number in range(40):
        one = deadline(recipient=f"r{number}")
        (step,) = steps(one, kind.deadline or POLICY, (), BEFORE)
        made = draft(one, step, kind, BEFORE)
        assert step.promise.due_at <= made.promise.due_at < one.ends_at


def test_what_is_left_out_goes_on_record_under_its_term() -> None:
    found = steps(deadline(), DeadlinePolicy(passed="skip"), (), at(3, 10, 12))
    missed = left_out(deadline(term=4), found[0], at(3, 10, 12))
    assert (missed.source, missed.name, missed.first_label, missed.reason) == (
        "deadline", "contract/4", "30d", "its time had passed when the date was set",
    )  # fmt: skip


# At the time of firing


def reminder(key: str, **changes: Any) -> Any:
    return make(kind="renewal", key=key, group="deadline:renewal:contract", **changes)


def test_a_step_is_overtaken_by_completion_and_by_a_later_term() -> None:
    assert overtaken(reminder("contract/1/30d"), deadline()) is None
    assert overtaken(reminder("contract/1/30d"), deadline(term=2)) == "the deadline has moved to 2030-03-15"
    assert overtaken(reminder("contract/1/30d"), deadline(state="completed", reason="paid")) == "completed: paid"
    assert overtaken(reminder("contract/1/30d"), deadline(state="completed")) == "completed"
    assert overtaken(reminder("contract/12/-3d"), deadline(term=12)) is None


def test_only_what_is_named_like_a_step_of_its_group_is_one() -> None:
    assert name_of(reminder("contract/1/30d")) == "contract"
    assert days_of("contract/1/-30d") == -30
    assert name_of(make(kind="renewal", key="a/b/2/7d", group="deadline:renewal:a/b")) == "a/b"
    assert name_of(reminder("something else")) is None
    assert name_of(reminder("other/1/30d")) is None
    assert name_of(make(kind="renewal", key="contract/1/30d", group=None)) is None


def test_the_day_is_that_of_the_wall_time() -> None:
    assert deadline(wall("2030-03-15 17:30")).day == deadline().day == date(2030, 3, 15)
    assert deadline().ends_at - deadline(wall("2030-03-15 00:00")).ends_at == DAY
