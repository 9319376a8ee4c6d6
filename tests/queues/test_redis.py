"""The Redis queue before a server of its own."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Delivery, Queue
from duebook.queues.redis import RedisQueue
from duebook.queues.redis import queue as redis_queue
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from tests.queues.ports import free_port
from tests.queues.redis_server import RedisServer

AT_ONCE = timedelta(0)


class TestRedis(QueueContract):
    @pytest.fixture(autouse=True)
    def _server(self, redis_server: RedisServer) -> None:
        self.server = redis_server

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        async with Redis.from_url(self.server.url) as client:

            async def post(name: str, body: str) -> None:
                await client.zadd(f"duebook:{name}:due", {f"0:{body}": 0})

            async def restart() -> None:
                await asyncio.to_thread(self.server.restart)

            def connect(hold_seconds: int) -> Queue:
                return RedisQueue(self.server.url, hold_seconds=hold_seconds)

            yield Broker(connect, post, restart)

    def unreachable(self) -> Queue:
        return RedisQueue(f"redis://duebook:{SECRET}@127.0.0.1:{free_port()}")


@pytest.fixture
async def client(redis_server: RedisServer) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_server.url) as client:
        await client.flushall()
        yield client


@pytest.fixture
async def queue(redis_server: RedisServer, client: Redis) -> AsyncIterator[RedisQueue]:
    queue = RedisQueue(redis_server.url, hold_seconds=1)
    yield queue
    await queue.close()


async def now(client: Redis) -> datetime:
    """Return the server's own time."""
    seconds, microseconds = await client.time()
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)


@pytest.fixture
def _without_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks again before there is a reason to."""
    monkeypatch.setattr(redis_queue, "_NAP_SECONDS", 60.0)


def ids(deliveries: Sequence[Delivery]) -> list[int]:
    return [delivery.id for delivery in deliveries]


async def test_what_is_meant_for_one_instant_comes_in_the_order_of_publication(
    queue: RedisQueue, client: Redis
) -> None:
    """apache/pulsar#14721: messages for one instant came a second early, and the last one first."""
    instant = (await now(client) + timedelta(seconds=4)).replace(microsecond=0)
    published: list[int] = []
    while (remaining := instant - await now(client)) > timedelta(seconds=1):
        published.append(100 - len(published))
        await queue.publish("mail", published[-1:], remaining)
        await client.blpop("nothing", timeout=0.1)
    found = await queue.receive("mail", 100, 10.0)
    assert await now(client) >= instant
    assert ids(found) == published


async def test_what_is_given_back_goes_out_before_what_comes_later(queue: RedisQueue) -> None:
    await queue.publish("mail", [1, 2], AT_ONCE)
    await queue.nack("mail", await queue.receive("mail", 1, 1.0))
    await queue.publish("mail", [3], AT_ONCE)
    assert ids(await queue.receive("mail", 10, 1.0)) == [1, 2, 3]


async def test_what_was_done_with_is_not_given_back_or_held_again(queue: RedisQueue, client: Redis) -> None:
    await queue.publish("mail", [1], AT_ONCE)
    found = await queue.receive("mail", 1, 1.0)
    await queue.ack("mail", found)
    await queue.nack("mail", found)
    await queue.extend("mail", found)
    assert await queue.receive("mail", 10, 0.1) == []
    assert await client.keys("duebook:mail:[dh]*") == []


@pytest.mark.usefixtures("_without_naps")
async def test_two_who_wait_are_both_woken_by_one_publish(queue: RedisQueue, client: Redis) -> None:
    waiting = [asyncio.create_task(queue.receive("mail", 1, 8.0)) for _ in range(2)]
    blocked = 0
    while blocked < len(waiting):
        blocked = (await client.info("clients"))["blocked_clients"]
    async with asyncio.timeout(5.0):
        await queue.publish("mail", [1, 2], AT_ONCE)
        first, second = await asyncio.gather(*waiting)
    assert sorted(ids(first + second)) == [1, 2]


