"""The contract of a channel: ours keep it, and one that breaks any clause of it is caught."""

import asyncio
import io
import json
import unittest
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from duebook import Accepted, ChannelPolicy, Email, Message, Outcome, Rejected, Retry, SendContext, Uncertain, Webhook
from duebook.channels.console import ConsoleChannel
from duebook.channels.file import FileChannel
from duebook.channels.function import FunctionChannel
from duebook.channels.smtp import Smtp
from duebook.channels.webhook import WebhookChannel
from duebook.testing import ChannelContract, RecordingChannel, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpDouble, Reply, Say, SmtpDouble


class Refused(Exception):
    pass


@dataclass
class Provider:
    """An API as a function: behaves as told with its first request, and takes every other."""

    behaviour: Behaviour
    seen: list[str | None] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, key: str | None) -> str:
        self.seen.append(key)
        self.reached.set()
        if len(self.seen) == 1:
            match self.behaviour:
                case "refuses":
                    raise Refused("no such number")
                case "breaks":
                    raise ConnectionResetError("by peer")
                case "hangs":
                    await asyncio.Event().wait()
        return f"m-{len(self.seen)}"


class TestAFunction(ChannelContract):
    raises = (ConnectionResetError,)

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        there = Provider(provider)

        async def send(message: Any, context: SendContext) -> Outcome:
            try:
                async with asyncio.timeout(context.deadline_seconds):
                    return Accepted(await there.post(context.idempotency_key))
            except Refused as error:
                return Rejected(str(error))
            except TimeoutError:
                return Uncertain("no answer", phase="reply")

        policy = ChannelPolicy("sms", key_window=timedelta(hours=24))
        yield Rig(FunctionChannel(policy, send), lambda: there.seen, there.reached.wait)


class TestAPlainFunction(ChannelContract):
    behaviours = ("accepts", "refuses", "breaks")
    raises = (ConnectionResetError,)

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        there = Provider(provider)

        def send(message: Any, context: SendContext) -> Outcome:
            try:
                return Accepted(asyncio.run(there.post(context.idempotency_key)))
            except Refused as error:
                return Rejected(str(error))

        yield Rig(FunctionChannel(ChannelPolicy("sms"), send), lambda: there.seen)


class TestAConsole(ChannelContract):
    behaviours = ("accepts",)

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        stream = io.StringIO()
        yield Rig(ConsoleChannel(stream=stream), lambda: [None] * stream.getvalue().count("──"))


class TestAFile(ChannelContract):
    behaviours = ("accepts",)

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "outbox.jsonl"

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        def seen() -> list[str | None]:
            lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
            return [json.loads(line)["idempotency_key"] for line in lines]

        yield Rig(FileChannel(self.path), seen)


class TestARecording(ChannelContract):
    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        channel = RecordingChannel(key_window=timedelta(hours=1))
        scripts: dict[Behaviour, Outcome] = {
            "refuses": Rejected("no"),
            "breaks": Uncertain("broken"),
            "hangs": Uncertain("late"),
        }
        if provider in scripts:
            channel.next(scripts[provider])
        yield Rig(channel, lambda: [attempt.idempotency_key for attempt in channel.attempts])

    behaviours = ("accepts", "refuses", "breaks")


class TestSmtp(ChannelContract):
    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        steps: dict[Behaviour, Say | Drop | Hang] = {
            "refuses": Say("550 5.1.1 no such user", take=True),
            "breaks": Drop(take=True),
            "hangs": Hang(take=True),
        }
        async with SmtpDouble() as server:
            if provider in steps:
                server.next("dot", steps[provider])
            yield Rig(
                Smtp("127.0.0.1", server.port, sender="renewals@example.com", tls="none"),
                lambda: [mail.message["Message-ID"] for mail in server.accepted],
                lambda: server.until(lambda: server.reached["dot"]),
            )

    def foreign(self) -> Message:
        return Webhook(body={})


class TestAWebhook(ChannelContract):
    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        answers: dict[Behaviour, Reply | Drop | Hang] = {
            "refuses": Reply(400, "no such event"),
            "breaks": Drop(),
            "hangs": Hang(),
        }
        async with HttpDouble() as server:
            if provider in answers:
                server.next(answers[provider])
            yield Rig(
                WebhookChannel(server.url, allow_private=True, key_window=timedelta(hours=24)),
                lambda: [request.headers["idempotency-key"] for request in server.requests],
                lambda: server.until(lambda: server.requests),
            )

    def message(self) -> Message:
        return Webhook(body={"event": "renewal.due"})

    def foreign(self) -> Message:
        return Email(to="ann@example.net", subject="Renewal", text="")


# Channels that break it

Send = Callable[[Provider, Any, SendContext], Any]


class Bare:
    """A channel as an object, with nothing between it and the engine."""

    def __init__(self, provider: Provider, send: Send) -> None:
        self.policy = ChannelPolicy("sms", key_window=timedelta(hours=24))
        self._provider, self._wrong = provider, send

    async def send(self, message: Message, context: SendContext) -> Any:
        return await self._wrong(self._provider, message, context)

    async def close(self) -> None: ...


