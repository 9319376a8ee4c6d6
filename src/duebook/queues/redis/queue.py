"""A queue in Redis: two sorted sets for each name, and scripts that move messages between them by the server's clock.

`due` holds what is to be received, by the second from which on. `held` holds what was received, by the millisecond at
which it is received again unless somebody is done with it. A message is in one of them, whoever crashes when. Each
member begins with a number of its own, so an id that is published twice is two messages, and what is due in the same
second keeps the order in which it was published.

Whoever waits sleeps at the `bell`, a list in which every publish leaves one token, until the next message is due. The
token wakes one of the waiting, and whoever leaves something rings again. A token that is lost costs a second.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from importlib import resources
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from ...domain.policy import checked_name
from ...domain.text import clean
from ...errors import InvalidInput, MissingExtra, QueueUnavailable
from ...ports import Delivery, QueueHealth
from ..address import place
from ..message import batches, checked_hold, checked_queue, decode, encode, whole_seconds

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.commands.core import AsyncScript

_BATCH = 1_000
"""Members in one script: it stops the server for everybody while it runs."""

_NAP_SECONDS = 1.0
_SHORTEST_NAP_SECONDS = 0.01
_CONNECT_SECONDS = 5.0
_ANSWER_SECONDS = 10.0
_HEALTH_SECONDS = 3.0
_SET_ASIDE = 1_000


class _Keys(NamedTuple):
    """Where the messages of one name are."""

    due: str
    held: str
    bell: str
    sequence: str


class RedisQueue:
    """Carries ids through Redis 6 or newer, or a server that speaks its language. There is no longest delay.

    `url`: `redis://user:password@host:6379/0`, or `rediss://` for TLS. `prefix`: what all keys begin with.
    `hold_seconds`: how long a message is held for whoever received it.

    What is not ours goes to the list `<prefix>:set_aside`, of which the newest thousand are kept. A delayed id survives
    a restart of the server as far as the server persists what it has acknowledged; it must not evict keys.

    Raises InvalidInput for settings that cannot work, and MissingExtra without redis-py.
    """

    max_delay: timedelta | None = None

    def __init__(self, url: str, *, prefix: str = "duebook", hold_seconds: int = 60) -> None:
        if find_spec("redis") is None:
            raise MissingExtra("a queue in Redis", "redis")
        self._place = place(url)
        self._prefix = checked_name("prefix", prefix)
        self._hold_milliseconds = checked_hold(hold_seconds) * 1_000
        self._client = _client(url)
        self._publish, self._receive, self._give_back, self._extend = (
            _script(self._client, verb) for verb in ("publish", "receive", "give_back", "extend")
        )

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        keys, seconds = self._keys(name), whole_seconds(delay, self.max_delay)
        with self._reaching():
            for some in batches(ids, _BATCH):
                await self._publish([keys.due, keys.sequence, keys.bell], [seconds, *map(encode, some)])

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        keys, loop = self._keys(name), asyncio.get_running_loop()
        end = loop.time() + wait_seconds
        with self._reaching():
            while True:
                members, next_seconds = await self._take(keys, most)
                if deliveries := await self._ours(keys, members):
                    return deliveries
                left = end - loop.time()
                if left <= 0:
                    return []
                nap = min(left, _NAP_SECONDS, next_seconds)
                await self._client.blpop([keys.bell], timeout=max(nap, _SHORTEST_NAP_SECONDS))

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        keys = self._keys(name)
        with self._reaching():
            for some in batches(deliveries, _BATCH):
                await self._client.zrem(keys.held, *_members(some))

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        keys = self._keys(name)
        with self._reaching():
            for some in batches(deliveries, _BATCH):
                await self._give_back([keys.due, keys.held, keys.bell], _members(some))

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        keys = self._keys(name)
        with self._reaching():
            for some in batches(deliveries, _BATCH):
                await self._extend([keys.held], [self._hold_milliseconds, *_members(some)])

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        try:
            with self._reaching():
                async with asyncio.timeout(_HEALTH_SECONDS):
                    set_aside = await self._client.llen(self._aside)
        except QueueUnavailable as error:
            return QueueHealth(False, str(error))
        return QueueHealth(True, f"{self._place} answers", set_aside)

    async def close(self) -> None:
        await self._client.aclose()

    def __repr__(self) -> str:
        return f"RedisQueue({self._place!r}, prefix={self._prefix!r})"

    @property
    def _aside(self) -> str:
        return f"{self._prefix}:set_aside"

    def _keys(self, name: str) -> _Keys:
        start = f"{self._prefix}:{checked_queue(name)}"
        return _Keys(f"{start}:due", f"{start}:held", f"{start}:bell", f"{start}:sequence")

    async def _take(self, keys: _Keys, most: int) -> tuple[list[bytes], float]:
        """Hold up to `most` members; return them and the seconds until there may be another."""
        members, wait = await self._receive(
            [keys.due, keys.held, keys.bell], [min(most, _BATCH), self._hold_milliseconds]
        )
        return members, wait / 1_000 if wait >= 0 else _NAP_SECONDS

    async def _ours(self, keys: _Keys, members: Sequence[bytes]) -> list[Delivery]:
        """Return what can be read, and set the others aside."""
        read = [(decode(member.partition(b":")[2]), member) for member in members]
        if foreign := [member for id, member in read if id is None]:
            async with self._client.pipeline(transaction=True) as both:
                both.lpush(self._aside, *foreign)
                both.ltrim(self._aside, 0, _SET_ASIDE - 1)
                both.zrem(keys.held, *foreign)
                await both.execute()
        return [Delivery(id, member) for id, member in read if id is not None]

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        from redis.exceptions import RedisError

        try:
            yield
        except (RedisError, OSError) as error:
            said = str(error) or "no answer in time"
            raise QueueUnavailable(clean(f"{self._place}: {said} ({type(error).__name__})")) from error


def _client(url: str) -> Redis:
    from redis.asyncio import Redis
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    try:
        # Once more: that the server has closed a kept connection shows only when it is used.
        client = Redis.from_url(
            url, retry=Retry(NoBackoff(), 1), socket_connect_timeout=_CONNECT_SECONDS, socket_timeout=_ANSWER_SECONDS
        )
    except ValueError:
        raise InvalidInput("url", "must look like redis://user:password@host:6379/0, or rediss:// for TLS") from None
    if client.connection_pool.connection_kwargs.get("decode_responses"):
        raise InvalidInput("url", "must not set decode_responses: messages are read as bytes")
    return client


def _script(client: Redis, verb: str) -> AsyncScript:
    return client.register_script(resources.files(__package__).joinpath(f"{verb}.lua").read_text(encoding="utf-8"))


def _members(deliveries: Sequence[Delivery]) -> list[Any]:
    return [delivery.handle for delivery in deliveries]
