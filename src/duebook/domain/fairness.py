"""How a lane's room is divided among the classes: urgent overtakes, and nobody starves."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

SHARES = (1.0, 0.3, 0.1)
"""The most urgent class may fill the room; what normal and bulk are sure of even then."""


def class_shares(room: int) -> tuple[int, int, int]:
    """Return how many of each class a claim is sure to take, if they are due."""
    urgent, normal, bulk = (ceil(room * share) for share in SHARES)
    return urgent, normal, bulk


def full_classes(shares: Sequence[int], taken: Sequence[int]) -> list[int]:
    """Return the classes of which a claim took as many as it may: there may be more.

    A class gets its share, or what the more urgent ones left of the room if that is more; so a claim exceeds the room
    by the lower shares at the most. `claim.sql` limits itself by the same rule.
    """
    full = []
    left = shares[0]
    for index, (share, count) in enumerate(zip(shares, taken, strict=True)):
        if count and count >= max(share, left):
            full.append(index)
        left -= count
    return full
