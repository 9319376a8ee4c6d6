"""Brokers that do as they are told, by the test's own clock."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duebook.errors import QueueUnavailable
from duebook.ports import Delivery, Queue, QueueHealth
from tests.support.clock import Clock


@dataclass
class ClockQueue:
    """A broker in the test's hand: delivers by its clock, and is down when told to be. `mute`: it takes messages and
    does not say so."""

    clock: Clock
    max_delay: timedelta | None = None
    down: bool = False
    mute: bool = False
    waiting: list[tuple[datetime, str, int]] = field(default_factory=list)
    held: list[tuple[str, int]] = field(default_factory=list)
    published: list[tuple[str, int, timedelta]] = field(default_factory=list)

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        self._answer()
        self.published += [(name, id, delay) for id in ids]
        self.waiting += [(self.clock.now() + delay, name, id) for id in ids]
        if self.mute:
            raise QueueUnavailable("it took them and did not say so")

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        self._answer()
        now = self.clock.now()
        found = [one for one in sorted(self.waiting) if one[1] == name and one[0] <= now][:most]
        for one in found:
            self.waiting.remove(one)
            self.held.append((name, one[2]))
        return [Delivery(id, (name, id)) for _, name, id in found]

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        self._answer()
        for delivery in deliveries:
            self.held.remove(delivery.handle)

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self.ack(name, deliveries)
        self.waiting += [(self.clock.now(), name, delivery.id) for delivery in deliveries]

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        self._answer()

    async def health(self) -> QueueHealth:
        return QueueHealth(not self.down, "down" if self.down else "up")

    async def close(self) -> None: ...

    def _answer(self) -> None:
        if self.down:
            raise QueueUnavailable("it is down")


class HostileQueue:
    """A transport that loses, doubles, delays and reorders what is published through it, by a seed."""

    def __init__(self, inner: Queue, seed: int, lose: float = 0.3, double: float = 0.3, late: float = 0.3) -> None:
        self.inner = inner
        self.max_delay = inner.max_delay
        self.lost = self.doubled = 0
        self._random = random.Random(seed)
        self._lose, self._double, self._late = lose, double, late

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        for id in sorted(ids, key=lambda _: self._random.random()):
            if self._random.random() < self._lose:
                self.lost += 1
                continue
            copies = 1 + (self._random.random() < self._double)
            self.doubled += copies - 1
            for _ in range(copies):
                later = timedelta(seconds=self._random.randint(1, 3)) * (self._random.random() < self._late)
                await self.inner.publish(name, [id], delay + later)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
