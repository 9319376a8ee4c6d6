"""A broker that loses, doubles, delays and reorders while it may, fails without saying what it took, and hands out
again what was not acknowledged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from duebook.errors import QueueUnavailable
from duebook.ports import Delivery, QueueHealth
from tests.sim.kernel import Dead, Kernel, Point, Process, Until

HOLD_SECONDS = 8.0


@dataclass(slots=True, eq=False)
class Parcel:
    """A message. `at`: the second from which it is delivered; being held only moves it."""

    at: float
    queue: str
    id: int


class Broker:
    """What all processes share. `calm`: from now on it does what a broker should."""

    def __init__(self, kernel: Kernel, seed: int) -> None:
        self.kernel = kernel
        self.calm = False
        self.parcels: list[Parcel] = []
        self.delivered = self.lost = self.doubled = 0
        self._draw = Random(f"{seed}/broker")

    def fails(self) -> bool:
        return not self.calm and self._draw.random() < 0.05

    def take(self, queue: str, id: int, delay: float) -> None:
        copies, late = 1, 0.0
        if not self.calm:
            copies = self._draw.choices((0, 1, 2), (3, 4, 3))[0]
            late = self._draw.choice((0.0, 0.0, 1.0, 4.0))
            self.lost += copies == 0
            self.doubled += copies == 2
        self.parcels += [Parcel(self.kernel.elapsed + delay + late, queue, id) for _ in range(copies)]

    def due(self, queue: str) -> list[Parcel]:
        return [parcel for parcel in self.parcels if parcel.queue == queue and parcel.at <= self.kernel.elapsed]


class SimQueue:
    """Implements ports.Queue for one process."""

    max_delay: timedelta | None = timedelta(seconds=60)

    def __init__(self, broker: Broker, process: Process) -> None:
        self.broker = broker
        self.process = process

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await self._edge("publish:before")
        for id in ids:
            self.broker.take(name, id, delay.total_seconds())
        await self._edge("publish:after")

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        await self._edge("receive:before")
        broker = self.broker
        await Until(lambda: bool(broker.due(name)), broker.kernel.elapsed + wait_seconds)
        found = broker.due(name)[:most]
        for parcel in found:
            parcel.at = broker.kernel.elapsed + HOLD_SECONDS
        broker.delivered += len(found)
        await self._edge("receive:after")
        return [Delivery(parcel.id, parcel) for parcel in found]

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._edge("ack:before")
        for delivery in deliveries:
            if delivery.handle in self.broker.parcels:
                self.broker.parcels.remove(delivery.handle)

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for delivery in deliveries:
            delivery.handle.at = self.broker.kernel.elapsed

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None: ...

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        return QueueHealth(True, "simulated")

    async def close(self) -> None: ...

    async def _edge(self, name: str) -> None:
        await Point(name)
        if not self.process.alive:
            raise Dead
        if self.broker.fails():
            raise QueueUnavailable("simulated")
