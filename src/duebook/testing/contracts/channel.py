"""What a channel owes the engine, as tests to inherit for a channel of your own.

A channel is judged by what its provider sees of it, so the tests need one of yours in front of a provider of yours that
behaves as they say. They need no pytest: each is a plain method that runs an event loop of its own.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar, Literal, TypeVar

from ...domain.identity import idempotency_key, message_id
from ...domain.message import Email, Message
from ...domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from ...domain.policy import ChannelPolicy
from ...ports import Channel, SendContext

R = TypeVar("R")

Behaviour = Literal["accepts", "refuses", "breaks", "hangs"]
"""What the provider does with its first request: takes it; refuses it for good; has read it whole and closes the
connection without an answer; has read it and never answers. All later requests it takes."""

NOW = datetime(2027, 1, 14, 14, tzinfo=UTC)
PATIENCE_SECONDS = 5.0
SHORT_SECONDS = 0.3
GRACE_SECONDS = 0.9
"""How long after its deadline a channel may come back: the engine gives up on it after one second."""


@dataclass(frozen=True)
class Rig:
    """A channel in front of a provider.

    `seen`: for each request the provider has got so far, the mark by which it would recognise a repeat (an idempotency
    key, a Message-ID), or None if there was no such mark. `reached`: waits until it has got the first one; without it
    the tests that cancel an attempt wait a moment instead.
    """

    channel: Channel
    seen: Callable[[], Sequence[str | None]]
    reached: Callable[[], Awaitable[object]] | None = None


class ChannelContract(ABC):
    """Inherit it as `class TestMyChannel(ChannelContract)` and write `rig`.

    `behaviours`: what the provider of this channel can do at all. `raises`: exceptions `send` may let out, each of them
    to be recorded as Uncertain. `deadline_seconds`: how long the tests give an attempt that is to run out of time.
    """

    behaviours: ClassVar[Sequence[Behaviour]] = ("accepts", "refuses", "breaks", "hangs")
    raises: ClassVar[tuple[type[Exception], ...]] = ()
    deadline_seconds: ClassVar[float] = SHORT_SECONDS

    @abstractmethod
    def rig(self, provider: Behaviour) -> AbstractAsyncContextManager[Rig]:
        """Return a channel in front of a provider that behaves so."""

    def message(self) -> Message:
        """Return a message that the channel takes."""
        return Email(to="ann@example.net", subject="Renewal", text="Your plan renews on Monday.\n")

    def foreign(self) -> Message | None:
        """Return a message of a type that the channel does not take; None if it takes all."""
        return None

    # One attempt

    def test_it_says_what_it_promises(self) -> None:
        async def check(rig: Rig) -> None:
            policy = rig.channel.policy
            assert isinstance(policy, ChannelPolicy), f"policy is {policy!r}, and must be a ChannelPolicy"

        self._with("accepts", check)

    def test_what_is_taken_is_accepted_in_one_request(self) -> None:
        async def check(rig: Rig) -> None:
            outcome = await self._attempt(rig)
            assert isinstance(outcome, Accepted), f"the provider took it, and the channel says {outcome}"
            self._requests(rig, 1)

        self._with("accepts", check)

    def test_what_is_refused_is_not_sent_again(self) -> None:
        async def check(rig: Rig) -> None:
            outcome = await self._attempt(rig)
            assert isinstance(outcome, (Rejected, Retry, Throttled)), (
                f"the provider refused it, and the channel says {outcome}. Known not to be accepted is Rejected, Retry "
                "or Throttled"
            )
            self._requests(rig, 1)

        self._with("refuses", check)

    def test_what_may_have_been_taken_is_uncertain_and_not_sent_again(self) -> None:
        async def check(rig: Rig) -> None:
            outcome = await self._attempt(rig)
            assert isinstance(outcome, Uncertain), (
                f"the provider had read it whole when the connection broke, and the channel says {outcome}. Nobody "
                "knows whether it was accepted: that is Uncertain"
            )
            self._requests(rig, 1)

        self._with("breaks", check)

    def test_it_is_back_when_its_time_is_over(self) -> None:
        async def check(rig: Rig) -> None:
            limit = self.deadline_seconds + GRACE_SECONDS
            try:
                async with asyncio.timeout(limit):
                    outcome = await self._attempt(rig, deadline_seconds=self.deadline_seconds)
            except TimeoutError:
                raise AssertionError(
                    f"the provider never answers, and after {limit:g} s of the {self.deadline_seconds:g} s in "
                    "context.deadline_seconds the channel still waits"
                ) from None
            assert isinstance(outcome, Uncertain), f"the provider never answered, and the channel says {outcome}"
            self._requests(rig, 1)

        self._with("hangs", check)

    def test_it_can_be_cancelled_and_leaves_nothing_half_used(self) -> None:
        async def check(rig: Rig) -> None:
            attempt = asyncio.create_task(_made(rig.channel.send(self.message(), _context("first", 60.0))))
            await self._under_way(rig)
            attempt.cancel()
            done, _ = await asyncio.wait([attempt], timeout=GRACE_SECONDS)
            assert done, "the attempt was cancelled and goes on; nothing may keep CancelledError back"
            assert attempt.cancelled(), f"the attempt was cancelled, and ended with {_ending(attempt)} all the same"
            outcome = await self._attempt(rig, "second")
            assert isinstance(outcome, Accepted), (
                f"after a cancelled attempt the next one, which the provider takes, ends with {outcome}. Close the "
                "connection of an attempt that did not end: a late reply on it would be taken for the next one's"
            )

        self._with("hangs", check)

    # Several

    def test_every_attempt_carries_the_same_key(self) -> None:
        async def check(rig: Rig) -> None:
            await self._attempt(rig, "first", number=1)
            await self._attempt(rig, "first", number=2)
            await self._attempt(rig, "second", number=1)
            first, again, other = (*rig.seen(), None, None, None)[:3]
            if first is None and again is None:
                assert rig.channel.policy.key_window is None, (
                    "the policy states a key_window, and the provider sees no key: pass context.idempotency_key on"
                )
                return
            assert first == again, f"the first attempt carries {first!r} and the second {again!r}; they must be one"
            assert first != other, f"two notifications carry one key, {first!r}; the provider would drop one of them"

        self._with("accepts", check)

    def test_attempts_at_once_do_not_disturb_each_other(self) -> None:
        async def check(rig: Rig) -> None:
            keys = [f"sub-{number}" for number in range(min(3, rig.channel.policy.concurrency))]
            outcomes = await asyncio.gather(*(self._attempt(rig, key) for key in keys))
            assert all(isinstance(outcome, Accepted) for outcome in outcomes), f"not all were accepted: {outcomes}"
            self._requests(rig, len(keys))

        self._with("accepts", check)

    def test_a_message_it_does_not_take_is_refused(self) -> None:
        async def check(rig: Rig) -> None:
            foreign = self.foreign()
            if foreign is not None:
                outcome = await self._attempt(rig, message=foreign)
                assert isinstance(outcome, Rejected), f"{foreign.type} is not for this channel, and it says {outcome}"
                self._requests(rig, 0)

        self._with("accepts", check)

    def test_closing_it_leaves_nothing_running(self) -> None:
        async def check(rig: Rig) -> None:
            before = asyncio.all_tasks()
            await self._attempt(rig)
            await rig.channel.close()
            await rig.channel.close()
            # What served the connection at the provider's end takes a moment to notice.
            if left := asyncio.all_tasks() - before:
                await asyncio.wait(left, timeout=GRACE_SECONDS)
            left = {task for task in left if not task.done()}
            assert not left, f"the channel is closed, and these tasks go on: {left}"

        self._with("accepts", check)

    # How

    def _with(self, provider: Behaviour, check: Callable[[Rig], Coroutine[Any, Any, None]]) -> None:
        async def run() -> None:
            async with self.rig(provider) as rig:
                try:
                    async with asyncio.timeout(60.0):
                        await check(rig)
                finally:
                    await rig.channel.close()

        if provider in self.behaviours:
            asyncio.run(run())

    async def _attempt(
        self,
        rig: Rig,
        key: str = "sub-1842/2027",
        *,
        message: Message | None = None,
        number: int = 1,
        deadline_seconds: float = PATIENCE_SECONDS,
    ) -> Outcome:
        """Make an attempt as the engine does: a declared exception is what it records for it."""
        context = _context(key, deadline_seconds, number)
        try:
            outcome: Any = await rig.channel.send(message or self.message(), context)
        except self.raises as error:
            return Uncertain(f"{type(error).__name__}: {error}")
        except Exception as error:
            raise AssertionError(
                f"send raised {type(error).__name__}: {error}. It would be recorded as Uncertain; where that is the "
                "truth, name it in `raises`, and elsewhere answer what is known"
            ) from error
        assert isinstance(outcome, Outcome), f"send answers {outcome!r}, which is no Outcome"
        return outcome

    async def _under_way(self, rig: Rig) -> None:
        if rig.reached is not None:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await rig.reached()
        else:
            await asyncio.sleep(SHORT_SECONDS)

    def _requests(self, rig: Rig, number: int) -> None:
        seen = len(rig.seen())
        assert seen == number, (
            f"the provider got {seen} requests for {number}: one attempt is one request, and retries are the engine's"
        )


def _context(key: str, deadline_seconds: float, number: int = 1) -> SendContext:
    name = idempotency_key("contract", "renewal", key)
    return SendContext(
        kind="renewal", key=key, recipient="acct-1842", number=number, idempotency_key=name,
        message_id=message_id(name, "duebook.example"), now=NOW, deadline_seconds=deadline_seconds, rendered_at=NOW,
    )  # fmt: skip


async def _made(attempt: Awaitable[Outcome]) -> Outcome:
    return await attempt


def _ending(attempt: asyncio.Task[Outcome]) -> object:
    return attempt.exception() or attempt.result()
