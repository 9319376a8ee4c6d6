"""The hand of a lane that serves a broker: claims by the ids it was delivered, and sweeps the store for what was lost.

The sweep is what makes a broker a convenience. It comes every `sweep_seconds` and goes on while it finds a full
measure and nothing else waits; while the broker is silent, or a suspect waits for its turn, the lane lives by it.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ..domain.notification import Notification
from ..domain.policy import Priority
from ..errors import QueueUnavailable
from ..ports import Delivery, Plan
from .claiming import Claimer, Held
from .inbox import Inbox

log = logging.getLogger("duebook.lane")


class DeliveredClaimer(Claimer):
    _sweeping = True
    _sweep_at = -1e9

    def __init__(self, inbox: Inbox, *args: Any) -> None:
        super().__init__(*args)
        self.inbox = inbox

    async def claim(self, room: int, empty: bool) -> list[Held]:
        monotonic = self.clock.monotonic()
        if self._sweeps(monotonic):
            held = await super().claim(room, empty)
            self._sweeping = bool(held) and self.appetite.certain_of_more
            self._sweep_at = monotonic + self.settings.sweep_seconds
            # What was delivered meanwhile must not wait for what the sweep expects next.
            self.appetite.expect(0.0 if self.inbox or self._sweeping else self.settings.sweep_seconds, monotonic)
            return held
        self.appetite.rest(monotonic, max(0.0, self._sweep_at - monotonic))
        if not self.inbox:
            return []
        await self._read_controls(monotonic)
        room = await self._afford(await self._permitted(room, monotonic))
        return await self._claim_received(room, monotonic) if room else []

    def _sweeps(self, monotonic: float) -> bool:
        if self.inbox.silent or self.appetite.suspects or monotonic >= self._sweep_at:
            return True
        return self._sweeping and not self.inbox

    async def _claim_received(self, room: int, monotonic: float) -> list[Held]:
        taken = self.inbox.take(room)
        try:
            found = await self.database.run(self._claim_delivered({delivery.id for _, delivery in taken}))
        except BaseException:
            self.inbox.give_back(taken)
            raise
        self._tokens -= len(found)
        await self._acknowledge(taken)
        # There may be more where these came from.
        self.appetite.expect(0.0 if self.inbox else self.settings.sweep_seconds, monotonic)
        return await self._hold(found, monotonic)

    def _claim_delivered(self, ids: set[int]) -> Plan[list[Notification]]:
        now = self.clock.now()
        until = now + self.settings.lease
        found = yield from self.store.claim_received(self.policy.name, self.kinds, ids, now, until, self.holder)
        if others := ids - {n.id for n in found}:
            yield from self.store.unpublish(others, now)
        return found

    async def _acknowledge(self, taken: Sequence[tuple[Priority, Delivery]]) -> None:
        """Be done with the messages, whatever became of their ids: what is left of them is in the store."""
        by_class: dict[Priority, list[Delivery]] = defaultdict(list)
        for priority, delivery in taken:
            by_class[priority].append(delivery)
        for priority, deliveries in by_class.items():
            try:
                await self.inbox.queue.ack(self.inbox.name(priority), deliveries)
            except QueueUnavailable as error:
                # They come again and find nothing to do.
                log.info("lane %s could not acknowledge %d messages: %s", self.policy.name, len(deliveries), error)
