"""The queue on Azure Service Bus, over AMQP.

https://learn.microsoft.com/azure/service-bus-messaging/ (message-transfers-locks-settlement, message-sequencing)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from ..clock import SystemClock
from ..domain.policy import checked_name
from ..errors import InvalidInput, MissingExtra, QueueUnavailable
from ..ports.queue import Delivery, QueueHealth
from .message import batches, checked_queue, decode, encode, whole_seconds

if TYPE_CHECKING:
    from azure.servicebus import ServiceBusReceivedMessage
    from azure.servicebus.aio import ServiceBusReceiver, ServiceBusSender
    from azure.servicebus.exceptions import ServiceBusError

_BATCH = 500
"""Messages in one request: well under the 256 kB that every tier takes."""

_TURN_SECONDS = 0.2
"""For how long `receive` keeps a link to itself: acknowledgements of the same queue wait for that long, and for the
SDK's read of the socket, which takes as long again."""

_SHORTEST_TURN_SECONDS = 0.1
_ANSWER_SECONDS = 10.0
_COUNTED = 1_000
_NOT_FOUND = 404
_NOT_OURS = "NotOfDuebook"

Handler = TypeVar("Handler", bound="ServiceBusSender | ServiceBusReceiver")


class ServiceBusQueue:
    """Carries ids by Azure Service Bus. A delay is a scheduled enqueue time, told by this machine's clock; there is no
    longest one.

    The queue of a name is `<prefix>.<name>`, and it has to exist: making one takes the right to manage the namespace,
    which a worker should not have. This class needs Send and Listen. A message is held for the lock duration of its
    queue, at most five minutes. Once it has been delivered as often as the queue's maximum delivery count says, the
    broker dead-letters it by itself: give the queue a high one, and no sessions.

    `connection_string`: that of the namespace, without an EntityPath, as the portal shows it. `prefix`: begins the
    names of all queues.

    What is none of ours goes to the dead-letter queue of its queue, which never empties itself. `health` counts it
    there, up to a thousand for each queue that was received from, without what the broker dead-lettered by itself.

    Raises InvalidInput for settings that cannot work and MissingExtra without azure-servicebus.
    """

    max_delay: timedelta | None = None

    def __init__(self, connection_string: str, *, prefix: str = "duebook") -> None:
        try:
            from azure.servicebus.aio import ServiceBusClient
        except ImportError:
            raise MissingExtra("a queue on Azure Service Bus", "servicebus") from None
        self._place = _place(connection_string)
        self._prefix = checked_name("prefix", prefix)
        self._clock = SystemClock()
        self._client = ServiceBusClient.from_connection_string(
            connection_string, retry_total=1, retry_backoff_factor=0.1, try_timeout=_ANSWER_SECONDS
        )
        self._senders: dict[str, _Link[ServiceBusSender]] = {}
        self._receivers: dict[str, _Link[ServiceBusReceiver]] = {}

    def __repr__(self) -> str:
        return f"ServiceBusQueue({self._place!r}, prefix={self._prefix!r})"

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        from azure.servicebus import ServiceBusMessage

        queue, seconds = self._queue(name), whole_seconds(delay, self.max_delay)
        due = self._clock.now() + timedelta(seconds=seconds) if seconds else None
        async with self._sending(queue) as sender:
            for batch in batches(ids, _BATCH):
                messages = [ServiceBusMessage(encode(id), content_type="application/json") for id in batch]
                if due:
                    await sender.schedule_messages(messages, due)
                else:
                    await sender.send_messages(messages)

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        queue = self._queue(name)
        now = asyncio.get_running_loop().time
        until = now() + wait_seconds
        while True:
            turn_seconds = max(_SHORTEST_TURN_SECONDS, min(_TURN_SECONDS, until - now()))
            async with self._receiving(queue) as receiver:
                messages = await receiver.receive_messages(most, max_wait_time=turn_seconds)
                deliveries = await _sorted_out(receiver, messages)
            if deliveries or now() >= until:
                return deliveries

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._receiving(self._queue(name)) as receiver:
            await _each(deliveries, receiver.complete_message)

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._receiving(self._queue(name)) as receiver:
            await _each(deliveries, receiver.abandon_message)

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        async with self._receiving(self._queue(name)) as receiver:
            await _each(deliveries, receiver.renew_message_lock)

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        # The queue that is named like the prefix alone need not exist: that it does not is an answer, too.
        needed = {self._queue(name) for name in names} | self._receivers.keys()
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                look = partial(self._set_aside, needed=needed)
                counts = await asyncio.gather(*map(look, sorted(needed) or [self._prefix]), return_exceptions=True)
        except TimeoutError:
            return QueueHealth(reachable=False, detail=f"{self._place} does not answer")
        if wrong := [str(count) for count in counts if isinstance(count, QueueUnavailable)]:
            return QueueHealth(reachable=False, detail="; ".join(wrong))
        set_aside = sum(_raised(count) for count in counts)
        return QueueHealth(reachable=True, detail=f"Azure Service Bus at {self._place}", set_aside=set_aside)

    async def close(self) -> None:
        # Closing a link takes the SDK a second.
        await asyncio.gather(
            *[link.close() for link in self._senders.values()],
            *[link.close() for link in self._receivers.values()],
        )

    def _queue(self, name: str) -> str:
        return f"{self._prefix}.{checked_queue(name)}"

    @asynccontextmanager
    async def _sending(self, queue: str) -> AsyncIterator[ServiceBusSender]:
        link = self._senders.setdefault(queue, _Link(partial(self._client.get_queue_sender, queue)))
        with self._translated(queue):
            async with link.borrowed() as sender:
                yield sender

    @asynccontextmanager
    async def _receiving(self, queue: str) -> AsyncIterator[ServiceBusReceiver]:
        link = self._receivers.setdefault(queue, _Link(partial(self._client.get_queue_receiver, queue)))
        with self._translated(queue):
            async with link.borrowed() as receiver:
                yield receiver

    async def _set_aside(self, queue: str, needed: Collection[str]) -> int:
        from azure.servicebus import ServiceBusSubQueue
        from azure.servicebus.exceptions import ServiceBusError

        dead = self._client.get_queue_receiver(queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER)
        with self._translated(queue):
            try:
                async with dead:
                    messages = await dead.peek_messages(_COUNTED)
            except ServiceBusError as error:
                if _is_missing(error) and queue not in needed:
                    return 0
                raise
        return sum(message.dead_letter_reason == _NOT_OURS for message in messages)

    @contextmanager
    def _translated(self, queue: str) -> Iterator[None]:
        from azure.servicebus.exceptions import ServiceBusError

        try:
            yield
        except (ServiceBusError, OSError) as error:
            if isinstance(error, ServiceBusError) and _is_missing(error):
                raise QueueUnavailable(
                    f"there is no queue {queue!r} at {self._place}: make it, with a lock duration of a minute and a "
                    "high maximum delivery count"
                ) from error
            raise QueueUnavailable(f"queue {queue!r} at {self._place}: {error}") from error


