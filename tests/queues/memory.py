"""A broker in memory that keeps the contract, and an event loop that does not wait: it moves its clock."""

import asyncio
import selectors
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import count

from duebook.ports import Delivery, QueueHealth
from duebook.queues.message import checked_queue, decode, encode, whole_seconds

A_DAY = timedelta(days=1)


class HastyLoop(asyncio.SelectorEventLoop):
    """Moves its clock to where it would have waited until."""

    def __init__(self) -> None:
        super().__init__(HastySelector(self))
        self.elapsed = 0.0

    def time(self) -> float:
        return self.elapsed


class HastySelector(selectors.SelectSelector):
    def __init__(self, loop: HastyLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        found = super().select(0)
        if not found:
            assert timeout is not None, "everybody waits for ever"
            self._loop.elapsed += max(timeout, 0.0)
        return found


@dataclass
class Stored:
    """A message, and the loop's time from which on it can be received. `handle`: changes with each delivery."""

    name: str
    body: str
    visible_at: float
    handle: int = 0


class Memory:
    """A broker. `stored`: what is neither acknowledged nor set aside, in the order of publication."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        self.set_aside = 0
        self.handles = count(1)
        self.changed = asyncio.Event()

    async def post(self, name: str, body: str) -> None:
        self.put(name, body, 0)

    def put(self, name: str, body: str, seconds: float) -> None:
        self.stored.append(Stored(name, body, now() + seconds))
        self.change()

    def visible(self, name: str) -> list[Stored]:
        return [one for one in self.stored if one.name == name and one.visible_at <= now()]

    def known(self, deliveries: Sequence[Delivery]) -> list[Stored]:
        handles = {delivery.handle for delivery in deliveries}
        return [one for one in self.stored if one.handle in handles]

    def change(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def wait(self, end: float) -> None:
        moments = [one.visible_at for one in self.stored if one.visible_at > now()]
        with suppress(TimeoutError):
            async with asyncio.timeout_at(min([end, *moments])):
                await self.changed.wait()


class InMemory:
    """A queue that keeps the contract."""

    max_delay: timedelta | None = A_DAY

    def __init__(self, memory: Memory, hold_seconds: int) -> None:
        self.memory, self.hold_seconds = memory, hold_seconds

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        seconds = whole_seconds(delay, self.max_delay)
        for id in ids:
            self.memory.put(checked_queue(name), encode(id).decode(), seconds)

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        end = now() + wait_seconds
        while not (found := self.take(checked_queue(name), most)) and now() < end:
            await self.memory.wait(end)
        return found

    def take(self, name: str, most: int) -> list[Delivery]:
        read = [(decode(one.body.encode()), one) for one in self.memory.visible(name)]
        for foreign in [one for id, one in read if id is None]:
            self.set_aside(foreign)
        ours = [(id, one) for id, one in read if id is not None][:most]
        for _, one in ours:
            one.visible_at, one.handle = now() + self.hold_seconds, next(self.memory.handles)
        return [Delivery(id, one.handle) for id, one in ours]

    def set_aside(self, one: Stored) -> None:
        self.memory.stored.remove(one)
        self.memory.set_aside += 1

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for one in self.memory.known(deliveries):
            self.memory.stored.remove(one)

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for one in self.memory.known(deliveries):
            one.visible_at = now()
        self.memory.change()

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for one in self.memory.known(deliveries):
            one.visible_at = now() + self.hold_seconds

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        return QueueHealth(True, "in memory", self.memory.set_aside)

    async def close(self) -> None: ...


def now() -> float:
    return asyncio.get_running_loop().time()
