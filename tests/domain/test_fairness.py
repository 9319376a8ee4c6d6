from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.fairness import SHARES, class_shares, full_classes

ROOMS = st.integers(1, 5_000)
DUE = st.tuples(*[st.integers(0, 10_000)] * 3)


def claimed(room: int, due: tuple[int, int, int]) -> list[int]:
    """What claim.sql takes of so many due ones."""
    shares = class_shares(room)
    taken: list[int] = []
    for share, there in zip(shares, due, strict=True):
        taken.append(min(there, max(share, room - sum(taken))))
    return taken


@pytest.mark.parametrize(
    ("room", "due", "taken"),
    [
        (100, (500, 500, 500), [100, 30, 10]),
        (100, (20, 500, 500), [20, 80, 10]),
        (100, (20, 50, 500), [20, 50, 30]),
        (100, (0, 0, 500), [0, 0, 100]),
        (1, (5, 5, 5), [1, 1, 1]),
    ],
)
def test_urgent_overtakes_and_nobody_starves(room: int, due: tuple, taken: list) -> None:
    assert claimed(room, due) == taken


@given(ROOMS, DUE)
def test_together_they_exceed_the_room_by_no_more_than_the_lower_shares(room: int, due: tuple) -> None:
    assert sum(claimed(room, due)) <= room + ceil(room * SHARES[1]) + ceil(room * SHARES[2])


@given(ROOMS, DUE)
def test_a_class_that_left_some_behind_is_known_to_be_full(room: int, due: tuple) -> None:
    taken = claimed(room, due)
    left_behind = [index for index in range(3) if due[index] > taken[index]]
    assert set(left_behind) <= set(full_classes(class_shares(room), taken))


@given(ROOMS)
def test_nothing_taken_means_nothing_left(room: int) -> None:
    assert full_classes(class_shares(room), (0, 0, 0)) == []
