"""The lookout: one look a second for a whole idle worker.

It tells each lane when its channel has something due and each housekeeping agent whether it has anything to do, so that
a worker with nothing to do costs one statement a second, however many channels it serves.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta

from ..domain.story import Sight
from ..ports import Clock, Database, Store
from .registry import Registry
from .settings import EngineSettings

LOOKS_PER_REFRESH = 300
"""How often a look is given up to compare clocks and to say which kinds are served."""


class Lookout:
    name = "lookout"

    def __init__(
        self,
        registry: Registry,
        database: Database,
        store: Store,
        clock: Clock,
        settings: EngineSettings,
        expect: Mapping[str, Callable[[float, bool], None]],
        refresh: Callable[[], Awaitable[object]],
    ) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.expect = expect
        self._refresh = refresh
        self._looks = 0
        # After a look that failed another server may have taken over, with another clock and without the last commits.
        self._lost = False
        # A little over a poll, so that what a lane looks up by itself fits into one statement a second, too.
        self.pace_seconds = settings.poll_seconds * 1.05
        self.sight = Sight({}, {}, None, None, None, None, None, None)

    async def step(self) -> bool:
        self._looks += 1
        if self._lost or self._looks % LOOKS_PER_REFRESH == 0:
            await self._refresh()
            self._lost = False
            return False
        self._lost = True
        self.sight = await self.database.ask(self.store.look(self.expect, self.registry.served()))
        self._lost = False
        now = self.clock.now()
        soon = now + timedelta(seconds=2 * self.settings.poll_seconds)
        for channel, wake_at in self.sight.wakes.items():
            suspect_at = self.sight.suspects[channel]
            suspect = suspect_at is not None and suspect_at <= now
            if suspect or (wake_at is not None and wake_at < soon):
                self.expect[channel]((wake_at - now).total_seconds() if wake_at else 0.0, suspect)
        return False

    def wanted(self, agent: str) -> bool:
        """Say whether a housekeeping agent has something to do, as far as the last look saw."""
        now = self.clock.now()
        sight = self.sight
        match agent:
            case "rescuer":
                return sight.lease is not None and sight.lease + timedelta(seconds=self.settings.grace_seconds) < now
            case "sweeper":
                return sight.expiry is not None and sight.expiry <= now
            case "scheduler":
                return sight.schedule is not None and sight.schedule <= now
            case "digester":
                return sight.digest is not None and sight.digest <= now
            case "reconciler":
                return sight.evidence is not None or (sight.attention is not None and sight.attention <= now)
        return True
