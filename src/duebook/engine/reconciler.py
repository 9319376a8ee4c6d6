"""The reconciler: finds the lawful way out of uncertainty, where there is one.

It looks at what somebody has learned something about, and at uncertain ones whose quiet time is over. Evidence beats
policy; without either a person has to rule, and the notification waits where `status` counts it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from ..domain.identity import idempotency_key, message_id, reference
from ..domain.lifecycle import State
from ..domain.message import thaw
from ..domain.notification import Move, Notification
from ..domain.recovery import Doubt, Evidence, is_early, looked_up, reconcile
from ..domain.text import clean
from ..ports import Clock, Database, Found, LooksUp, Plan, Sought, Store
from .agent import moved
from .registry import Registry
from .settings import EngineSettings

ASKED_AT_ONCE = 20


class Reconciler:
    name = "reconciler"
    pace_seconds = 2.0

    def __init__(
        self,
        registry: Registry,
        database: Database,
        store: Store,
        clock: Clock,
        settings: EngineSettings,
        by: str,
        message_domain: str = "duebook.invalid",
    ) -> None:
        self.registry = registry
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.by = by
        self.message_domain = message_domain

    async def step(self) -> bool:
        now = self.clock.now()
        asks = any(isinstance(channel, LooksUp) for channel in self.registry.channels.values())
        # Providers are asked one at a time, and what is looked at below is what has been asked about.
        limit = min(ASKED_AT_ONCE, self.settings.batch) if asks else self.settings.batch
        asked = await self._ask(now, limit) if asks else frozenset[int]()
        evidenced = await self.database.run(self._evidenced(now))
        uncertain = await self.database.run(self._uncertain(asked, now, limit))
        return evidenced >= self.settings.batch or uncertain >= limit

    async def _ask(self, now: datetime, limit: int) -> Collection[int]:
        """Ask the providers that can be asked about what nobody can vouch for, and keep what they say as evidence;
        answers what was asked about."""
        found = await self.database.ask(self.store.lock_uncertain(self.registry.kinds, now, limit))
        asked = {n.id: n for n in found if self._can_ask(n)}
        if not asked:
            return asked
        doubts = await self.database.ask(self.store.read_doubtful_attempts(list(asked)))
        learned = [await self._looked_up(asked[doubt.notification_id], doubt, now) for doubt in doubts]
        if learned:
            await self.database.ask(self.store.record_evidence(learned))
        return asked

    def _can_ask(self, n: Notification) -> bool:
        return isinstance(self.registry.channels.get(n.channel), LooksUp)

    async def _looked_up(self, n: Notification, doubt: Doubt, now: datetime) -> Evidence:
        channel = self.registry.channels[n.channel]
        assert isinstance(channel, LooksUp)
        assert n.message is not None
        key = idempotency_key(n.namespace, n.kind, n.key)
        id = message_id(key, self.message_domain)
        sought = Sought(
            thaw(n.message), doubt.number, key, id, reference(n.id, key), doubt.provider_id, doubt.begun_at, now
        )
        try:
            found = await channel.look_up(sought)
        except Exception as error:  # noqa: BLE001 - what the channel could not name proves nothing
            found = Found("unknown", None, clean(f"{type(error).__name__}: {error}"))
        return looked_up(doubt, found.says, found.provider_id, found.detail, now)

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

    def _uncertain(self, asked: Collection[int], now: datetime, limit: int) -> Plan[int]:
        """Look at uncertain ones whose quiet time is over."""
        found = yield from self.store.lock_uncertain(self.registry.kinds, now, limit)
        # What has become uncertain since the providers were asked has its turn when they have been asked about it, too.
        due = [n for n in found if n.id in asked or not self._can_ask(n)]
        verdicts = [(n, self._verdict(n, (), now)) for n in due]
        yield from moved(self.store, [verdict for _, verdict in verdicts if isinstance(verdict, Move)])
        looks = [(n.id, n.version, verdict) for n, verdict in verdicts if isinstance(verdict, datetime)]
        if looks:
            yield from self.store.postpone(looks)
        return len(found)

    def _verdict(self, n: Notification, evidence: Sequence[Evidence], now: datetime) -> Move | datetime:
        return reconcile(n, evidence, self.registry.kinds.get(n.kind), self.registry.policy(n.channel), now, self.by)
