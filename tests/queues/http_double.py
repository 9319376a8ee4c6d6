"""The server side of `HttpQueue`, in memory, by the event loop's clock."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from dataclasses import dataclass
from itertools import count

from duebook.testing.doubles import HttpDouble, HttpRequest, Reply

TOKEN = "t0p-s3cret/+="
LONGEST_DELAY_SECONDS = 604_800


@dataclass
class Stored:
    """A message, and the loop's time from which on it can be received."""

    message: object
    handle: str
    visible_at: float


class HttpQueueDouble(HttpDouble):
    """Serves the API that `duebook.queues.http.queue` describes; `next` puts other answers in the way.

    `stored`: for each queue what is neither acknowledged nor lost. `keys`: of the publishes it has taken.
    """

    def __init__(self) -> None:
        super().__init__(self.served)
        self.stored: dict[str, list[Stored]] = defaultdict(list)
        self.keys: list[str] = []
        self._handles = count(1)

    async def served(self, request: HttpRequest) -> Reply:
        """Return what the API answers."""
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return Reply(401, {"error": f"not a token: {request.headers.get('authorization')}"})
        if request.path.endswith("/health"):
            return Reply(200, {})
        *_, queues, name, verb = request.path.split("/")
        assert (request.method, queues) == ("POST", "queues")
        if verb == "messages":
            return self._published(name, request)
        if verb == "receive":
            return await self._received(name, **request.json())
        return self._told(name, verb, **request.json())

    async def restart(self) -> None:
        """Break every connection and be there again, with every message."""
        await self.__aexit__(None, None, None)
        await self.__aenter__()

    def post(self, name: str, message: object, delay_seconds: float = 0) -> None:
        """Put a message of whatever shape into a queue."""
        visible_at = _now() + delay_seconds
        self.stored[name].append(Stored(message, f"h-{next(self._handles)}", visible_at))
        self._tell()

    def _published(self, name: str, request: HttpRequest) -> Reply:
        asked, key = request.json(), request.headers["idempotency-key"]
        if asked["delay_seconds"] > LONGEST_DELAY_SECONDS:
            return Reply(400, {"error": "delay_seconds is too long"})
        if key not in self.keys:
            self.keys.append(key)
            for message in asked["messages"]:
                self.post(name, message, asked["delay_seconds"])
        return Reply(202)

    async def _received(self, name: str, most: int, wait_seconds: float, hold_seconds: int) -> Reply:
        end = _now() + wait_seconds
        while not (taken := self._visible(name)[:most]) and _now() < end:
            await self._wait(name, end)
        for one in taken:
            one.handle = f"h-{next(self._handles)}"
            one.visible_at = _now() + hold_seconds
        return Reply(200, {"deliveries": [{"message": one.message, "handle": one.handle} for one in taken]})

    def _told(self, name: str, verb: str, handles: list[str], hold_seconds: float = 0) -> Reply:
        known = [one for one in self.stored[name] if one.handle in handles]
        for one in known:
            if verb == "ack":
                self.stored[name].remove(one)
            else:
                one.visible_at = _now() + hold_seconds
        self._tell()
        return Reply(204)

    def _visible(self, name: str) -> list[Stored]:
        return [one for one in self.stored[name] if one.visible_at <= _now()]

    async def _wait(self, name: str, end: float) -> None:
        """Wait until something can be received, or may be because its time has come, or until the end."""
        moment = self._next_moment(name, end)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(moment):
                await self.until(lambda: self._visible(name) or self._next_moment(name, end) < moment)

    def _next_moment(self, name: str, end: float) -> float:
        return min([end, *(one.visible_at for one in self.stored[name])])


def _now() -> float:
    return asyncio.get_running_loop().time()
