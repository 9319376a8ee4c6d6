"""Brokers that do as they are told, by the test's own clock."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from duebook.errors import QueueUnavailable
from duebook.ports import Delivery, QueueHealth


class Now(Protocol):
    def now(self) -> datetime: ...


@dataclass
class ClockQueue:
    """A broker in the test's hand: delivers by its clock, and is down when told to be. `mute`: it takes messages and
    does not say so. `missing`: the queues that it has not."""

    clock: Now
    max_delay: timedelta | None = None
    down: bool = False
    mute: bool = False
    missing: set[str] = field(default_factory=set)
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

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        lacking = sorted(self.missing & set(names))
        return QueueHealth(not self.down and not lacking, f"down: {self.down}, missing: {lacking}")

    async def close(self) -> None: ...

    def _answer(self) -> None:
        if self.down:
            raise QueueUnavailable("it is down")


@dataclass
class AwaitedQueue(ClockQueue):
    """One in whose `receive` a worker can wait, and of which a test can await what it was told."""

    told: asyncio.Event = field(default_factory=asyncio.Event)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, ids, delay)
        self.told.set()
        self.came.set()

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        with suppress(TimeoutError):
            async with asyncio.timeout(wait_seconds):
                while not (found := await super().receive(name, most, 0.0)):
                    await self.came.wait()
                    self.came.clear()
                return found
        return []

    async def until_told(self, count: int, seconds: float = 20.0) -> list[tuple[str, int, timedelta]]:
        """Wait until so many ids were published; answers them."""
        async with asyncio.timeout(seconds):
            while len(self.published) < count:
                self.told.clear()
                await self.told.wait()
        return self.published
