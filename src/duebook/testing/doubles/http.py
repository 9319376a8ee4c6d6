"""A provider that speaks HTTP, on loopback, and records what it accepted."""

from __future__ import annotations

import asyncio
import inspect
import ssl
import time
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import timedelta

from .faults import Drop, Hang
from .http_messages import DropUnread, HttpRequest, Raw, Reply, read_head
from .idempotency import KeyMemory
from .listening import Listener

HttpAnswer = Reply | Raw | Drop | Hang
HttpBehaviour = Callable[[HttpRequest], HttpAnswer | Awaitable[HttpAnswer]]
"""A function of the request. What it awaits, the client waits for."""

LENGTH_REQUIRED = Reply(411, {"error": "this double reads only bodies whose length is stated"})
CONFLICT = Reply(422, {"error": "this idempotency key came with another body before"})


class HttpDouble(Listener):
    """Stands in for a provider with an HTTP API: `async with HttpDouble() as provider:`, then call `provider.url`.

    By itself it accepts what is posted and answers `{"id": "m-1"}`. A GET is a look-up: its last path segment is an
    idempotency key or an id, and the answer is 200 or 404. `behave` puts a function in the place of both, and `next`
    says what single requests are answered. Each connection carries one request.

    `key_window`: how long it honours idempotency keys, read from the header `key_header`. A repeated key with the same
    body is answered as the first was and accepted no second time; with another body it is answered `conflict`. An
    answer that accepts nothing, and a connection that breaks or hangs, stays as it was scripted. `monotonic`: the
    seconds that the window is measured by, such as `SimClock().monotonic`. `tls`: the context to serve https with.

    `requests`: every complete request. `accepted`: those it took responsibility for, each once.
    """

    def __init__(
        self,
        behave: HttpBehaviour | None = None,
        *,
        key_header: str = "Idempotency-Key",
        key_window: timedelta | None = None,
        conflict: Reply = CONFLICT,
        monotonic: Callable[[], float] = time.monotonic,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls)
        self.requests: list[HttpRequest] = []
        self.accepted: list[HttpRequest] = []
        self._behave = behave or self.answer
        self._next: deque[HttpAnswer | DropUnread | HttpBehaviour] = deque()
        self._keys = KeyMemory(key_header, key_window, monotonic)
        self._conflict = conflict

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    def next(self, *answers: HttpAnswer | DropUnread | HttpBehaviour) -> None:
        """Say what the next requests are answered, one answer or function each."""
        self._next.extend(answers)

    def find(self, name: str) -> HttpRequest | None:
        """Return what was accepted under an idempotency key or an id, if anything was."""
        for request in self.accepted:
            if name in (request.provider_id, self._keys.key(request)):
                return request
        return None

    def answer(self, request: HttpRequest) -> Reply:
        """Return what the double answers by itself."""
        if request.method != "GET":
            return Reply(200, {"id": request.provider_id})
        found = self.find(request.path.rpartition("/")[2])
        return Reply(200, {"id": found.provider_id, "status": "accepted"}) if found else Reply(404)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await read_head(reader)
        if head.length is None:
            writer.write(LENGTH_REQUIRED.encoded())
            return
        behave = self._next.popleft() if self._next else self._behave
        if isinstance(behave, DropUnread):
            return
        body = await reader.readexactly(head.length)
        request = HttpRequest(len(self.requests) + 1, head.method, head.target, head.headers, body)
        self.requests.append(request)
        self._tell()
        match self._settled(request, await _answer(behave, request)):
            case Reply() as reply:
                writer.write(reply.encoded())
            case Raw(content):
                writer.write(content)
            case Hang():
                await reader.read()
        await writer.drain()

    def _settled(self, request: HttpRequest, answer: HttpAnswer) -> HttpAnswer:
        """Record what an answer accepts, and return what a known key makes of it."""
        if not _takes(request, answer):
            return answer
        known = self._keys.find(request)
        if known is None:
            self.accepted.append(request)
            self._keys.remember(request, answer if isinstance(answer, Reply) else self.answer(request))
            self._tell()
            return answer
        if not isinstance(answer, Reply):
            return answer
        return known.reply if known.request.body == request.body else self._conflict


async def _answer(behave: HttpAnswer | HttpBehaviour, request: HttpRequest) -> HttpAnswer:
    if not callable(behave):
        return behave
    answer = behave(request)
    return await answer if inspect.isawaitable(answer) else answer


def _takes(request: HttpRequest, answer: HttpAnswer) -> bool:
    if isinstance(answer, Reply) and answer.take is None:
        return request.method != "GET" and 200 <= answer.status < 300
    return bool(answer.take)
