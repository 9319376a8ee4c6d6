"""The sweeper: closes scheduled notifications that are worth nothing any more, whoever should have sent them."""

from __future__ import annotations

from ..domain import recovery
from ..ports import Clock, Database, Plan, Store
from .settings import EngineSettings


class Sweeper:
    name = "sweeper"
    pace_seconds = 5.0

    def __init__(self, database: Database, store: Store, clock: Clock, settings: EngineSettings, by: str) -> None:
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.by = by

    async def step(self) -> bool:
        now = self.clock.now()

        def plan() -> Plan[int]:
            worthless = yield from self.store.lock_worthless(now, self.settings.batch)
            if worthless:
                yield from self.store.apply([recovery.expire(n, now, self.by) for n in worthless])
            return len(worthless)

        return await self.database.run(plan()) >= self.settings.batch
