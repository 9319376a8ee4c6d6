"""Any function as a channel."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..domain.message import Message
from ..domain.outcome import Outcome, Uncertain
from ..domain.policy import ChannelPolicy
from ..ports import SendContext

SendFunction = Callable[[Any, SendContext], Outcome | Awaitable[Outcome]]


class FunctionChannel:
    """Sends by calling `function(message, context)`, which answers an Outcome.

    An async function runs in the worker's event loop. A plain one runs in a thread; as many threads as the
    policy's concurrency exist, and cancelling an attempt cannot stop one. What the function raises is raised
    here, and recorded as Uncertain. So is an answer that is no Outcome: the call was made, and may have sent.
    """

    def __init__(self, policy: ChannelPolicy, function: SendFunction) -> None:
        self.policy = policy
        self._function = function
        self._name = getattr(function, "__qualname__", type(function).__name__)
        self._async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004  an object with an async __call__
        )
        self._threads: ThreadPoolExecutor | None = None

    async def send(self, message: Message, context: SendContext) -> Outcome:
        answer = self._function(message, context) if self._async else await self._in_thread(message, context)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Outcome):
            return answer
        return Uncertain(
            f"{self._name} returned {type(answer).__name__}, not an Outcome; whether it sent is unknown",
            phase="answer",
        )

    async def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)
            self._threads = None

    def _in_thread(self, message: Message, context: SendContext) -> Awaitable[object]:
        # The loop's default threads also resolve host names: a slow function must not stall other channels.
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self.policy.concurrency, f"duebook-{self.policy.name}")
        call = functools.partial(contextvars.copy_context().run, self._function, message, context)
        return asyncio.get_running_loop().run_in_executor(self._threads, call)

    def __repr__(self) -> str:
        return f"FunctionChannel({self.policy.name!r}, {self._name})"
