"""The catch-all: what Apprise sends is accepted, and of what fails nothing is known."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from duebook.channels.catch_all import CatchAll
from duebook.domain.message import Message
from duebook.domain.outcome import Accepted
from duebook.errors import InvalidInput
from duebook.testing import ChannelContract, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, Reply

from .rooms import chat
from .support import SHORT, context, webhook, word


@asynccontextmanager
async def standing(*answers: HttpAnswer, **settings: Any) -> AsyncIterator[tuple[CatchAll, HttpDouble]]:
    """Give a channel whose address is Apprise's for any JSON receiver, and the double that receives."""
    async with HttpDouble() as double:
        double.next(*answers)
        channel = CatchAll(f"json://user:s3cret@127.0.0.1:{double.port}/room", **settings)
        yield channel, double
        await channel.close()


class TestContract(ChannelContract):
    behaviours = ("accepts", "breaks", "hangs")
    """Apprise does not tell a refusal from anything else."""

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        first: dict[Behaviour, Sequence[HttpAnswer]] = {
            "accepts": [], "breaks": [Drop(take=True)], "hangs": [Hang(take=True)],
        }  # fmt: skip
        async with standing(*first[provider]) as (channel, double):
            yield Rig(channel, lambda: [None for _ in double.requests], lambda: double.until(lambda: double.requests))

    def message(self) -> Message:
        return chat()

    def foreign(self) -> Message:
        return webhook()


async def test_the_request() -> None:
    async with standing() as (channel, double):
        assert await channel.send(chat(title="Renewal"), context()) == Accepted()
        sent = double.requests[0].json()
    assert (sent["title"], sent["message"]) == ("Renewal", "Your plan renews on Monday.")


@pytest.mark.parametrize("answer", [Reply(400), Reply(404), Reply(429), Reply(500), Drop()])
async def test_every_failure_is_uncertain(answer: HttpAnswer) -> None:
    async with standing(answer) as (channel, _):
        outcome = await channel.send(chat(), context())
        assert word(outcome) == "Uncertain"
        assert "s3cret" not in repr(outcome)


async def test_what_no_thread_began_in_time_was_not_sent() -> None:
    async with standing(Hang(), concurrency=1) as (channel, double):
        first = asyncio.create_task(channel.send(chat(), context()))
        await double.until(lambda: double.requests)
        assert word(await channel.send(chat(), context(deadline_seconds=SHORT))) == "Retry"
        first.cancel()
    assert len(double.requests) == 1


@pytest.mark.parametrize("url", ["", "s3cret", "nonsense://s3cret@host"])
def test_an_address_that_apprise_does_not_know(url: str) -> None:
    with pytest.raises(InvalidInput) as error:
        CatchAll(url)
    assert error.value.field == "url"
    assert "s3cret" not in str(error.value)


async def test_secrets_stay_out_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(0)
    with pytest.raises(InvalidInput):
        CatchAll("nonsense://s3cret@host")
    async with standing(Reply(500), Reply(200)) as (channel, _):
        for _ in range(2):
            await channel.send(chat(text="s3cret words"), context())
    assert "s3cret" not in caplog.text


def test_secrets_stay_out_of_its_text() -> None:
    assert repr(CatchAll("json://user:s3cret@127.0.0.1/")) == "CatchAll(name='catch-all')"
