import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import aio_pika
import pytest

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Queue
from duebook.queues.rabbitmq import RabbitmqQueue
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from tests.queues.ports import free_port
from tests.queues.rabbitmq_server import PROGRAM, RabbitmqServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitmqServer]:
    if PROGRAM is None:
        pytest.skip("no rabbitmq-server on this machine; Debian's package is rabbitmq-server")
    server = RabbitmqServer(tmp_path_factory.mktemp("rabbitmq"))
    try:
        yield server
    finally:
        server.stop()


@asynccontextmanager
async def opened(server: RabbitmqServer, prefix: str = "duebook") -> AsyncIterator[RabbitmqQueue]:
    queue = RabbitmqQueue(server.url, prefix=prefix)
    try:
        yield queue
    finally:
        await queue.close()


async def consumers(server: RabbitmqServer, queue_name: str) -> int:
    async with await aio_pika.connect(server.url) as connection, connection.channel() as channel:
        queue = await channel.get_queue(queue_name)
        return queue.declaration_result.consumer_count or 0


class TestRabbitmq(QueueContract):
    @pytest.fixture(autouse=True)
    def _server(self, server: RabbitmqServer) -> None:
        self.server = server

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        async with await aio_pika.connect(self.server.url) as connection:
            channel = await connection.channel()

            async def post(name: str, body: str) -> None:
                await channel.default_exchange.publish(aio_pika.Message(body.encode()), f"duebook.queue.{name}")

            async def restart() -> None:
                await asyncio.to_thread(self.server.restart)

            def connect(hold_seconds: int) -> Queue:
                return RabbitmqQueue(self.server.url, hold_seconds=hold_seconds)

            yield Broker(connect, post, restart)

    def unreachable(self) -> Queue:
        return RabbitmqQueue(f"amqp://duebook:{SECRET}@127.0.0.1:{free_port()}")


async def test_what_is_delayed_survives_a_crash_of_the_broker(server: RabbitmqServer) -> None:
    async with opened(server) as queue:
        await queue.publish("crash", [1], timedelta(seconds=2))
        assert [delivery.id for delivery in await queue.receive("crash", 10, 20)] == [1]
        await queue.publish("crash", [2], timedelta(seconds=3))
        await asyncio.to_thread(server.crash)
    async with opened(server) as queue:
        found: set[int] = set()
        while found != {1, 2}:
            found |= {delivery.id for delivery in await queue.receive("crash", 10, 20)}


async def test_a_broken_connection_ends_the_wait(server: RabbitmqServer) -> None:
    async with opened(server) as queue:
        assert await queue.receive("broken", 1, 0) == []
        waiting = asyncio.create_task(queue.receive("broken", 1, 50))
        await asyncio.to_thread(server.restart)
        with pytest.raises(QueueUnavailable):
            await waiting
        assert (await queue.health()).reachable


async def test_a_wait_that_was_cut_short_takes_nothing_along(server: RabbitmqServer) -> None:
    async with opened(server) as queue, opened(server) as other:
        assert await queue.receive("cut", 1, 0) == []
        waiting = asyncio.create_task(queue.receive("cut", 1, 50))
        while await consumers(server, "duebook.queue.cut") == 0:
            pass
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await queue.publish("cut", [1], timedelta(0))
        assert [delivery.id for delivery in await other.receive("cut", 1, 20)] == [1]


async def test_what_lost_its_queue_is_set_aside(server: RabbitmqServer) -> None:
    async with opened(server, prefix="lost") as queue:
        # Underway for long enough that its queue is gone when it arrives.
        await queue.publish("mail", [1], timedelta(seconds=4))
        async with await aio_pika.connect(server.url) as connection, connection.channel() as channel:
            await channel.queue_delete("lost.queue.mail")
            while (await queue.health()).set_aside == 0:
                pass
            aside = await channel.get_queue("lost.aside")
            message = await aside.get(no_ack=True)
            assert message is not None
            assert message.body == b'{"id": 1}'


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"url": "http://127.0.0.1"}, "url"),
        ({"url": "amqp://"}, "url"),
        ({"url": "amqp://127.0.0.1", "prefix": "a b"}, "prefix"),
        ({"url": "amqp://127.0.0.1", "prefix": "a" * 65}, "prefix"),
        ({"url": "amqp://127.0.0.1", "hold_seconds": 0}, "hold_seconds"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        RabbitmqQueue(**settings)
    assert caught.value.field == field
