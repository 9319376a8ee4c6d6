"""Every phase at which an attempt can end, for every provider; and the cases from other projects that concern them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from duebook.domain.outcome import Accepted, Throttled, Uncertain
from duebook.testing.doubles import Drop, DropUnread, Hang, HttpAnswer, HttpDouble, HttpRequest, Raw, Reply

from .http_matrix import PROVIDERS as COLUMNS
from .http_matrix import rows
from .providers import PROVIDERS, SECRET, Provider, standing
from .support import NOW, SHORT, context, email, word
from .tls import certificate

Stage = Callable[[Provider, Path], AbstractAsyncContextManager[Any]]

CELLS = [
    pytest.param(phase, name, expected, id=f"{phase}-{name}")
    for phase, outcomes in rows()
    for name, expected in zip(COLUMNS, outcomes, strict=True)
]
EVERY = pytest.mark.parametrize("provider", PROVIDERS.values(), ids=PROVIDERS)


def at(url: str) -> Stage:
    @asynccontextmanager
    async def stage(provider: Provider, folder: Path) -> AsyncIterator[Any]:
        yield provider.build(base_url=url)

    return stage


@asynccontextmanager
async def behind_a_foreign_certificate(provider: Provider, folder: Path) -> AsyncIterator[Any]:
    papers = certificate(folder, "other.invalid")
    async with HttpDouble(tls=papers.server) as double:
        yield provider.build(base_url=double.url, tls_context=papers.client)


def answering(answer: HttpAnswer | DropUnread | Callable[[Provider], HttpAnswer]) -> Stage:
    @asynccontextmanager
    async def stage(provider: Provider, folder: Path) -> AsyncIterator[Any]:
        async with standing(provider, answer(provider) if callable(answer) else answer) as (channel, _):  # type: ignore[arg-type]
            yield channel

    return stage


def cut(provider: Provider) -> Reply:
    """Return the success with its body broken off; the headers have arrived."""
    return Reply(provider.success.status, b'{"id": ', provider.success.headers, cut=True)


STAGES: dict[str, Stage] = {
    "the name has no address": at("https://nowhere.invalid"),
    "nobody listens": at("http://127.0.0.1:1"),
    "a certificate of somebody else": behind_a_foreign_certificate,
    "closed while the body was on its way": answering(DropUnread()),
    "closed without an answer": answering(Drop(take=True)),
    "no answer in time": answering(Hang(take=True)),
    "an answer that is not HTTP": answering(Raw(b"garbage\r\n\r\n", take=True)),
    "half of a status line": answering(Raw(b"HTTP/1.1 200", take=True)),
    "success": answering(lambda provider: provider.success),
    "success, cut off": answering(cut),
    "refused as documented": answering(lambda provider: provider.refusal),
}


@pytest.mark.parametrize(("phase", "name", "expected"), CELLS)
async def test_what_an_attempt_answers(phase: str, name: str, expected: str, tmp_path: Path) -> None:
    stage = STAGES.get(phase) or answering(Reply(int(phase), headers={"location": "http://127.0.0.1:1/"}))
    async with stage(PROVIDERS[name], tmp_path) as channel:
        deadline = SHORT if phase == "no answer in time" else 5.0
        outcome = await channel.send(email(), context(deadline_seconds=deadline))
    assert word(outcome) == expected, outcome
    assert SECRET not in repr(outcome)


@EVERY
async def test_h39_a_timeout_after_the_body_is_no_failure(provider: Provider) -> None:
    async with standing(provider, Hang(take=True)) as (channel, double):
        outcome = await channel.send(email(), context(deadline_seconds=SHORT))
        assert (word(outcome), len(double.requests), len(double.accepted)) == ("Uncertain", 1, 1)


@EVERY
async def test_h40_a_late_answer_is_waited_for(provider: Provider) -> None:
    late = asyncio.Event()

    async def answer(request: HttpRequest) -> Reply:
        await late.wait()
        return provider.success

    async with standing(provider) as (channel, double):
        double.next(answer)
        attempt = asyncio.create_task(channel.send(email(), context()))
        await double.until(lambda: double.requests)
        late.set()
        assert word(await attempt) == "Accepted"
        assert len(double.accepted) == 1


@EVERY
async def test_h41_a_repeat_from_another_process_is_the_same_request(provider: Provider) -> None:
    async with standing(provider, Drop(take=True)) as (channel, double):
        await channel.send(email(headers={"X-B": "2", "X-A": "1"}), context())
        restarted = provider.build(base_url=double.url)
        await restarted.send(email(headers={"X-A": "1", "X-B": "2"}), context(number=2))
        first, again = double.requests
        assert (again.target, again.body, provider.mark(again)) == (first.target, first.body, provider.mark(first))


@EVERY
async def test_h42_no_connection_is_used_again(provider: Provider) -> None:
    async with standing(provider, Hang()) as (channel, double):
        first = await channel.send(email(), context("first", deadline_seconds=SHORT))
        second = await channel.send(email(), context("second"))
        assert (word(first), word(second), double.connections) == ("Uncertain", "Accepted", 2)


@pytest.mark.parametrize(
    ("value", "until"),
    [
        pytest.param("-5", None, id="h44"),
        pytest.param("30", NOW + timedelta(seconds=30), id="h45"),
        pytest.param("1771404540", NOW + timedelta(hours=24), id="h46"),
        pytest.param("Wed, 09 Sep 2026 12:00:00 GMT", datetime(2026, 9, 9, 12, tzinfo=UTC), id="h48"),
    ],
)
@EVERY
async def test_a_throttle_lasts_as_long_as_it_was_asked(provider: Provider, value: str, until: datetime | None) -> None:
    async with standing(provider, Reply(429, headers={"Retry-After": value})) as (channel, _):
        outcome = await channel.send(email(), context())
        assert outcome == Throttled("429 Too Many Requests", until)


@EVERY
async def test_an_error_that_quotes_the_key_back_does_not_carry_it_on(provider: Provider) -> None:
    answer = Reply(500, {"message": f"no account has the key {SECRET}"})
    async with standing(provider, answer) as (channel, _):
        outcome = await channel.send(email(), context())
        assert isinstance(outcome, Uncertain)
        assert "no account has the key ***" in outcome.reason


@EVERY
async def test_a_redirect_is_not_followed(provider: Provider) -> None:
    async with HttpDouble() as elsewhere:
        async with standing(provider, Reply(307, headers={"location": elsewhere.url})) as (channel, _):
            assert word(await channel.send(email(), context())) == "Uncertain"
        assert elsewhere.connections == 0


@EVERY
async def test_an_answer_without_end_is_read_as_far_as_it_is_of_use(provider: Provider) -> None:
    async with standing(provider, Reply(500, b"x" * 3_000_000)) as (channel, _):
        outcome = await channel.send(email(), context())
        assert isinstance(outcome, Uncertain)
        assert len(outcome.reason) < 1_000


@EVERY
async def test_headers_that_the_channel_writes_are_refused(provider: Provider) -> None:
    async with standing(provider) as (channel, double):
        outcome = await channel.send(email(headers={"Message-ID": "<mine@example.com>"}), context())
        assert (word(outcome), len(double.requests)) == ("Rejected", 0)


@EVERY
async def test_the_answer_names_the_message(provider: Provider) -> None:
    async with standing(provider) as (channel, _):
        outcome = await channel.send(email(), context())
        assert isinstance(outcome, Accepted)
        assert outcome.provider_id
        assert "<" not in outcome.provider_id
