from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from aiobotocore.session import get_session

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Queue
from duebook.queues.sqs import SqsQueue
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from tests.queues.ports import free_port
from tests.queues.sqs_server import SqsServer

if TYPE_CHECKING:
    from types_aiobotocore_sqs import SQSClient

AT_ONCE = timedelta(0)
REGION = "eu-west-1"


@pytest.fixture(scope="module")
def server() -> Iterator[SqsServer]:
    server = SqsServer()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@asynccontextmanager
async def opened(endpoint: str, **settings: Any) -> AsyncIterator[SqsQueue]:
    queue = SqsQueue(f"sqs://{REGION}?endpoint={endpoint}", **settings)
    try:
        yield queue
    finally:
        await queue.close()


def raw_client(endpoint: str) -> AbstractAsyncContextManager[SQSClient]:
    client: AbstractAsyncContextManager[SQSClient] = get_session().create_client(
        "sqs", region_name=REGION, endpoint_url=endpoint
    )
    return client


class TestSqs(QueueContract):
    durable: ClassVar[bool] = False  # moto keeps nothing

    @pytest.fixture(autouse=True)
    def _server(self, server: SqsServer, credentials: None) -> None:
        self.server = server

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        async with raw_client(self.server.endpoint) as sqs:

            async def post(name: str, body: str) -> None:
                queue = await sqs.get_queue_url(QueueName=f"duebook-{name}")
                await sqs.send_message(QueueUrl=queue["QueueUrl"], MessageBody=body)

            async def restart() -> None:
                await asyncio.to_thread(self.server.restart)

            def connect(hold_seconds: int) -> Queue:
                return SqsQueue(f"sqs://{REGION}?endpoint={self.server.endpoint}", hold_seconds=hold_seconds)

            yield Broker(connect, post, restart)

    def unreachable(self) -> Queue:
        return SqsQueue(f"sqs://{REGION}?endpoint=http://127.0.0.1:{free_port()}")


async def test_names_that_sqs_would_not_take_are_apart(server: SqsServer) -> None:
    names = ["a.b", "a-b", "a_b", "a__b", "a_-b", "a..b"]
    async with opened(server.endpoint) as queue:
        for id, name in enumerate(names, 1):
            await queue.publish(name, [id], AT_ONCE)
        for id, name in enumerate(names, 1):
            assert [delivery.id for delivery in await queue.receive(name, 10, 1)] == [id]


async def test_a_name_longer_than_sqs_takes_is_refused(server: SqsServer) -> None:
    async with opened(server.endpoint, prefix="p" * 20) as queue:
        await queue.publish("a" * 59, [1], AT_ONCE)
        with pytest.raises(InvalidInput) as caught:
            await queue.publish("a" * 60, [1], AT_ONCE)
        assert caught.value.field == "name"


async def test_a_queue_that_was_deleted_is_made_again(server: SqsServer) -> None:
    async with opened(server.endpoint) as queue:
        await queue.publish("deleted", [1], AT_ONCE)
        async with raw_client(server.endpoint) as sqs:
            found = await sqs.get_queue_url(QueueName="duebook-deleted")
            await sqs.delete_queue(QueueUrl=found["QueueUrl"])
        with pytest.raises(QueueUnavailable, match="NonExistentQueue"):
            await queue.publish("deleted", [2], AT_ONCE)
        await queue.publish("deleted", [3], AT_ONCE)
        assert [delivery.id for delivery in await queue.receive("deleted", 10, 5)] == [3]


async def test_a_wait_outlives_foreign_messages(server: SqsServer) -> None:
    async with opened(server.endpoint) as queue, raw_client(server.endpoint) as sqs:
        assert await queue.receive("foreign", 1, 0) == []
        found = await sqs.get_queue_url(QueueName="duebook-foreign")
        await sqs.send_message(QueueUrl=found["QueueUrl"], MessageBody="not json")
        await sqs.send_message(QueueUrl=found["QueueUrl"], MessageBody='{"id": 1}', DelaySeconds=1)
        assert [delivery.id for delivery in await queue.receive("foreign", 1, 20)] == [1]


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"url": "https://sqs.eu-west-1.amazonaws.com"}, "url"),
        ({"url": "sqs://"}, "url"),
        ({"url": f"sqs://id:{SECRET}@eu-west-1"}, "url"),
        ({"url": "sqs://eu-west-1/queue"}, "url"),
        ({"url": "sqs://eu-west-1?region=eu-west-2"}, "url"),
        ({"url": f"sqs://eu-west-1?endpoint=http://id:{SECRET}@127.0.0.1:5000"}, "url"),
        ({"url": "sqs://eu-west-1", "prefix": "a b"}, "prefix"),
        ({"url": "sqs://eu-west-1", "hold_seconds": 0}, "hold_seconds"),
        ({"url": "sqs://eu-west-1", "hold_seconds": 43_201}, "hold_seconds"),
    ],
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        SqsQueue(**settings)
    assert caught.value.field == field
    assert SECRET not in str(caught.value)
