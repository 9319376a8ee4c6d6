"""How a lane's room is divided among the classes: urgent overtakes, and nobody starves."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

SHARES = (0.6, 0.3, 0.1)
"""What urgent, normal and bulk are sure of when all three have more than the lane can take."""


def class_limits(room: int, last: Sequence[int]) -> tuple[int, int, int]:
    """Return how many of each class to ask for, given how many each yielded last time.

    The most urgent class may fill the room. A lower class gets its share, or what the higher ones left unused last
    time if that is more; together they may exceed the room by the lower shares, which is bounded.
    """
    limits = []
    above = 0
    for share, yielded in zip(SHARES, last, strict=True):
        limits.append(min(room, max(ceil(room * share), room - above)))
        above += yielded
    return limits[0], limits[1], limits[2]
