"""The HTTP double does what it is told, honours keys as providers do, and records exactly what it accepted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta

import httpx2
import pytest

from duebook.testing import SimClock
from duebook.testing.doubles import (
    Drop,
    DropUnread,
    Hang,
    HttpAnswer,
    HttpDouble,
    HttpRequest,
    Raw,
    Reply,
    post_receipt,
)

DAY = timedelta(hours=24)


async def post(
    provider: HttpDouble, json: Mapping[str, object], key: str | None = None, path: str = "/messages"
) -> httpx2.Response:
    headers = {"Idempotency-Key": key} if key else {}
    async with httpx2.AsyncClient(trust_env=False, timeout=5.0) as client:
        return await client.post(provider.url + path, json=dict(json), headers=headers)


async def get(provider: HttpDouble, path: str) -> httpx2.Response:
    async with httpx2.AsyncClient(trust_env=False, timeout=5.0) as client:
        return await client.get(provider.url + path)


async def test_it_accepts_what_is_posted_and_names_it() -> None:
    async with HttpDouble() as provider:
        answer = await post(provider, {"to": "ann"}, path="/v1/messages?dry=no")
        assert (answer.status_code, answer.json()) == (200, {"id": "m-1"})
        (request,) = provider.accepted
        assert (request.method, request.path, request.query) == ("POST", "/v1/messages", {"dry": "no"})
        assert request.json() == {"to": "ann"}


async def test_it_reads_forms() -> None:
    async with HttpDouble() as provider, httpx2.AsyncClient(trust_env=False) as client:
        await client.post(provider.url, data={"To": "+15550100", "Body": "Your plan & more"})
        assert provider.accepted[0].form() == {"To": "+15550100", "Body": "Your plan & more"}


async def test_a_body_in_chunks_is_refused_and_not_taken_for_an_empty_one() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"{}"

    async with HttpDouble() as provider, httpx2.AsyncClient(trust_env=False) as client:
        assert (await client.post(provider.url, content=chunks())).status_code == 411
        assert provider.requests == []


async def test_an_adapters_test_says_status_headers_and_body() -> None:
    async with HttpDouble() as provider:
        provider.next(
            Reply(201, {"sid": "SM1"}, headers={"Request-Id": "r-9"}), Reply(429, headers={"Retry-After": "30"})
        )
        first, second = await post(provider, {}), await post(provider, {})
        assert (first.status_code, first.json(), first.headers["request-id"]) == (201, {"sid": "SM1"}, "r-9")
        assert (second.status_code, second.headers["retry-after"]) == (429, "30")
        assert [request.number for request in provider.accepted] == [1]


async def test_a_function_of_the_request_may_take_its_time() -> None:
    released = asyncio.Event()

    async def once_released(request: HttpRequest) -> HttpAnswer:
        await released.wait()
        return Reply(202 if request.json()["to"] == "ann" else 400)

    async with HttpDouble(once_released) as provider:
        waiting = [asyncio.create_task(post(provider, {"to": name})) for name in ("ann", "bob")]
        await provider.until(lambda: len(provider.requests) == 2)
        assert not any(task.done() for task in waiting)
        released.set()
        assert [(await task).status_code for task in waiting] == [202, 400]
        assert [request.json() for request in provider.accepted] == [{"to": "ann"}]


@pytest.mark.parametrize(
    ("answer", "requests", "accepted"),
    [
        (DropUnread(), 0, 0),
        (Drop(), 1, 0),
        (Drop(take=True), 1, 1),
        (Raw(b"garbage\r\n\r\n"), 1, 0),
        (Raw(b"HTTP/1.1 200", take=True), 1, 1),
        (Reply(200, "half", cut=True), 1, 1),
        (Reply(200, "half", cut=True, take=False), 1, 0),
    ],
)
async def test_a_connection_that_breaks(answer: HttpAnswer | DropUnread, requests: int, accepted: int) -> None:
    async with HttpDouble() as provider:
        provider.next(answer)
        with pytest.raises(httpx2.HTTPError):
            await post(provider, {})
        assert (len(provider.requests), len(provider.accepted)) == (requests, accepted)


@pytest.mark.parametrize("take", [True, False])
async def test_a_provider_that_hangs_before_or_after_it_accepted(take: bool) -> None:
    async with HttpDouble() as provider:
        provider.next(Hang(take=take))
        waiting = asyncio.create_task(post(provider, {}))
        await provider.until(lambda: provider.requests)
        assert provider.open_connections == 1
        waiting.cancel()
        await provider.until(lambda: not provider.open_connections)
        assert len(provider.accepted) == take


class TestKeys:
    async def test_a_repeat_is_answered_alike_and_accepted_once(self) -> None:
        async with HttpDouble(key_window=DAY) as provider:
            provider.next(Reply(201, {"sid": "SM1"}))
            first, second = [await post(provider, {"to": "ann"}, "k1") for _ in range(2)]
            assert (second.status_code, second.json()) == (first.status_code, first.json())
            assert (len(provider.requests), len(provider.accepted)) == (2, 1)

    async def test_another_key_is_another_message(self) -> None:
        async with HttpDouble(key_window=DAY) as provider:
            await post(provider, {"to": "ann"}, "k1")
            await post(provider, {"to": "ann"}, "k2")
            assert len(provider.accepted) == 2

    async def test_the_same_key_with_another_body_is_refused(self) -> None:
        async with HttpDouble(key_window=DAY, conflict=Reply(409)) as provider:
            await post(provider, {"to": "ann"}, "k1")
            assert (await post(provider, {"to": "bob"}, "k1")).status_code == 409
            assert len(provider.accepted) == 1

    async def test_a_repeat_after_a_lost_answer_finds_the_message_taken(self) -> None:
        async with HttpDouble(key_window=DAY) as provider:
            provider.next(Drop(take=True))
            with pytest.raises(httpx2.HTTPError):
                await post(provider, {}, "k1")
            assert (await post(provider, {}, "k1")).json() == {"id": "m-1"}
            assert len(provider.accepted) == 1

    async def test_what_was_refused_is_not_remembered(self) -> None:
        async with HttpDouble(key_window=DAY) as provider:
            provider.next(Reply(500))
            assert (await post(provider, {"try": 1}, "k1")).status_code == 500
            assert (await post(provider, {"try": 2}, "k1")).status_code == 200

    async def test_a_scripted_failure_meets_a_repeat_too(self) -> None:
        async with HttpDouble(key_window=DAY) as provider:
            await post(provider, {}, "k1")
            provider.next(Drop(take=True), Reply(503))
            with pytest.raises(httpx2.HTTPError):
                await post(provider, {}, "k1")
            assert (await post(provider, {}, "k1")).status_code == 503
            assert len(provider.accepted) == 1

    async def test_a_window_ends(self) -> None:
        clock = SimClock()
        async with HttpDouble(key_window=DAY, monotonic=clock.monotonic) as provider:
            await post(provider, {}, "k1")
            clock.advance(DAY)
            await post(provider, {}, "k1")
            assert len(provider.accepted) == 2

    async def test_without_a_window_every_request_is_accepted(self) -> None:
        async with HttpDouble() as provider:
            await post(provider, {}, "k1")
            await post(provider, {}, "k1")
            assert len(provider.accepted) == 2


async def test_it_answers_look_ups_by_key_and_by_id() -> None:
    async with HttpDouble(key_header="X-Key") as provider:
        assert (await get(provider, "/messages/m-1")).status_code == 404
        async with httpx2.AsyncClient(trust_env=False) as client:
            await client.post(provider.url, json={}, headers={"X-Key": "k1"})
        sent = provider.accepted[0]
        for name in ("k1", sent.provider_id):
            assert (await get(provider, f"/messages/{name}")).json() == {"id": sent.provider_id, "status": "accepted"}
        assert provider.accepted == [sent]


async def test_it_posts_receipts() -> None:
    async with HttpDouble() as ours:
        ours.next(Reply(204), Reply(403))
        assert await post_receipt(f"{ours.url}/receipts", {"id": "m-1", "event": "delivered"}) == 204
        assert await post_receipt(f"{ours.url}/receipts", b"<xml/>", {"X-Signature": "forged"}) == 403
        first, second = ours.requests
        assert (first.path, first.json()) == ("/receipts", {"id": "m-1", "event": "delivered"})
        assert (second.body, second.headers["x-signature"]) == (b"<xml/>", "forged")
