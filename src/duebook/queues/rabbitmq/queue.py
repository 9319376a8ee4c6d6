"""The queue on RabbitMQ: what each verb means there, and what becomes of a broken connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from importlib.util import find_spec
from urllib.parse import urlsplit

from ...domain.policy import checked_name
from ...errors import InvalidInput, MissingExtra, QueueUnavailable
from ...ports.queue import Delivery, QueueHealth
from ..address import place
from ..message import batches, checked_hold, checked_queue, decode, encode, whole_seconds
from . import ladder
from .link import ANSWER_SECONDS, Link, connect

_CLOSE_SECONDS = 5.0
_BATCH = 500
"""How many are confirmed within one time limit."""


class RabbitmqQueue:
    """Carries ids by RabbitMQ 3.10 or newer, in a durable quorum queue for each name; what is published is confirmed.

    A delay passes through seventeen queues that all names share (see `ladder`); the longest is a little over 36 hours.

    `url`: `amqp://` or `amqps://`, with user, password and virtual host as RabbitMQ writes them
    (https://www.rabbitmq.com/docs/uri-spec). `prefix`: begins the names of all queues and exchanges. `hold_seconds`:
    for how long a message that was received is nobody else's; a connection that breaks gives its own back at once.

    What is none of ours goes to the queue `<prefix>.aside`, which keeps the latest thousand. So does what RabbitMQ 4
    has delivered twenty times in vain, which is a limit of its own.

    Raises InvalidInput for settings that cannot work and MissingExtra without aio-pika.
    """

    max_delay: timedelta | None = ladder.LONGEST

    def __init__(self, url: str, *, prefix: str = "duebook", hold_seconds: int = 60) -> None:
        if find_spec("aio_pika") is None:
            raise MissingExtra("a queue on RabbitMQ", "rabbitmq")
        self._url, self._place = url, _place(url)
        self._prefix = checked_name("prefix", prefix)
        self._hold_seconds = checked_hold(hold_seconds)
        self._link: Link | None = None
        self._connecting = asyncio.Lock()

    def __repr__(self) -> str:
        return f"RabbitmqQueue({self._place!r}, prefix={self._prefix!r})"

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        checked_queue(name)
        seconds = whole_seconds(delay, self.max_delay)
        for some in batches(ids, _BATCH):
            async with self._linked() as link:
                await link.publish(name, [encode(id) for id in some], seconds)

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        checked_queue(name)
        async with self._linked(wait_seconds) as link:
            deliveries = []
            for message in await link.receive(name, most, wait_seconds):
                id = decode(message.body)
                if id is not None:
                    deliveries.append(Delivery(id, message))
                elif link.release(message):
                    await message.reject()
            return deliveries

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._linked() as link:
            for delivery in deliveries:
                if link.release(delivery.handle):
                    await delivery.handle.ack()

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._linked() as link:
            await link.give_back(delivery.handle for delivery in deliveries)

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._linked() as link:
            for delivery in deliveries:
                if link.release(delivery.handle):
                    link.hold(delivery.handle)

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        try:
            async with self._linked() as link:
                return QueueHealth(
                    reachable=True, detail=f"RabbitMQ at {self._place}", set_aside=await link.count_aside()
                )
        except QueueUnavailable as error:
            return QueueHealth(reachable=False, detail=str(error))

    async def close(self) -> None:
        if (link := self._link) is not None:
            self._link = None
            await _closed(link)

    @asynccontextmanager
    async def _linked(self, wait_seconds: float = 0) -> AsyncIterator[Link]:
        """Yield a connection that works, and forget one that turns out not to. Raises QueueUnavailable."""
        from aio_pika.exceptions import CONNECTION_EXCEPTIONS

        link: Link | None = None
        try:
            async with asyncio.timeout(wait_seconds + ANSWER_SECONDS):
                link = await self._opened()
                yield link
        except CONNECTION_EXCEPTIONS as error:  # TimeoutError is an OSError
            if link is not None:
                await self._forget(link)
            raise QueueUnavailable(f"RabbitMQ at {self._place}: {_reason(error)}") from None

    async def _opened(self) -> Link:
        async with self._connecting:
            if self._link is None or not self._link.open:
                if self._link is not None:
                    await self._forget(self._link)
                self._link = await connect(self._url, self._prefix, self._hold_seconds)
            return self._link

    async def _forget(self, link: Link) -> None:
        if self._link is link:
            self._link = None
        await _closed(link)


async def _closed(link: Link) -> None:
    with suppress(Exception):
        await asyncio.wait_for(link.close(), _CLOSE_SECONDS)


def _place(url: str) -> str:
    """Return what of a URL may be shown. Raises InvalidInput for one that is not RabbitMQ's."""
    shown = place(url)
    if urlsplit(url).scheme not in {"amqp", "amqps"} or not urlsplit(url).hostname:
        raise InvalidInput("url", f"{shown!r} is not RabbitMQ's: write amqp://user:password@host:5672/vhost")
    return shown


def _reason(error: BaseException) -> str:
    return str(error) or ("no answer" if isinstance(error, TimeoutError) else type(error).__name__)
