"""The reconciler: finds the lawful way out of uncertainty, where there is one.

It looks at what somebody has learned something about, and at uncertain ones whose quiet time is over. Evidence beats
policy; without either a person has to rule, and the notification waits where `status` counts it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..domain.lifecycle import State
from ..domain.notification import Move, Notification
from ..domain.recovery import reconcile
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
        found = yield from self.store.lock_evidenced(self.settings.batch)
        if found:
            yield from self._judge(found, now, evidenced=True)
        return len(found)

    def _uncertain(self, now: datetime) -> Plan[int]:
        found = yield from self.store.lock_uncertain(now, self.settings.batch)
        if found:
            yield from self._judge(found, now, evidenced=False)
        return len(found)

    def _judge(self, found: Sequence[Notification], now: datetime, *, evidenced: bool) -> Plan[None]:
        known = yield from self.store.read_doubtful_evidence([n.id for n in found])
        moves: list[Move] = []
        looks: list[tuple[int, int, datetime]] = []
        for n in found:
            kind = self.registry.kinds.get(n.kind)
            patient = evidenced and n.attention_at is not None and n.attention_at > now
            policy = None if patient else self.registry.policy(n.channel)
            verdict = reconcile(n, known[n.id], kind, policy, now, self.by)
            if isinstance(verdict, Move):
                moves.append(verdict)
            elif n.state is State.UNCERTAIN and not patient:
                looks.append((n.id, n.version, verdict))
        applied = yield from moved(self.store, moves)
        if looks:
            yield from self.store.postpone(looks)
        if evidenced:
            resolved = [item for id in applied for item in known[id] if item.says != "unknown"]
            yield from self.store.consider_evidence([n.id for n in found], resolved, now)