class _Link(Generic[Handler]):
    """A sender or receiver of the SDK: opened when it is first needed, lent to one caller at a time, as it cannot serve
    two, and given up when one was left in the middle of something."""

    def __init__(self, make: Callable[[], Handler]) -> None:
        self._make = make
        self._lock = asyncio.Lock()
        self._opened = AsyncExitStack()
        self._handler: Handler | None = None

    @asynccontextmanager
    async def borrowed(self) -> AsyncIterator[Handler]:
        async with self._lock:
            try:
                yield await self._open()
            except BaseException:
                await self._give_up()
                raise

    async def close(self) -> None:
        async with self._lock:
            await self._give_up()

    async def _open(self) -> Handler:
        if self._handler is None:
            handler = self._make()
            # One that could not be opened has to be closed, too.
            self._opened.push_async_callback(handler.close)
            await handler.__aenter__()
            self._handler = handler
        return self._handler

    async def _give_up(self) -> None:
        self._handler = None
        await self._opened.aclose()


def _place(connection_string: str) -> str:
    """Return the host of a connection string, without what must stay secret."""
    from azure.servicebus import parse_connection_string

    try:
        properties = parse_connection_string(connection_string)
    except ValueError as error:
        raise InvalidInput("connection_string", f"cannot be used: {error}") from None
    if properties.entity_path:
        raise InvalidInput("connection_string", "is that of one queue (EntityPath); use that of the namespace")
    return properties.fully_qualified_namespace


def _is_missing(error: ServiceBusError) -> bool:
    """Whether it says that the queue does not exist: to whoever shows a token for it, or else when a link is opened."""
    from azure.servicebus.exceptions import MessagingEntityNotFoundError

    status = getattr(error.inner_exception, "status_code", None)
    return isinstance(error, MessagingEntityNotFoundError) or status == _NOT_FOUND


def _raised(count: int | BaseException) -> int:
    if isinstance(count, BaseException):
        raise count
    return count


async def _each(deliveries: Iterable[Delivery], settle: Callable[[ServiceBusReceivedMessage], Awaitable[Any]]) -> None:
    from azure.servicebus.exceptions import MessageAlreadySettled, MessageLockLostError

    for delivery in deliveries:
        with suppress(MessageAlreadySettled, MessageLockLostError):
            await settle(delivery.handle)


async def _sorted_out(receiver: ServiceBusReceiver, messages: Iterable[ServiceBusReceivedMessage]) -> list[Delivery]:
    """Return what is ours, and dead-letter what is not."""
    deliveries = []
    for message in messages:
        id = decode(_body(message))
        if id is None:
            await receiver.dead_letter_message(message, _NOT_OURS, 'the body is not {"id": <number>}')
        else:
            deliveries.append(Delivery(id, message))
    return deliveries


def _body(message: ServiceBusReceivedMessage) -> bytes:
    """Return the bytes of a message, or none for one that is a value or a sequence of AMQP."""
    from azure.servicebus.amqp import AmqpMessageBodyType

    return b"".join(message.body) if message.body_type is AmqpMessageBodyType.DATA else b""