@pytest.mark.usefixtures("_without_naps")
async def test_whoever_waits_sleeps_until_the_next_is_due(queue: RedisQueue) -> None:
    await queue.publish("mail", [1], timedelta(seconds=1))
    async with asyncio.timeout(5.0):
        assert ids(await queue.receive("mail", 1, 8.0)) == [1]


async def test_what_was_held_when_the_server_was_killed_comes_again(
    queue: RedisQueue, redis_server: RedisServer
) -> None:
    await queue.publish("mail", [1], AT_ONCE)
    assert ids(await queue.receive("mail", 1, 1.0)) == [1]
    await asyncio.to_thread(redis_server.restart)
    assert ids(await queue.receive("mail", 1, 10.0)) == [1]


async def test_what_is_delivered_again_goes_before_what_is_new(queue: RedisQueue, client: Redis) -> None:
    await queue.publish("mail", [1], AT_ONCE)
    assert ids(await queue.receive("mail", 1, 1.0)) == [1]
    await client.blpop("nothing", timeout=1.1)
    await queue.publish("mail", [2], AT_ONCE)
    assert ids(await queue.receive("mail", 1, 1.0)) == [1]
    assert ids(await queue.receive("mail", 1, 1.0)) == [2]


async def test_a_server_that_does_not_answer_is_said_so_within_seconds() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(hang, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server:
        queue = RedisQueue(f"redis://127.0.0.1:{port}")
        health = await queue.health()
        await queue.close()
    assert not health.reachable
    assert health.detail == f"redis://127.0.0.1:{port}: no answer in time (TimeoutError)"


async def test_a_kept_connection_that_was_closed_costs_nothing(queue: RedisQueue, redis_server: RedisServer) -> None:
    await queue.publish("mail", [1], AT_ONCE)
    await asyncio.to_thread(redis_server.restart)
    await queue.publish("mail", [2], AT_ONCE)
    assert ids(await queue.receive("mail", 10, 1.0)) == [1, 2]


async def test_only_the_newest_thousand_of_what_is_foreign_are_kept(queue: RedisQueue, client: Redis) -> None:
    await client.zadd("duebook:mail:due", {f"{number:04}:foreign": 0 for number in range(1_100)})
    assert await queue.receive("mail", 10_000, 0.1) == []
    assert (await queue.health()).set_aside == 1_000
    assert await client.lindex("duebook:set_aside", 0) == b"1099:foreign"


async def test_prefixes_are_apart(queue: RedisQueue, redis_server: RedisServer) -> None:
    other = RedisQueue(redis_server.url, prefix="staging")
    await other.publish("mail", [1], AT_ONCE)
    assert await queue.receive("mail", 1, 0.1) == []
    assert ids(await other.receive("mail", 1, 1.0)) == [1]
    await other.close()


async def test_a_password_that_is_refused_is_not_shown(
    client: Redis, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    queue = RedisQueue(f"redis://ann:{SECRET}@127.0.0.1:{redis_server.port}")
    with pytest.raises(QueueUnavailable, match=r"^redis://127.0.0.1:\d+: invalid username-password") as error:
        await queue.publish("mail", [1], AT_ONCE)
    health = await queue.health()
    await queue.close()
    assert not health.reachable
    assert SECRET not in f"{error.value}{health}{queue!r}{caplog.text}"


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1",
        f"redis://:{SECRET}@127.0.0.1:x",
        "redis://h?socket_timeout=x",
        f"redis://:{SECRET}@h?decode_responses=true",
        "",
    ],
)
def test_a_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        RedisQueue(url)
    assert error.value.field == "url"
    assert SECRET not in str(error.value)


def test_a_prefix_that_would_blur_two_names_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^prefix: "):
        RedisQueue("redis://127.0.0.1", prefix="a:b")
