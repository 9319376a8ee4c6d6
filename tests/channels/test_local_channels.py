"""The channels without a network: functions, the terminal, a file; and that nothing heavy is loaded early."""

from __future__ import annotations

import asyncio
import functools
import io
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from duebook.channels.console import ConsoleChannel
from duebook.channels.file import FileChannel
from duebook.channels.function import FunctionChannel
from duebook.domain.message import Message, Push, freeze
from duebook.domain.outcome import Accepted, Rejected, Uncertain
from duebook.domain.policy import ChannelPolicy
from duebook.ports import SendContext

from .support import context, email, webhook, word

POLICY = ChannelPolicy("sms", concurrency=2)


class TestFunction:
    async def test_an_async_one(self) -> None:
        async def sms(message: Message, context: SendContext) -> Accepted:
            return Accepted(context.key)

        assert await FunctionChannel(POLICY, sms).send(email(), context("k")) == Accepted("k")

    async def test_a_plain_one_runs_in_a_thread(self) -> None:
        threads = []

        def sms(message: Message, context: SendContext) -> Rejected:
            threads.append(threading.current_thread())
            return Rejected("no such number")

        channel = FunctionChannel(POLICY, sms)
        assert await channel.send(email(), context()) == Rejected("no such number")
        assert threads[0] is not threading.main_thread()
        await channel.close()

    async def test_as_many_threads_as_the_concurrency(self) -> None:
        together = threading.Barrier(2, timeout=5)

        def sms(message: Message, context: SendContext) -> Accepted:
            together.wait()
            return Accepted()

        channel = FunctionChannel(POLICY, sms)
        outcomes = await asyncio.gather(*[channel.send(email(), context(str(number))) for number in range(2)])
        assert outcomes == [Accepted(), Accepted()]
        await channel.close()

    @pytest.mark.parametrize("answer", [None, True, "ok", 202, Accepted])
    async def test_an_answer_that_is_no_outcome_is_uncertain(self, answer: Any) -> None:
        async def sms(message: Message, context: SendContext) -> Any:
            return answer

        outcome = await FunctionChannel(POLICY, sms).send(email(), context())
        assert isinstance(outcome, Uncertain)
        assert f"returned {type(answer).__name__}, not an Outcome" in outcome.reason

    async def test_what_it_raises_is_raised(self) -> None:
        def sms(message: Message, context: SendContext) -> Accepted:
            raise ZeroDivisionError

        channel = FunctionChannel(POLICY, sms)
        with pytest.raises(ZeroDivisionError):
            await channel.send(email(), context())
        await channel.close()

    async def test_objects_and_partials_that_are_async(self) -> None:
        class Gateway:
            async def __call__(self, message: Message, context: SendContext) -> Accepted:
                return Accepted()

        async def sms(prefix: str, message: Message, context: SendContext) -> Accepted:
            return Accepted(prefix)

        assert await FunctionChannel(POLICY, Gateway()).send(email(), context()) == Accepted()
        assert await FunctionChannel(POLICY, functools.partial(sms, "p")).send(email(), context()) == Accepted("p")

    async def test_a_plain_one_that_answers_an_awaitable(self) -> None:
        async def later() -> Accepted:
            return Accepted("later")

        channel = FunctionChannel(POLICY, lambda message, context: later())
        assert await channel.send(email(), context()) == Accepted("later")
        await channel.close()


class TestConsole:
    @pytest.mark.parametrize("message", [email(), webhook(), Push(to="+49", title="Due", body="Monday")])
    async def test_it_writes_every_type(self, message: Message) -> None:
        stream = io.StringIO()
        assert await ConsoleChannel(stream=stream).send(message, context(number=2)) == Accepted()
        assert "renewal/sub-1842/2027 to acct-1842, attempt 2" in stream.getvalue()

    async def test_a_message_cannot_steer_the_terminal(self) -> None:
        stream = io.StringIO()
        await ConsoleChannel(stream=stream).send(email(text="\x1b[2Jgone\r\x07"), context())
        assert not {"\x1b", "\r", "\x07"} & set(stream.getvalue())

    async def test_it_promises_no_deduplication(self, tmp_path: Path) -> None:
        assert ConsoleChannel().policy.key_window is None
        assert FileChannel(tmp_path / "sent").policy.key_window is None


class TestFile:
    async def test_a_line_for_each_message(self, tmp_path: Path) -> None:
        channel = FileChannel(tmp_path / "new" / "sent.jsonl")
        for number, message in enumerate([email(text="ü\nzwei"), webhook()], 1):
            assert await channel.send(message, context(number=number)) == Accepted()
        first, second = map(json.loads, channel.path.read_text(encoding="utf-8").splitlines())
        assert first["message"] == json.loads(freeze(email(text="ü\nzwei")))
        assert first["idempotency_key"] == second["idempotency_key"] == "test:renewal:sub-1842/2027"
        assert [first["attempt"], second["attempt"]] == [1, 2]

    async def test_a_file_that_cannot_be_opened_took_nothing(self, tmp_path: Path) -> None:
        assert word(await FileChannel(tmp_path).send(email(), context())) == "Retry"

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
    async def test_a_full_disk_is_uncertain(self) -> None:
        assert word(await FileChannel("/dev/full").send(email(), context())) == "Uncertain"


@pytest.mark.parametrize(
    "module", ["duebook.channels", "duebook.channels.smtp", "duebook.channels.webhook", "duebook.channels.console"]
)
def test_importing_a_channel_loads_nothing_heavy(module: str) -> None:
    heavy = {"aiosmtplib", "email_validator", "httpx2", "httpcore2", "standardwebhooks", "dns", "anyio"}
    code = f"import sys, {module}; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
