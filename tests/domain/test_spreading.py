"""A herd is told apart by who they are, always in the same way."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.policy import Kind
from duebook.domain.schedules import advance, draft
from duebook.domain.spreading import offset, spread
from duebook.domain.walltime import Disambiguation, Promise, resolve
from tests.domain.timing import BERLIN, HOUR, MIDNIGHT, scheduled

SPREAD = Kind("digest", "mail", spread=2 * HOUR)


@given(st.text(), st.timedeltas(timedelta(seconds=1), timedelta(hours=12)))
def test_everybody_has_one_place_inside_the_window(recipient: str, window: timedelta) -> None:
    found = offset("digest", recipient, window)
    assert timedelta(0) <= found < window
    assert found == offset("digest", recipient, window)
    assert found == timedelta(seconds=int(found.total_seconds()))


def test_places_are_spread_over_the_whole_window_and_differ_by_kind() -> None:
    tenths = {offset("digest", f"r{number}", 10 * HOUR) // HOUR for number in range(200)}
    assert tenths == set(range(10))
    assert offset("digest", "ann", 10 * HOUR) != offset("weekly", "ann", 10 * HOUR)


def test_a_kind_without_a_window_leaves_a_promise_alone() -> None:
    promise = Promise(MIDNIGHT, "2030-01-07T01:00:00", BERLIN, "compatible", "2026f")
    assert spread(promise, BERLIN, "ann", Kind("digest", "mail")) is promise


def test_a_spread_period_keeps_its_identity_and_says_its_own_wall_time() -> None:
    one = scheduled(cron="0 9 * * *", zone=BERLIN)
    now = MIDNIGHT + 8 * HOUR
    (period,) = advance(one, now).due
    made = draft(one, period, SPREAD, now)
    assert made.key == draft(one, period, Kind("digest", "mail"), now).key == "hourly/2030-01-07T09:00"
    assert made.promise.due_at == now + offset("digest", "ann", 2 * HOUR)
    assert made.wake_at == made.promise.due_at
    assert made.promise.wall is not None
    assert resolve(datetime.fromisoformat(made.promise.wall), BERLIN) == made.promise.due_at


@given(st.integers(0, 7_199))
def test_a_wall_time_after_spreading_names_its_instant_also_when_the_hour_comes_twice(seconds: int) -> None:
    at = datetime(2030, 10, 27, tzinfo=UTC) + timedelta(seconds=seconds)
    found = spread(Promise(at), BERLIN, "ann", SPREAD)
    assert found.wall is not None
    rule: Disambiguation = "later" if found.rule == "later" else "compatible"
    assert resolve(datetime.fromisoformat(found.wall), BERLIN, rule) == found.due_at
