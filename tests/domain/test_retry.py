from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.retry import FLOOR, WISH_CEILING, Backoff
from duebook.errors import InvalidInput
from tests.domain.builders import DAY, SECOND

BACKOFFS = st.builds(
    Backoff,
    attempts=st.integers(1, 100),
    ceiling=st.timedeltas(FLOOR, 7 * DAY),
    age=st.timedeltas(SECOND, 30 * DAY),
)
WISHES = st.none() | st.timedeltas(-60 * DAY, 60 * 365 * DAY)


@pytest.mark.parametrize(
    ("used", "jitter", "seconds"),
    [
        (0, 0.0, 1), (0, 1.0, 1), (1, 0.0, 1), (1, 1.0, 2), (2, 0.0, 2), (2, 1.0, 4), (3, 0.5, 6), (5, 1.0, 32),
        (6, 0.0, 30), (6, 1.0, 60), (7, 1.0, 60), (99, 0.0, 30), (10**9, 1.0, 60),
    ],
)  # fmt: skip
def test_the_delay_doubles_up_to_a_ceiling_and_half_of_it_is_drawn(used: int, jitter: float, seconds: float) -> None:
    assert Backoff().delay(used, jitter) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("wish", "seconds"),
    [
        (None, 4), (timedelta(0), 4), (timedelta(seconds=-5), 4), (timedelta(days=-400), 4),
        (timedelta(seconds=3), 4), (timedelta(seconds=45), 45), (timedelta(hours=23), 23 * 3600),
        (timedelta(seconds=1_771_404_540), 24 * 3600), (timedelta.max, 24 * 3600), (timedelta.min, 4),
    ],
)  # fmt: skip
def test_a_providers_wish_is_respected_within_reason(wish: timedelta | None, seconds: float) -> None:
    assert Backoff().delay(2, 1.0, wish) == timedelta(seconds=seconds)


def test_a_providers_wish_may_exceed_our_own_ceiling() -> None:
    assert Backoff(ceiling=timedelta(seconds=2)).delay(5, 1.0, timedelta(minutes=10)) == timedelta(minutes=10)


@given(BACKOFFS, st.integers(0, 10_000), st.floats(0, 1), WISHES)
def test_every_delay_is_at_least_the_floor_and_never_more_than_ceiling_or_wish(
    backoff: Backoff, used: int, jitter: float, wish: timedelta | None
) -> None:
    delay = backoff.delay(used, jitter, wish)
    assert FLOOR <= delay <= max(backoff.ceiling, WISH_CEILING)
    if wish is None or wish <= timedelta(0):
        assert delay <= backoff.ceiling
    else:
        assert delay >= min(wish, WISH_CEILING)


@given(BACKOFFS, st.integers(0, 200), st.floats(0, 1))
def test_later_attempts_never_wait_less(backoff: Backoff, used: int, jitter: float) -> None:
    assert backoff.delay(used, jitter) <= backoff.delay(used + 1, jitter)


@given(BACKOFFS, st.integers(0, 200), st.floats(0, 1))
def test_the_draw_spreads_a_herd_over_half_of_the_delay(backoff: Backoff, used: int, jitter: float) -> None:
    longest = backoff.delay(used, 1.0)
    assert max(FLOOR, longest / 2) - timedelta(microseconds=1) <= backoff.delay(used, jitter) <= longest


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("retry.attempts", {"attempts": 0}),
        ("retry.attempts", {"attempts": -1}),
        ("retry.attempts", {"attempts": 101}),
        ("retry.ceiling", {"ceiling": timedelta(milliseconds=999)}),
        ("retry.age", {"age": timedelta(0)}),
        ("retry.age", {"age": timedelta(seconds=-1)}),
    ],
)
def test_a_backoff_that_makes_no_sense_is_refused_by_field(field: str, values: dict) -> None:
    with pytest.raises(InvalidInput) as refused:
        Backoff(**values)
    assert refused.value.field == field


@pytest.mark.parametrize("attempts", [1, 100])
def test_the_bounds_themselves_are_allowed(attempts: int) -> None:
    assert Backoff(attempts, FLOOR, timedelta(microseconds=1)).attempts == attempts
