"""Which adapter a URL opens. Nothing listens anywhere: no adapter connects before it is used."""

import sys
from datetime import timedelta
from urllib.parse import quote

import pytest

from duebook.errors import InvalidInput, MissingExtra
from duebook.queues.opening import open_queue
from duebook.testing.contracts.queue import SECRET
from tests.queues.http_double import TOKEN, HttpQueueDouble


@pytest.mark.parametrize(
    ("url", "adapter", "shown"),
    [
        (f"redis://:{SECRET}@queue.example.net/0", "RedisQueue", "redis://queue.example.net"),
        (f"REDISS://ann:{SECRET}@queue.example.net:6380", "RedisQueue", "rediss://queue.example.net:6380"),
        (f"amqp://ann:{SECRET}@queue.example.net/", "RabbitmqQueue", "queue.example.net"),
        (f"amqps://ann:{SECRET}@queue.example.net/", "RabbitmqQueue", "queue.example.net"),
        ("sqs://eu-west-1", "SqsQueue", "eu-west-1"),
        (f"nats://ann:{SECRET}@queue.example.net:4222", "NatsQueue", "queue.example.net:4222"),
        (f"tls+nats://ann:{SECRET}@queue.example.net", "NatsQueue", "tls://queue.example.net"),
        (f"sb://send:{SECRET}@events.servicebus.windows.net", "ServiceBusQueue", "events.servicebus.windows.net"),
        (f"servicebus://send:{SECRET}@events.example.net", "ServiceBusQueue", "events.example.net"),
        (f"queue+https://:{SECRET}@queue.example.net/v1", "HttpQueue", "https://queue.example.net"),
        (f"queue+http://:{SECRET}@127.0.0.1:8080", "HttpQueue", "http://127.0.0.1:8080"),
    ],
)
async def test_a_scheme_opens_its_adapter(url: str, adapter: str, shown: str) -> None:
    queue = open_queue(url)
    try:
        assert type(queue).__name__ == adapter
        assert shown in repr(queue)
        assert SECRET not in repr(queue)
    finally:
        await queue.close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "queue.example.net",
        f"kafka://ann:{SECRET}@queue.example.net",
        f"postgresql://ann:{SECRET}@queue.example.net/db",
        f"redis://ann:{SECRET}/@queue.example.net",
        f"queue+http://:{SECRET}@queue.example.net",
        "queue+https://queue.example.net",
        "sb://events.servicebus.windows.net",
        f"sqs://ann:{SECRET}@eu-west-1",
    ],
)
def test_any_other_url_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        open_queue(url)
    assert error.value.field == "queue"
    assert SECRET not in str(error.value)


def test_an_unknown_scheme_is_answered_with_those_that_are_known() -> None:
    with pytest.raises(InvalidInput, match=r"redis://.*amqp://.*sqs://.*nats://.*sb://.*queue\+https://"):
        open_queue("kafka://queue.example.net")


@pytest.mark.parametrize(
    ("library", "url", "extra"),
    [
        ("redis", "redis://queue.example.net", "redis"),
        ("httpx2", "queue+https://:token@queue.example.net", "http"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(
    monkeypatch: pytest.MonkeyPatch, library: str, url: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtra, match=rf"duebook\[{extra}\]"):
        open_queue(url)


async def test_a_token_in_a_url_is_sent_as_it_was_meant() -> None:
    async with HttpQueueDouble() as server:
        queue = open_queue(f"queue+http://:{quote(TOKEN, safe='')}@127.0.0.1:{server.port}/v1")
        await queue.publish("mail", [1], timedelta(0))
        await queue.close()
        assert [one.message for one in server.stored["mail"]] == [{"id": 1}]
