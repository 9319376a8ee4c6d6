"""What every agent but the lane is: a bounded batch, done again and again at its own pace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from ..domain.lifecycle import State
from ..domain.notification import Move
from ..ports import Clock, Database, Plan, Store
from .registry import Registry
from .settings import EngineSettings


class Agent(Protocol):
    """`step` does one batch and answers whether there is more to do right away."""

    name: str
    pace_seconds: float

    async def step(self) -> bool: ...


class Maker:
    """An agent that makes notifications. `expect`: told of the channels that have something due at once."""

    pace_seconds = 0.2

    def __init__(
        self,
        registry: Registry,
        database: Database,
        store: Store,
        clock: Clock,
        settings: EngineSettings,
        expect: Mapping[str, Callable[[float, bool], None]],
    ) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.expect = expect

    def tell(self, channels: Iterable[str]) -> None:
        """Wake the lanes that have something due."""
        for channel in channels:
            if channel in self.expect:
                self.expect[channel](0.0, False)


def moved(store: Store, moves: Sequence[Move]) -> Plan[dict[int, State]]:
    """Make moves, if there are any."""
    if not moves:
        return {}
    return (yield from store.apply(moves))
