"""The reconciler: finds the lawful way out of uncertainty, where there is one.

It looks at what somebody has learned something about, and at uncertain ones whose quiet time is over. Evidence beats
policy; without either a person has to rule, and the notification waits where `status` counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..domain.lifecycle import State
from ..domain.notification import Move, Notification
from ..domain.recovery import Evidence, is_early, reconcile
from ..ports import Clock, Database, Plan, Store
from .agent import moved
from .registry import Registry
from .settings import EngineSettings


class Reconciler:
    name = "reconciler"
    pace_seconds = 2.0

    def __init__(
        self, registry: Registry, database: Database, store: Store, clock: Clock, settings: EngineSettings, by: str
    ) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.by = by

    async def step(self) -> bool:
        now = self.clock.now()
        evidenced = await self.database.run(self._evidenced(now))
        uncertain = await self.database.run(self._uncertain(now))
        return max(evidenced, uncertain) >= self.settings.batch

    def _evidenced(self, now: datetime) -> Plan[int]:
        """Look at what somebody has learned something about, wherever it is by now."""
        found = yield from self.store.lock_evidenced(self.registry.kinds, self.settings.batch)
        if not found:
            return 0
        known = yield from self.store.read_doubtful_evidence([n.id for n in found])
        verdicts = {n.id: self._verdict(n, known[n.id], now) for n in found}
        applied = yield from moved(self.store, [verdict for verdict in verdicts.values() if isinstance(verdict, Move)])
        # A worker that holds it has read how many attempts are in doubt; it is told nothing else until it lets go.
        waiting = {n.id for n in found if n.state is State.CLAIMED or is_early(n, known[n.id], now)}
        done = [n.id for n in found if n.id in applied or n.id not in waiting]
        if done:
            learned = [item for id in done for item in known[id] if item.says != "unknown"]
            yield from self.store.consider_evidence(done, learned, now)
        return len(done)

    def _uncertain(self, now: datetime) -> Plan[int]:
        """Look at uncertain ones whose quiet time is over."""
        found = yield from self.store.lock_uncertain(self.registry.kinds, now, self.settings.batch)
        verdicts = [(n, self._verdict(n, (), now)) for n in found]
        yield from moved(self.store, [verdict for _, verdict in verdicts if isinstance(verdict, Move)])
        looks = [(n.id, n.version, verdict) for n, verdict in verdicts if isinstance(verdict, datetime)]
        if looks:
            yield from self.store.postpone(looks)
        return len(found)

    def _verdict(self, n: Notification, evidence: Sequence[Evidence], now: datetime) -> Move | datetime:
        return reconcile(n, evidence, self.registry.kinds.get(n.kind), self.registry.policy(n.channel), now, self.by)
