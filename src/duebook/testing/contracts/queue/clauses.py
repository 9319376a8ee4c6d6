"""How a clause of the contract becomes a test: it is tried at a broker, with a queue's name of its own."""

from __future__ import annotations

import asyncio
import secrets
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, TypeVar
from unittest import SkipTest

from ....errors import InvalidInput, QueueUnavailable
from ....ports import Delivery, Queue

R = TypeVar("R")

SECRET = "hunter2-and-more"
"""The password with which `unreachable` is to be made. It must not be seen again."""

AT_ONCE = timedelta(0)
PATIENCE_SECONDS = 30.0
SOON_SECONDS = 5.0
"""How long the clauses wait for what should be there at once: the machine may be busy."""

MOMENT_SECONDS = 0.5
"""How long they wait to see that nothing comes."""

HOLD_SECONDS = 2
LONG_HOLD_SECONDS = 60
LATE_SECONDS = 1.5
CLOCK_SECONDS = 0.01
"""What the clocks of a broker and of an event loop may differ by within a few seconds."""

GRACE_SECONDS = 2.0


@dataclass(frozen=True)
class Broker:
    """A broker that runs.

    `connect`: makes a queue of yours that talks to it, with these `hold_seconds`. `post`: puts a text into the queue of
    a name, in the way that a program which is not duebook would. `restart`: stops the broker and starts it again;
    without it the clauses about that are skipped.
    """

    connect: Callable[[int], Queue]
    post: Callable[[str, str], Awaitable[object]]
    restart: Callable[[], Awaitable[object]] | None = None


@dataclass
class Trial:
    """One clause at a broker. `name`: a queue that nobody else uses."""

    broker: Broker
    name: str = field(default_factory=lambda: f"contract-{secrets.token_hex(6)}")
    opened: list[Queue] = field(default_factory=list)

    def connect(self, hold_seconds: int = LONG_HOLD_SECONDS) -> Queue:
        """Return another queue at the broker; it is closed when the clause ends."""
        queue = self.broker.connect(hold_seconds)
        self.opened.append(queue)
        return queue

    def restart(self) -> Callable[[], Awaitable[object]]:
        """Return how the broker is restarted; without a way the clause is skipped, and says so."""
        if self.broker.restart is None:
            raise SkipTest("this Broker has no `restart`")
        return self.broker.restart

    async def publish(self, queue: Queue, *ids: int, seconds: float = 0) -> None:
        await queue.publish(self.name, ids, timedelta(seconds=seconds))

    async def receive(self, queue: Queue, most: int, wait_seconds: float) -> list[Delivery]:
        return await queue.receive(self.name, most, wait_seconds)

    async def gather(self, queue: Queue, count: int, wait_seconds: float = SOON_SECONDS) -> list[Delivery]:
        """Receive until `count` have come, or for `wait_seconds`; a broker may hand out less than it has."""
        found: list[Delivery] = []
        end = now() + wait_seconds
        while len(found) < count and (left := end - now()) > 0:
            found += await self.receive(queue, count - len(found), left)
        return found


class Contract(ABC):
    """Gives each trial a broker."""

    durable: ClassVar[bool] = True

    @abstractmethod
    def open(self) -> AbstractAsyncContextManager[Broker]:
        """Return a broker that runs; it may be the same for all clauses. Each clause enters it in its own loop."""

    @abstractmethod
    def unreachable(self) -> Queue:
        """Return a queue at an address where nobody answers, with SECRET as the password in its URL."""


Check = Callable[[Any, Trial], Coroutine[Any, Any, None]]


def clause(check: Check) -> Callable[[Contract], None]:
    """Make a plain test method of a check that is awaited."""

    def test(contract: Contract) -> None:
        asyncio.run(_tried(contract, check))

    test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
    return test


async def _tried(contract: Contract, check: Check) -> None:
    async with contract.open() as broker:
        trial = Trial(broker)
        try:
            await check(contract, trial)
        finally:
            for queue in trial.opened:
                await queue.close()


def now() -> float:
    """Return the time of the event loop's clock."""
    return asyncio.get_running_loop().time()


async def refused(field: str, asking: Awaitable[object]) -> None:
    """Expect InvalidInput that names the field."""
    try:
        await asking
    except InvalidInput as error:
        named = error.field
    else:
        raise AssertionError(f"nothing was said against its {field}")
    assert named == field, f"the error names the field {named!r} instead of {field!r}"


async def unavailable(asking: Awaitable[object]) -> str:
    """Expect QueueUnavailable, and return what it says."""
    try:
        await asking
    except QueueUnavailable as error:
        return str(error)
    raise AssertionError("nobody answers at the address, and no QueueUnavailable was raised")


async def persistently(make: Callable[[], Awaitable[R]]) -> R:
    """Ask again while the broker is away."""
    end = now() + PATIENCE_SECONDS
    while True:
        try:
            return await make()
        except QueueUnavailable:
            if now() > end:
                raise
            await asyncio.sleep(0.1)
