"""The pruner: lets go of what is older than its kind keeps it, a bounded batch at a time."""

from __future__ import annotations

from ..ports import Clock, Database, Store
from .registry import Registry
from .settings import EngineSettings


class Pruner:
    name = "pruner"
    pace_seconds = 300.0

    def __init__(
        self, registry: Registry, database: Database, store: Store, clock: Clock, settings: EngineSettings
    ) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings

    async def step(self) -> bool:
        now = self.clock.now()
        full = False
        for kind in self.registry.kinds.values():
            gone = await self.database.run(self.store.prune(kind, now, self.settings.batch))
            forgotten = await self.database.run(self.store.prune_identities(kind, now, self.settings.batch))
            full = full or max(gone, forgotten) >= self.settings.batch
        return full
