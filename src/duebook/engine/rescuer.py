"""The rescuer: takes back what a vanished worker held.

A lease is judged by the database's time alone, and only after a grace, because a worker whose write waits for a lock is
not dead. The worker may come back and report; its outcome then finds the fence closed and is kept as evidence.
"""

from __future__ import annotations

from datetime import timedelta

from ..domain import recovery
from ..domain.notification import Notification
from ..domain.policy import Kind
from ..domain.retry import Backoff
from ..ports import Database, Plan, Store
from .registry import Registry
from .settings import EngineSettings


class Rescuer:
    name = "rescuer"
    pace_seconds = 2.0

    def __init__(self, registry: Registry, database: Database, store: Store, settings: EngineSettings, by: str) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.settings = settings
        self.by = by

    async def step(self) -> bool:
        now = await self.database.time()
        before = now - timedelta(seconds=self.settings.grace_seconds)

        def plan() -> Plan[int]:
            lost = yield from self.store.lock_expired_leases(before, self.settings.batch)
            if lost:
                moves = [
                    recovery.lose(
                        n, self._attempts(n), now, self.by, self.settings.quiet(self.registry.policy(n.channel))
                    )
                    for n in lost
                ]
                yield from self.store.apply(moves)
            return len(lost)

        return await self.database.run(plan()) >= self.settings.batch

    def _attempts(self, n: Notification) -> int:
        kind: Kind | None = self.registry.kinds.get(n.kind)
        return (kind.retry if kind else Backoff()).attempts
