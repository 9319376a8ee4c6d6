from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.fairness import SHARES, class_limits

ROOMS = st.integers(0, 5_000)
YIELDS = st.tuples(*[st.integers(0, 5_000)] * 3)


@pytest.mark.parametrize(
    ("room", "last", "limits"),
    [
        (100, (100, 0, 0), (100, 30, 10)),
        (100, (100, 100, 100), (100, 30, 10)),
        (100, (20, 0, 0), (100, 80, 80)),
        (100, (20, 70, 0), (100, 80, 10)),
        (100, (20, 50, 0), (100, 80, 30)),
        (1, (1, 0, 0), (1, 1, 1)),
        (0, (5, 5, 5), (0, 0, 0)),
    ],
)
def test_urgent_overtakes_and_nobody_starves(room: int, last: tuple, limits: tuple) -> None:
    assert class_limits(room, last) == limits


@given(ROOMS, YIELDS)
def test_no_class_gets_more_than_the_room_nor_less_than_its_share(room: int, last: tuple) -> None:
    for share, limit in zip(SHARES, class_limits(room, last), strict=True):
        assert ceil(room * share) <= limit <= room


@given(ROOMS, YIELDS)
def test_the_most_urgent_may_fill_the_room(room: int, last: tuple) -> None:
    assert class_limits(room, last)[0] == room


@given(ROOMS, YIELDS, st.integers(0, 2), st.integers(1, 100))
def test_the_more_the_higher_classes_yielded_the_less_a_lower_one_asks_for(
    room: int, last: tuple, which: int, more: int
) -> None:
    busier = tuple(count + more * (index == which) for index, count in enumerate(last))
    assert all(a >= b for a, b in zip(class_limits(room, last), class_limits(room, busier), strict=True))


@given(ROOMS.filter(bool))
def test_together_they_exceed_the_room_by_the_lower_shares_when_all_are_busy(room: int) -> None:
    busy = class_limits(room, (room, room, room))
    assert sum(busy) <= room + ceil(room * SHARES[1]) + ceil(room * SHARES[2])


@given(ROOMS.filter(bool), YIELDS)
def test_together_they_exceed_the_room_by_no_more_than_the_lower_shares(room: int, last: tuple) -> None:
    assert sum(class_limits(room, last)) <= room + ceil(room * SHARES[1]) + ceil(room * SHARES[2])
