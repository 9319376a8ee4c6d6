"""The HTTP queue before a double of the API it expects."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from duebook.errors import InvalidInput, QueueUnavailable
from duebook.ports import Queue
from duebook.queues.http import HttpQueue
from duebook.queues.http.patience import pause_seconds
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from duebook.testing.doubles import Drop, DropUnread, Hang, HttpRequest, Raw, Reply
from tests.queues.http_double import TOKEN, HttpQueueDouble
from tests.queues.ports import free_port

AT_ONCE = timedelta(0)
WEEK = timedelta(days=7)


class TestHttp(QueueContract):
    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        async with HttpQueueDouble() as server:

            async def post(name: str, body: str) -> None:
                server.post(name, json.loads(body) if body[0] in "[{" else body)

            def connect(hold_seconds: int) -> Queue:
                return HttpQueue(server.url, token=TOKEN, hold_seconds=hold_seconds)

            yield Broker(connect, post, server.restart)

    def unreachable(self) -> Queue:
        return HttpQueue(f"http://127.0.0.1:{free_port()}", token=SECRET)


@asynccontextmanager
async def queue_and_server() -> AsyncIterator[tuple[HttpQueue, HttpQueueDouble]]:
    async with HttpQueueDouble() as server:
        queue = HttpQueue(f"{server.url}/v1/", token=TOKEN)
        try:
            yield queue, server
        finally:
            await queue.close()


def messages(server: HttpQueueDouble, name: str = "mail") -> list[object]:
    return [one.message for one in server.stored[name]]


async def test_seven_days_are_taken_and_a_second_more_is_not() -> None:
    async with queue_and_server() as (queue, server):
        await queue.publish("mail", [1], WEEK)
        with pytest.raises(InvalidInput, match=r"^delay: is 7 days, 0:00:01, and the broker takes at most 604800 sec"):
            await queue.publish("mail", [2], WEEK + timedelta(seconds=1))
        assert messages(server) == [{"id": 1}]
        assert [request.json()["delay_seconds"] for request in server.requests] == [604_800]


async def test_a_token_goes_with_every_request_and_paths_stand_below_the_url() -> None:
    async with queue_and_server() as (queue, server):
        await queue.publish("mail", [1], timedelta(seconds=-1))
        await queue.ack("mail", await queue.receive("mail", 10, 0.0))
        assert (await queue.health()).reachable
        assert [request.path for request in server.requests] == [
            "/v1/queues/mail/messages", "/v1/queues/mail/receive", "/v1/queues/mail/ack", "/v1/health",
        ]  # fmt: skip
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize("failure", [Reply(429, headers={"Retry-After": "0"}), Reply(503), DropUnread()])
async def test_what_was_not_taken_is_published_again(failure: Reply | DropUnread) -> None:
    async with queue_and_server() as (queue, server):
        server.next(failure, failure)
        await queue.publish("mail", [1, 2], AT_ONCE)
        assert messages(server) == [{"id": 1}, {"id": 2}]


async def test_a_publish_whose_answer_was_lost_is_one_message() -> None:
    async with queue_and_server() as (queue, server):

        async def lost(request: HttpRequest) -> Drop:
            await server.served(request)
            return Drop()

        server.next(lost, lost)
        await queue.publish("mail", [1], AT_ONCE)
        assert len(server.requests) == 3
        assert messages(server) == [{"id": 1}]


async def test_two_publishes_of_one_id_have_keys_of_their_own() -> None:
    async with queue_and_server() as (queue, server):
        await queue.publish("mail", [1], AT_ONCE)
        await queue.publish("mail", [1], AT_ONCE)
        assert len(set(server.keys)) == 2


async def test_the_fifth_failure_is_the_last() -> None:
    async with queue_and_server() as (queue, server):
        server.next(*[Reply(503, "down for maintenance")] * 5)
        with pytest.raises(QueueUnavailable, match=r"^http://127.0.0.1:\d+: 503 .*: down for maintenance$"):
            await queue.publish("mail", [1], AT_ONCE)
        assert len(server.requests) == 5
        assert messages(server) == []


async def test_it_waits_as_long_as_it_is_told() -> None:
    async with queue_and_server() as (queue, server):
        loop = asyncio.get_running_loop()
        server.next(Reply(429, headers={"Retry-After": "1"}))
        began = loop.time()
        await queue.publish("mail", [1], AT_ONCE)
        assert loop.time() - began >= 1.0


@pytest.mark.parametrize("refusal", [Reply(401), Reply(404), Reply(307), Reply(429, headers={"Retry-After": "31"})])
async def test_a_refusal_is_not_asked_again(refusal: Reply) -> None:
    async with queue_and_server() as (queue, server):
        server.next(refusal)
        with pytest.raises(QueueUnavailable, match=str(refusal.status)):
            await queue.publish("mail", [1], AT_ONCE)
        assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [Reply(200, "<html>"), Reply(200, []), Reply(200, {"deliveries": [{"id": 1}]})])
async def test_an_answer_that_makes_no_sense_is_said_so(answer: Reply) -> None:
    async with queue_and_server() as (queue, server):
        server.next(answer)
        with pytest.raises(QueueUnavailable, match="holds no deliveries"):
            await queue.receive("mail", 1, 0.0)


async def test_what_is_no_http_is_said_so() -> None:
    async with queue_and_server() as (queue, server):
        server.next(Raw(b"220 mail.example ready\r\n"))
        health = await queue.health()
        assert not health.reachable
        assert health.detail.startswith(server.url)


async def test_a_server_that_does_not_answer_is_said_so_within_seconds() -> None:
    async with queue_and_server() as (queue, server):
        server.next(Hang())
        health = await queue.health()
        assert not health.reachable
        assert health.detail == f"{server.url}: no answer in 3 s"


async def test_a_token_that_the_server_quotes_is_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with HttpQueueDouble() as server:
        queue = HttpQueue(server.url, token="wrong-token")
        with pytest.raises(QueueUnavailable, match=r"401 .*not a token: Bearer \*\*\*") as error:
            await queue.publish("mail", [1], AT_ONCE)
        await queue.close()
    assert "wrong-token" not in f"{error.value}{queue!r}{caplog.text}"


async def test_what_is_set_aside_is_in_a_queue_of_its_own() -> None:
    async with queue_and_server() as (queue, server):
        server.post("mail", {"id": 1, "to": "ann@example.net"})
        assert await queue.receive("mail", 1, 0.1) == []
        assert messages(server) == []
        assert messages(server, "mail.set-aside") == [{"id": 1, "to": "ann@example.net"}]
        assert (await queue.health()).set_aside == 1


@pytest.mark.parametrize(
    ("number", "status", "retry_after", "expected"),
    [
        (1, None, None, 0.1),
        (2, 503, None, 0.2),
        (4, 500, "soon", 0.8),
        (5, None, None, None),
        (1, 429, "30", 30.0),
        (1, 429, "31", None),
        (1, 429, "9" * 5_000, None),
        (1, 429, "-1", 0.1),
        (1, 400, "1", None),
        (1, 413, None, None),
    ],
)
def test_the_pause_before_the_next_try(
    number: int, status: int | None, retry_after: str | None, expected: float | None
) -> None:
    assert pause_seconds(number, status, retry_after) == expected


@pytest.mark.parametrize(
    "url",
    ["http://queue.example.net", "https://", "queue.example.net", "ftp://localhost", "https://a:b@queue.example.net",
     "https://queue.example.net/?token=b", "https://queue.example.net:port"],
)  # fmt: skip
def test_a_url_that_would_give_the_token_away_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        HttpQueue(url, token=TOKEN)
    assert error.value.field == "url"
    assert "b@" not in str(error.value)


@pytest.mark.parametrize("token", ["", "two\nlines", "ü"])
def test_a_token_that_fits_into_no_header_is_refused(token: str) -> None:
    with pytest.raises(InvalidInput) as error:
        HttpQueue("https://queue.example.net", token=token)
    assert error.value.field == "token"


@pytest.mark.parametrize("hold_seconds", [0, -1])
def test_a_hold_of_no_time_is_refused(hold_seconds: int) -> None:
    with pytest.raises(InvalidInput, match=r"^hold_seconds: must be one second or more"):
        HttpQueue("https://queue.example.net", token=TOKEN, hold_seconds=hold_seconds)
