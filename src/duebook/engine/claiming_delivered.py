"""The hand of a lane that serves a broker: claims by the ids it was delivered, and sweeps the store for what was lost.

The sweep is what makes a broker a convenience. It comes every `sweep_seconds` and goes on while it finds a full
measure and nothing else waits; while the broker is silent, or a suspect waits for its turn, the lane lives by it.

Brokers count in whole seconds, so they are asked for an id a little before it is due. What comes early stays in the
inbox until its moment.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..domain.notification import Notification
from ..domain.publication import EARLY
from ..ports import Plan
from .claiming import Claimer, Held
from .inbox import Inbox

MOMENT_SECONDS = 0.01
"""What becomes due within this time of one another is claimed together."""


class DeliveredClaimer(Claimer):
    _sweeping = True
    _sweep_at = -1e9

    def __init__(self, inbox: Inbox, *args: Any) -> None:
        super().__init__(*args)
        self.inbox = inbox

    async def claim(self, room: int, empty: bool) -> list[Held]:
        monotonic = self.clock.monotonic()
        self.inbox.ripen(self.clock.now())
        if self._sweeps(monotonic):
            held = await super().claim(room, empty)
            self._sweeping = bool(held) and self.appetite.certain_of_more
            self._sweep_at = monotonic + self.settings.sweep_seconds
            # What was delivered meanwhile must not wait for what the sweep expects next.
            self._look_again(monotonic, at_once=self._sweeping)
            return held
        self.appetite.rest(monotonic, max(0.0, self._sweep_at - monotonic))
        if not self.inbox:
            self._look_again(monotonic)
            return []
        await self._read_controls(monotonic)
        room = await self._afford(await self._permitted(room, monotonic))
        return await self._claim_received(room) if room else []

    def _sweeps(self, monotonic: float) -> bool:
        if self.inbox.silent or self.appetite.suspects or monotonic >= self._sweep_at:
            return True
        return self._sweeping and not self.inbox

    def _look_again(self, monotonic: float, *, at_once: bool = False) -> None:
        """At once if anything is at hand, or when the next early one is due."""
        seconds = self.settings.sweep_seconds
        if self.inbox or at_once:
            seconds = 0.0
        elif self.inbox.next_at is not None:
            seconds = min(seconds, max(MOMENT_SECONDS, (self.inbox.next_at - self.clock.now()).total_seconds()))
        self.appetite.expect(seconds, monotonic)

    async def _claim_received(self, room: int) -> list[Held]:
        monotonic = self.clock.monotonic()
        taken = self.inbox.take(room)
        try:
            found, early = await self.database.run(self._claim_delivered({one.delivery.id for one in taken}))
        except BaseException:
            self.inbox.put_back(taken)
            raise
        self._tokens -= len(found)
        done = []
        for one in taken:
            if one.delivery.id in early:
                self.inbox.keep(one, early[one.delivery.id])
            else:
                done.append(one)
        self.inbox.finish(done)
        self._look_again(monotonic)
        return await self._hold(found, monotonic)

    def _claim_delivered(self, ids: set[int]) -> Plan[tuple[list[Notification], dict[int, datetime]]]:
        """Claim what is due; answers that, and when those are due that came a little early."""
        now = self.clock.now()
        until = now + self.settings.lease
        found = yield from self.store.claim_received(self.policy.name, self.kinds, ids, now, until, self.holder)
        early: dict[int, datetime] = {}
        if others := ids - {n.id for n in found}:
            early = yield from self.store.read_due_between(others, now, now + EARLY)
            if hasty := others - early.keys():
                yield from self.store.unpublish(hasty, now)
        return found, early
