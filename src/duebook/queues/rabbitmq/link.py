"""One connection to RabbitMQ: what it has declared, and what it holds until somebody is done with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress
from math import ceil
from typing import TYPE_CHECKING, Any

from . import ladder

if TYPE_CHECKING:
    from aio_pika.abc import AbstractChannel, AbstractConnection, AbstractIncomingMessage, AbstractQueue

ANSWER_SECONDS = 10.0
"""For how long the broker may be silent before it counts as gone."""

_LEAST_HEARTBEAT_SECONDS = 10
_LARGEST_PREFETCH = 65_535


class Link:
    """A connection that is replaced, never mended: what it held, the broker then delivers to others.

    All methods raise what aio-pika raises. What was received and is not released within `hold_seconds` goes back.
    """

    def __init__(
        self, connection: AbstractConnection, channel: AbstractChannel, prefix: str, hold_seconds: int
    ) -> None:
        self._connection, self._channel = connection, channel
        self._prefix, self._hold_seconds = prefix, hold_seconds
        self._queues: dict[str, AbstractQueue] = {}
        self._consuming = asyncio.Lock()
        self._timers: dict[AbstractIncomingMessage, asyncio.TimerHandle] = {}
        self._returning: set[asyncio.Task[None]] = set()

    @property
    def open(self) -> bool:
        return not (self._connection.is_closed or self._channel.is_closed)

    async def count_aside(self) -> int:
        """Return how many messages stand apart."""
        queue = await ladder.declare_aside(self._channel, self._prefix)
        return queue.declaration_result.message_count or 0

    async def publish(self, name: str, bodies: Sequence[bytes], seconds: int) -> None:
        """Return when the broker has written down all of them."""
        from aio_pika import DeliveryMode, Message

        await self._queue(name)
        exchange = await self._channel.get_exchange(ladder.entrance(self._prefix, seconds), ensure=False)
        messages = (
            Message(body, content_type="application/json", delivery_mode=DeliveryMode.PERSISTENT) for body in bodies
        )
        key = ladder.routing_key(seconds, name)
        await asyncio.gather(*(exchange.publish(message, key) for message in messages))

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[AbstractIncomingMessage]:
        """Return what is there for a consumer that may get `most`, as soon as there is any."""
        queue = await self._queue(name)
        arrived: list[AbstractIncomingMessage] = []
        awake = asyncio.Event()

        async def keep(message: AbstractIncomingMessage) -> None:
            self.hold(message)
            arrived.append(message)
            awake.set()

        def wake(*_: Any) -> None:
            awake.set()

        async with self._consuming:  # a prefetch count is for the consumers that a channel starts after it
            await self._channel.set_qos(prefetch_count=min(most, _LARGEST_PREFETCH))
            consumer = await queue.consume(keep)
        self._channel.close_callbacks.add(wake)
        try:
            with suppress(TimeoutError):
                await asyncio.wait_for(awake.wait(), wait_seconds)
        except asyncio.CancelledError:
            with _where_it_lasts():
                await queue.cancel(consumer, timeout=ANSWER_SECONDS)
                await self.give_back(arrived)
            raise
        finally:
            self._channel.close_callbacks.remove(wake)
        await queue.cancel(consumer)  # the broker's answer comes behind all it had sent to this consumer
        return arrived

    async def give_back(self, messages: Iterable[AbstractIncomingMessage]) -> None:
        """Have those that are still held delivered again at once."""
        for message in messages:
            if self.release(message):
                await message.nack()

    def hold(self, message: AbstractIncomingMessage) -> None:
        """Hold a message for `hold_seconds` from now; RabbitMQ itself waits for as long as the connection lives."""
        self.release(message)
        loop = asyncio.get_running_loop()
        self._timers[message] = loop.call_later(self._hold_seconds, self._run_out, message)

    def release(self, message: AbstractIncomingMessage) -> bool:
        """Hold a message no longer. False if it was not held: it went back, or somebody is done with it."""
        timer = self._timers.pop(message, None)
        if timer is not None:
            timer.cancel()
        return timer is not None

    async def close(self) -> None:
        """Close it, and give back at once what it holds."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()
        await self._connection.close()

    async def _queue(self, name: str) -> AbstractQueue:
        if name not in self._queues:
            self._queues[name] = await ladder.declare_queue(self._channel, self._prefix, name)
        return self._queues[name]

    def _run_out(self, message: AbstractIncomingMessage) -> None:
        task = asyncio.get_running_loop().create_task(self._give_back_late(message))
        self._returning.add(task)
        task.add_done_callback(self._returning.discard)

    async def _give_back_late(self, message: AbstractIncomingMessage) -> None:
        with _where_it_lasts():
            await self.give_back([message])


def _where_it_lasts() -> suppress:
    """Ignore that a connection broke: the broker took back what it held."""
    from aio_pika.exceptions import CONNECTION_EXCEPTIONS

    return suppress(*CONNECTION_EXCEPTIONS)


async def connect(url: str, prefix: str, hold_seconds: int) -> Link:
    """Connect, and declare what all queues share. The broker gives up a worker whose machine vanished when it has not
    heard of it for `hold_seconds`, but not in less than ten."""
    import aio_pika

    heartbeat = max(_LEAST_HEARTBEAT_SECONDS, ceil(hold_seconds))
    connection = await aio_pika.connect(url, heartbeat=heartbeat, client_properties={"connection_name": "duebook"})
    try:
        channel = await connection.channel()
        await ladder.declare_all(channel, prefix)
    except BaseException:
        await connection.close()
        raise
    return Link(connection, channel, prefix, hold_seconds)
