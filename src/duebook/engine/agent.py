"""What every agent but the lane is: a bounded batch, done again and again at its own pace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..domain.lifecycle import State
from ..domain.notification import Move
from ..ports import Plan, Store


class Agent(Protocol):
    """`step` does one batch and answers whether there is more to do right away."""

    name: str
    pace_seconds: float

    async def step(self) -> bool: ...


def moved(store: Store, moves: Sequence[Move]) -> Plan[dict[int, State]]:
    """Make moves, if there are any."""
    if not moves:
        return {}
    return (yield from store.apply(moves))
