import asyncio
import gc
import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from datetime import timedelta
from pathlib import Path

import pytest
from azure.servicebus import ServiceBusMessage
from azure.servicebus.aio import ServiceBusClient, ServiceBusSender
from azure.servicebus.amqp import AmqpAnnotatedMessage

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Queue
from duebook.queues.servicebus import ServiceBusQueue
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from duebook.testing.contracts.queue.working import Mails, make_book, promise
from tests.queues.ports import free_port
from tests.queues.servicebus_double import ServiceBusDouble, Unavailable, connection_string, running

# After a connection that broke the SDK leaves closing its socket to the garbage collector.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:loop is closed:ResourceWarning"),
]

AT_ONCE = timedelta(0)
ENDPOINT = "Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=duebook"


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    yield
    gc.collect()


@pytest.fixture(scope="module")
def double(pytestconfig: pytest.Config) -> Iterator[ServiceBusDouble]:
    try:
        with running(pytestconfig.cache.mkdir("servicebus-double")) as double:
            yield double
    except Unavailable as missing:
        pytest.skip(str(missing))


class TestServiceBus(QueueContract):
    @pytest.fixture(autouse=True)
    def _double(self, double: ServiceBusDouble) -> None:
        self.double = double

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        # The lock duration belongs to the queue. The double reads it from the queue's name.
        prefix = "lock60"
        senders: dict[str, ServiceBusSender] = {}

        def connect(hold_seconds: int) -> Queue:
            nonlocal prefix
            prefix = f"lock{hold_seconds}"
            return ServiceBusQueue(self.double.connection_string, prefix=prefix)

        async def post(name: str, body: str) -> None:
            queue = f"{prefix}.{name}"
            if queue not in senders:
                senders[queue] = await opened.enter_async_context(client.get_queue_sender(queue))
            await senders[queue].send_messages(ServiceBusMessage(body))

        async def restart() -> None:
            await asyncio.to_thread(self.double.restart)

        async with (
            ServiceBusClient.from_connection_string(self.double.connection_string) as client,
            AsyncExitStack() as opened,
        ):
            yield Broker(connect, post, restart)

    def unreachable(self) -> Queue:
        return ServiceBusQueue(connection_string(free_port(), SECRET))


@pytest.mark.parametrize("prefix", ["missing", "deleted"])
async def test_a_queue_that_does_not_exist_is_said_so(double: ServiceBusDouble, prefix: str) -> None:
    queue = ServiceBusQueue(double.connection_string, prefix=prefix)
    why = rf"there is no queue '{prefix}\.orders'"
    with pytest.raises(QueueUnavailable, match=why):
        await queue.publish("orders", [1], AT_ONCE)
    with pytest.raises(QueueUnavailable, match=why):
        await queue.receive("orders", 1, 0)
    health = await queue.health()
    assert not health.reachable
    assert re.search(why, health.detail)
    await queue.close()


@pytest.mark.parametrize("prefix", ["missing.", "deleted."])
async def test_before_a_queue_is_used_it_does_not_have_to_exist(double: ServiceBusDouble, prefix: str) -> None:
    queue = ServiceBusQueue(double.connection_string, prefix=prefix)
    assert (await queue.health()).reachable
    await queue.close()


async def test_a_worker_does_not_start_without_its_queues(double: ServiceBusDouble, tmp_path: Path) -> None:
    """It says which are missing, within seconds, and nothing is marked as published."""
    queue = ServiceBusQueue(double.connection_string, prefix="missing.")
    book = make_book(f"sqlite:///{tmp_path / 'book.db'}", queue, "email", Mails())
    await book.migrate()
    with pytest.raises(QueueUnavailable) as caught:
        async with book.worker():
            pass
    for name in ("urgent", "normal", "bulk"):
        assert f"there is no queue 'missing..email.{name}'" in str(caught.value)
    await promise(book, 1)
    await book.close()
    with closing(sqlite3.connect(tmp_path / "book.db")) as connection:
        assert connection.execute("select published_for from duebook_notifications").fetchall() == [(None,)]


async def test_more_than_one_batch_is_published_and_each_id_once(double: ServiceBusDouble) -> None:
    queue = ServiceBusQueue(double.connection_string)
    ids = range(1, 1_202)
    await queue.publish("batches", ids, AT_ONCE)
    found: list[int] = []
    while deliveries := await queue.receive("batches", 600, 1.0):
        found += [delivery.id for delivery in deliveries]
    assert sorted(found) == list(ids)
    await queue.close()


async def test_what_is_no_text_is_set_aside_too(double: ServiceBusDouble) -> None:
    queue = ServiceBusQueue(double.connection_string, prefix="amqp")
    async with (
        ServiceBusClient.from_connection_string(double.connection_string) as client,
        client.get_queue_sender("amqp.orders") as sender,
    ):
        await sender.send_messages(AmqpAnnotatedMessage(value_body={"id": 4711}))
    assert await queue.receive("orders", 10, 1.0) == []
    assert (await queue.health()).set_aside == 1
    await queue.close()


async def test_acknowledgements_do_not_wait_until_a_long_poll_is_over(double: ServiceBusDouble) -> None:
    queue = ServiceBusQueue(double.connection_string)
    await queue.publish("polled", [1], AT_ONCE)
    held = await queue.receive("polled", 1, 5.0)
    polling = asyncio.create_task(queue.receive("polled", 1, 50.0))
    await asyncio.sleep(0)
    async with asyncio.timeout(20.0):
        await queue.ack("polled", held)
    assert not polling.done()
    polling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await polling
    await queue.publish("polled", [2], AT_ONCE)
    assert [delivery.id for delivery in await queue.receive("polled", 1, 5.0)] == [2]
    await queue.close()


async def test_what_was_received_before_a_restart_is_acknowledged_after_it(double: ServiceBusDouble) -> None:
    queue = ServiceBusQueue(double.connection_string, prefix="lock2")
    await queue.publish("kept", [1], AT_ONCE)
    held = await queue.receive("kept", 1, 5.0)
    await asyncio.to_thread(double.restart)
    await queue.ack("kept", held)
    assert await queue.receive("kept", 1, 3.0) == []
    await queue.close()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "sb://example.servicebus.windows.net",
        f"{ENDPOINT}",
        f"{ENDPOINT};SharedAccessKey={SECRET};EntityPath=orders",
    ],
)
def test_a_connection_string_that_cannot_be_used_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        ServiceBusQueue(text)
    assert raised.value.field == "connection_string"
    assert SECRET not in str(raised.value)


def test_the_key_is_not_shown() -> None:
    shown = repr(ServiceBusQueue(f"{ENDPOINT};SharedAccessKey={SECRET}"))
    assert SECRET not in shown
    assert "example.servicebus.windows.net" in shown
