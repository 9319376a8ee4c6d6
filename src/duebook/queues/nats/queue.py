"""The queue: which streams and subjects there are, and what is said to the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from ...domain.policy import checked_name
from ...errors import InvalidInput, MissingExtra, QueueUnavailable
from ...ports.queue import Delivery, QueueHealth
from ..address import place
from ..message import batches, checked_hold, checked_queue, decode, encode, whole_seconds
from .jetstream import NOT_FOUND, JetStream, Outgoing, Refused, connect

if TYPE_CHECKING:
    from nats.aio.msg import Msg

LEAST_RELEASE = (2, 12)
"""The first that keeps messages until their time."""

_CONSUMER = "duebook"
_IN_FLIGHT = 500
_SET_ASIDE_MESSAGES = 1_000
_SET_ASIDE_BYTES = 64 * 1024 * 1024


class _Names(NamedTuple):
    """How a queue is called on the server, where a dot would part a subject and is not allowed in a stream."""

    stream: str
    due: str
    later: str
    aside: str
    aside_stream: str

    @classmethod
    def of(cls, prefix: str, name: str) -> _Names:
        """Return names that differ wherever prefix or name do: neither may contain a tilde or an equals sign."""
        token = name.replace(".", "~")
        stream, aside_stream = f"{prefix.replace('.', '~')}={token}", _aside_stream(prefix)
        return cls(stream, f"{stream}.due", f"{stream}.later", f"{aside_stream}.{token}", aside_stream)


def _aside_stream(prefix: str) -> str:
    return f"{prefix.replace('.', '~')}~aside"


class NatsQueue:
    """Carries ids by NATS JetStream, a file stream with a work queue for each name. Needs a server of 2.12 or newer,
    which keeps a delayed message itself (https://github.com/nats-io/nats-architecture-and-design, ADR-51); there is no
    longest delay. A delay is counted by the server's clock.

    `url`: `nats://` or `tls://`, with user and password or token where they are needed. `prefix`: begins the names of
    all streams, so that several duebooks can share an account. `hold_seconds`: for how long a message that was received
    is nobody else's; workers on one queue have to agree on it, and the latest to connect decides.

    Streams are made when they are missing, with one replica, and otherwise left as they are: in a cluster raise
    `num_replicas` of each. What is none of ours goes to the stream `<prefix>~aside`, which keeps the
    latest thousand.

    Raises InvalidInput for settings that cannot work and MissingExtra without nats-py.
    """

    max_delay: timedelta | None = None

    def __init__(self, url: str, *, prefix: str = "duebook", hold_seconds: int = 60) -> None:
        if find_spec("nats") is None:
            raise MissingExtra("a queue on NATS", "nats")
        self._url, self._place = url, _place(url)
        self._prefix = checked_name("prefix", prefix)
        self._hold_seconds = checked_hold(hold_seconds)
        self._connection: JetStream | None = None
        self._connecting = asyncio.Lock()

    def __repr__(self) -> str:
        return f"NatsQueue({self._place!r}, prefix={self._prefix!r})"

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        names, seconds = _Names.of(self._prefix, checked_queue(name)), whole_seconds(delay, self.max_delay)
        async with self._prepared(names) as jetstream:
            due = await _server_time(jetstream, names) + timedelta(seconds=seconds) if seconds else None
            for batch in batches(ids, _IN_FLIGHT):
                await jetstream.publish([_outgoing(names, id, due) for id in batch])

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        names = _Names.of(self._prefix, checked_queue(name))
        consumer = f"{names.stream}.{_CONSUMER}"
        now = asyncio.get_running_loop().time
        until = now() + wait_seconds
        async with self._prepared(names) as jetstream:
            messages = await jetstream.pull(consumer, most)
            while not (ours := await _sorted_out(jetstream, names, messages)) and (left := until - now()) > 0:
                messages = await jetstream.pull(consumer, 1, left)
            return ours

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._settle(deliveries, b"+ACK")

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._settle(deliveries, b"-NAK")

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._settle(deliveries, b"+WPI")

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        try:
            async with self._connected() as jetstream:
                aside = await _described(jetstream, _aside_stream(self._prefix))
        except QueueUnavailable as error:
            return QueueHealth(reachable=False, detail=str(error))
        set_aside = aside["state"]["messages"] if aside else 0
        detail = f"NATS {_dotted(jetstream.release)} at {self._place}"
        return QueueHealth(reachable=True, detail=detail, set_aside=set_aside)

    async def close(self) -> None:
        if self._connection:
            await self._forget(self._connection)

    async def _settle(self, deliveries: Sequence[Delivery], word: bytes) -> None:
        async with self._connected() as jetstream:
            await jetstream.settle([delivery.handle for delivery in deliveries], word)

    @asynccontextmanager
    async def _prepared(self, names: _Names) -> AsyncIterator[JetStream]:
        """Like `_connected`, with the streams of one queue."""
        async with self._connected() as jetstream:
            if names.stream not in jetstream.prepared:
                await _prepare(jetstream, names, self._hold_seconds)
                jetstream.prepared.add(names.stream)
            yield jetstream

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[JetStream]:
        """Lend the connection. One that failed is given up: the next call makes another, and looks for the streams."""
        from nats.errors import Error

        jetstream = await self._open()
        try:
            yield jetstream
        except (Refused, Error, OSError, TimeoutError) as error:
            await self._forget(jetstream)
            raise QueueUnavailable(f"{self._place}: {error}") from error

    async def _open(self) -> JetStream:
        async with self._connecting:
            if self._connection is None or not self._connection.open:
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> JetStream:
        from nats.errors import Error

        try:
            jetstream = await connect(self._url)
        except (Error, OSError, TimeoutError) as error:
            raise QueueUnavailable(f"{self._place} cannot be reached: {error}") from error
        if jetstream.release < LEAST_RELEASE:
            await jetstream.close()
            raise QueueUnavailable(
                f"{self._place} is NATS {_dotted(jetstream.release)}, which keeps no message until its time: "
                f"use {_dotted(LEAST_RELEASE)} or newer"
            )
        return jetstream

    async def _forget(self, jetstream: JetStream) -> None:
        if self._connection is jetstream:
            self._connection = None
        await jetstream.close()


def _dotted(release: tuple[int, int]) -> str:
    return ".".join(map(str, release))


def _place(url: str) -> str:
    shown = place(url)
    if not shown.startswith(("nats://", "tls://")) or shown.endswith("//"):
        raise InvalidInput("url", "must be like nats://host:4222 or tls://host:4222")
    return shown


async def _prepare(jetstream: JetStream, names: _Names, hold_seconds: int) -> None:
    subjects = [names.due, f"{names.later}.>"]
    work_queue = {"retention": "workqueue", "allow_msg_schedules": True}
    bounded = {"max_msgs": _SET_ASIDE_MESSAGES, "max_bytes": _SET_ASIDE_BYTES, "discard": "old"}
    await _ensure_stream(jetstream, names.stream, subjects, work_queue)
    await _ensure_stream(jetstream, names.aside_stream, [f"{names.aside_stream}.*"], bounded)
    consumer = {
        "durable_name": _CONSUMER,
        "filter_subject": names.due,
        "ack_policy": "explicit",
        "ack_wait": hold_seconds * 1_000_000_000,
        "max_ack_pending": -1,
    }
    await jetstream.ask(
        f"CONSUMER.DURABLE.CREATE.{names.stream}.{_CONSUMER}", {"stream_name": names.stream, "config": consumer}
    )


async def _ensure_stream(jetstream: JetStream, stream: str, subjects: list[str], config: dict[str, Any]) -> None:
    if await _described(jetstream, stream) is None:
        await jetstream.ask(
            f"STREAM.CREATE.{stream}",
            {"name": stream, "subjects": subjects, "storage": "file", "num_replicas": 1, **config},
        )


async def _described(jetstream: JetStream, stream: str) -> dict[str, Any] | None:
    try:
        return await jetstream.ask(f"STREAM.INFO.{stream}")
    except Refused as refusal:
        if refusal.code == NOT_FOUND:
            return None
        raise


async def _server_time(jetstream: JetStream, names: _Names) -> datetime:
    """Return the present by the clock that will count the delay."""
    described = await jetstream.ask(f"STREAM.INFO.{names.stream}")
    return datetime.fromisoformat(described["ts"])


def _outgoing(names: _Names, id: int, due: datetime | None) -> Outgoing:
    if due is None:
        return Outgoing(names.due, encode(id))
    # A subject holds one schedule: the same id for the same instant is one message, and for another instant another.
    subject = f"{names.later}.{due:%Y%m%dT%H%M%S%f}.{id}"
    return Outgoing(subject, encode(id), {"Nats-Schedule": f"@at {due.isoformat()}", "Nats-Schedule-Target": names.due})


async def _sorted_out(jetstream: JetStream, names: _Names, messages: Sequence[Msg]) -> list[Delivery]:
    """Return what is ours; what is not is stored apart first, and then ended."""
    read = [(decode(message.data), message) for message in messages]
    if foreign := [message for id, message in read if id is None]:
        await jetstream.publish([Outgoing(names.aside, message.data) for message in foreign])
        await jetstream.settle([message.reply for message in foreign], b"+TERM")
    return [Delivery(id, message.reply) for id, message in read if id is not None]
