"""A queue behind a small REST API. This is the API it expects, with JSON in both directions:

    POST /queues/{name}/messages   {"messages": [{"id": 4711}], "delay_seconds": 0}
    POST /queues/{name}/receive    {"most": 10, "wait_seconds": 20.0, "hold_seconds": 60}
                                   answers {"deliveries": [{"message": {"id": 4711}, "handle": "..."}]}
    POST /queues/{name}/ack        {"handles": ["..."]}
    POST /queues/{name}/nack       {"handles": ["..."]}
    POST /queues/{name}/extend     {"handles": ["..."], "hold_seconds": 60}
    GET  /health                   any 2xx

Every request carries `Authorization: Bearer ...`. A publish carries an `Idempotency-Key`, the same on every try, so
that a server that knows it takes the messages once. `receive` is answered as soon as there is something, or with none
after `wait_seconds`. A handle that is not held any more is no error. A queue exists from its first use on. A server
that is asked too often answers 429 with `Retry-After` in seconds.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import timedelta
from importlib.util import find_spec
from typing import Any, NamedTuple

from ...errors import MissingExtra, QueueUnavailable
from ...ports import Delivery, QueueHealth
from ..address import place
from ..message import batches, checked_hold, checked_queue, id_in, whole_seconds
from .link import Link
from .settings import checked_token, checked_url

_BATCH = 100
_HEALTH_SECONDS = 3.0


class _Received(NamedTuple):
    message: object
    handle: str


class HttpQueue:
    """Carries ids over HTTP, to a server that keeps them up to seven days: the longest delay is 604,800 seconds.

    `url`: below which the paths stand; https, unless it leads to this machine. `token`: what authorizes us.
    `hold_seconds`: how long a message is held for whoever received it.

    A request is tried up to five times: after no answer, 408, 429 and most 5xx. Retry-After is obeyed up to half a
    minute. Messages that are none of ours move to the queue `{name}.set-aside`; `health` counts those that this object
    has moved.

    Raises InvalidInput for settings that cannot work, and MissingExtra without httpx2.
    """

    max_delay: timedelta | None = timedelta(seconds=604_800)

    def __init__(self, url: str, *, token: str, hold_seconds: int = 60) -> None:
        if find_spec("httpx2") is None:
            raise MissingExtra("a queue over HTTP", "http")
        self._place = place(checked_url(url))
        self._hold_seconds = checked_hold(hold_seconds)
        self._link = Link(url, checked_token(token), self._place)
        self._set_aside = 0

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        path, seconds = _path(name, "messages"), whole_seconds(delay, self.max_delay)
        for some in batches(ids, _BATCH):
            await self._put(path, [{"id": id} for id in some], seconds)

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        loop = asyncio.get_running_loop()
        end = loop.time() + wait_seconds
        while True:
            received = await self._receive(name, most, max(0.0, end - loop.time()))
            read = [(id_in(message), handle) for message, handle in received]
            deliveries = [Delivery(id, handle) for id, handle in read if id is not None]
            await self._put_aside(name, [one for one in received if id_in(one.message) is None])
            if deliveries or not received:
                return deliveries

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._tell(name, "ack", _handles(deliveries))

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._tell(name, "nack", _handles(deliveries))

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        await self._tell(name, "extend", _handles(deliveries), hold_seconds=self._hold_seconds)

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        try:
            async with asyncio.timeout(_HEALTH_SECONDS):
                await self._link.ask("/health")
        except QueueUnavailable as error:
            return QueueHealth(False, str(error), self._set_aside)
        except TimeoutError:
            return QueueHealth(False, f"{self._place}: no answer in {_HEALTH_SECONDS:g} s", self._set_aside)
        return QueueHealth(True, f"{self._place} answers", self._set_aside)

    async def close(self) -> None:
        await self._link.close()

    def __repr__(self) -> str:
        return f"HttpQueue({self._place!r})"

    async def _receive(self, name: str, most: int, wait_seconds: float) -> list[_Received]:
        asked = {"most": most, "wait_seconds": wait_seconds, "hold_seconds": self._hold_seconds}
        answer = await self._link.post(_path(name, "receive"), asked, wait_seconds=wait_seconds)
        try:
            return [_Received(one["message"], one["handle"]) for one in answer["deliveries"]]
        except (TypeError, KeyError):
            raise QueueUnavailable(f"{self._place}: what it answers to receive holds no deliveries") from None

    async def _put(self, path: str, messages: Sequence[object], seconds: int) -> None:
        document = {"messages": messages, "delay_seconds": seconds}
        await self._link.post(path, document, {"Idempotency-Key": secrets.token_hex(16)})

    async def _put_aside(self, name: str, foreign: Sequence[_Received]) -> None:
        if foreign:
            await self._put(_path(f"{name}.set-aside", "messages"), [one.message for one in foreign], 0)
            await self._tell(name, "ack", [one.handle for one in foreign])
            self._set_aside += len(foreign)

    async def _tell(self, name: str, verb: str, handles: Sequence[str], **more: Any) -> None:
        path = _path(name, verb)
        for some in batches(handles, _BATCH):
            await self._link.post(path, {"handles": some, **more})


def _path(name: str, verb: str) -> str:
    return f"/queues/{checked_queue(name)}/{verb}"


def _handles(deliveries: Sequence[Delivery]) -> list[str]:
    return [delivery.handle for delivery in deliveries]