class Wrong(ChannelContract):
    raises = (ConnectionResetError,)

    def __init__(self, send: Send) -> None:
        self._wrong = send

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        there = Provider(provider)
        yield Rig(Bare(there, self._wrong), lambda: there.seen, there.reached.wait)


async def retries(provider: Provider, message: Any, context: SendContext) -> Outcome:
    for _ in range(3):
        try:
            return Accepted(await provider.post(context.idempotency_key))
        except (Refused, ConnectionResetError):
            continue
    return Uncertain("three times")


async def says_retry(provider: Provider, message: Any, context: SendContext) -> Outcome:
    try:
        return Accepted(await provider.post(context.idempotency_key))
    except ConnectionResetError as error:
        return Retry(str(error))


async def makes_keys(provider: Provider, message: Any, context: SendContext) -> Outcome:
    return Accepted(await provider.post(f"{context.idempotency_key}:{context.number}"))


async def one_key(provider: Provider, message: Any, context: SendContext) -> Outcome:
    return Accepted(await provider.post("sms"))


async def drops_keys(provider: Provider, message: Any, context: SendContext) -> Outcome:
    return Accepted(await provider.post(None))


async def waits(provider: Provider, message: Any, context: SendContext) -> Outcome:
    return Accepted(await provider.post(context.idempotency_key))


async def keeps_on(provider: Provider, message: Any, context: SendContext) -> Outcome:
    try:
        return Accepted(await provider.post(context.idempotency_key))
    except asyncio.CancelledError:
        return Uncertain("cancelled")


async def answers_a_word(provider: Provider, message: Any, context: SendContext) -> Any:
    await provider.post(context.idempotency_key)
    return "ok"


async def raises_anything(provider: Provider, message: Any, context: SendContext) -> Outcome:
    raise ZeroDivisionError("oops")


async def hopes(provider: Provider, message: Any, context: SendContext) -> Outcome:
    try:
        return Accepted(await provider.post(context.idempotency_key))
    except Refused:
        return Accepted()


def leaves_a_task() -> Send:
    tasks = []

    async def send(provider: Provider, message: Any, context: SendContext) -> Outcome:
        tasks.append(asyncio.create_task(asyncio.Event().wait()))
        return Accepted(await provider.post(context.idempotency_key))

    return send


def shared_line() -> Send:
    """Keeps one connection, and uses it again after an attempt that was cancelled on it."""
    line = {"half used": False}

    async def send(provider: Provider, message: Any, context: SendContext) -> Outcome:
        if line["half used"]:
            return Uncertain("the reply to another message was read")
        line["half used"] = True
        answer = await provider.post(context.idempotency_key)
        line["half used"] = False
        return Accepted(answer)

    return send


@pytest.mark.parametrize(
    ("send", "clause", "said"),
    [
        (retries, "test_what_is_refused_is_not_sent_again", "refused it, and the channel says Accepted"),
        (retries, "test_what_may_have_been_taken_is_uncertain_and_not_sent_again", "the channel says Accepted"),
        (says_retry, "test_what_may_have_been_taken_is_uncertain_and_not_sent_again", "the channel says Retry"),
        (makes_keys, "test_every_attempt_carries_the_same_key", "they must be one"),
        (one_key, "test_every_attempt_carries_the_same_key", "two notifications carry one key"),
        (drops_keys, "test_every_attempt_carries_the_same_key", "the provider sees no key"),
        (waits, "test_it_is_back_when_its_time_is_over", "still waits"),
        (keeps_on, "test_it_can_be_cancelled_and_leaves_nothing_half_used", "all the same"),
        (shared_line(), "test_it_can_be_cancelled_and_leaves_nothing_half_used", "a late reply"),
        (leaves_a_task(), "test_closing_it_leaves_nothing_running", "these tasks go on"),
        (answers_a_word, "test_what_is_taken_is_accepted_in_one_request", "which is no Outcome"),
        (raises_anything, "test_what_is_taken_is_accepted_in_one_request", "name it in `raises`"),
        (hopes, "test_what_is_refused_is_not_sent_again", "the channel says Accepted"),
    ],
)
def test_a_wrong_channel_fails(send: Send, clause: str, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        getattr(Wrong(send), clause)()


def test_a_channel_that_retries_behind_the_engines_back_is_counted() -> None:
    async def stubborn(provider: Provider, message: Any, context: SendContext) -> Outcome:
        for _ in range(2):
            try:
                await provider.post(context.idempotency_key)
            except ConnectionResetError:
                continue
        return Uncertain("who knows")

    with pytest.raises(AssertionError, match="the provider got 2 requests for 1"):
        Wrong(stubborn).test_what_may_have_been_taken_is_uncertain_and_not_sent_again()


def test_it_needs_no_pytest() -> None:
    """As unittest finds and runs it."""

    class Here(TestAFunction, unittest.TestCase):
        pass

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Here).run(result)
    assert result.testsRun == 10
    assert result.wasSuccessful(), result.failures + result.errors
