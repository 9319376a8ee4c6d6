"""Where a book plays while a test looks on: its clock, its database, its channels and its workers are the test's."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Collection, Coroutine
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from unittest.mock import patch

from ..app.book import Duebook
from ..domain.decision import Decision, Due
from ..domain.message import Message
from ..domain.outcome import Outcome
from ..engine.registry import Registry
from ..ports import Channel, Handler, SendContext
from ..wiring import Threaded, Wired
from ..worker import Worker
from .clock import SimClock
from .databases import OnClock, Place
from .inline import inline, refused
from .recording import RecordingChannel

Apart = Callable[[Coroutine[Any, Any, Any]], Any]
"""Runs a coroutine that may wait, in an event loop of its own, and answers its result."""


def check_free(book: Duebook) -> None:
    """Raise RuntimeError if a book is on a timeline."""
    if isinstance(book.wired.database, OnClock):
        raise RuntimeError("this book is on another timeline; close that one first")


class Stage:
    """Takes the place of what is behind a book, and gives it back in the end. The book itself, and whatever holds it,
    stays the same. `apart`: for a test without an event loop."""

    def __init__(
        self, book: Duebook, clock: SimClock, place: Place, *, keep: Collection[str], apart: Apart | None
    ) -> None:
        self.book = book
        self.database = OnClock(place, clock)
        self.recordings: dict[str, RecordingChannel] = {}
        self._keep = keep
        self._apart = apart
        self._registry = Registry(book.registry.kinds)
        self._stack = ExitStack()
        self._put_on(book.wired, clock)

    def _put_on(self, wired: Wired, clock: SimClock) -> None:
        async def correct(_: object) -> timedelta:
            return timedelta(0)

        own = {"database": self.database, "registry": self._registry, "worker": lambda *_: IdleWorker()}
        for name, value in own.items():
            self._stack.enter_context(patch.object(wired, name, value))
        times = patch.multiple(wired.clock, now=clock.now, monotonic=clock.monotonic, correct=correct)
        self._stack.enter_context(times)
        self.at_once = refused if self.database.place.awaited else inline
        self._stack.enter_context(patch.object(self.book.sync._portal, "call", self.at_once))

    def refuse_connections(self) -> None:
        """Say so where the book is asked to join a transaction that the timeline will never see."""

        def using(connection: object, _: object) -> None:
            raise RuntimeError(
                f"this timeline keeps its rows in a database of its own, so it would not see what is scheduled on this "
                f"{type(connection).__name__}. Call timeline.using(connection) first, or give the timeline the URL of "
                "your test database (in pytest: the fixture duebook_url)"
            )

        self._stack.enter_context(patch.object(self.book.wired, "using", using))

    def set(self) -> Wired:
        """Have every kind and channel that the book knows by now take part; answers what the engine is made from."""
        mine, theirs = self._registry, self.book.registry
        mine.handlers.update({name: self._handler(handler) for name, handler in theirs.handlers.items()})
        for name in [*theirs.channels, *(kind.channel for kind in theirs.kinds.values())]:
            if name not in mine.channels:
                self.recordings[name] = self._recording(name, theirs.channels.get(name))
                mine.channels[name] = self._channel(self.recordings[name])
        return self.book.wired

    def close(self) -> None:
        self._stack.close()
        self.database.place.leave()

    def _recording(self, name: str, channel: Channel | None) -> RecordingChannel:
        if channel is None or isinstance(channel, RecordingChannel):
            return channel or RecordingChannel(name)
        policy = channel.policy
        return RecordingChannel(
            name, key_window=policy.key_window, concurrency=policy.concurrency, send_seconds=policy.send_seconds,
            pause=policy.pause, through=channel if name in self._keep else None,
        )  # fmt: skip

    def _handler(self, handler: Handler) -> Handler:
        """A plain handler runs in the thread of the test, where the test's connection is; without an event loop, one
        that is awaited gets a loop for itself."""
        apart = self._apart

        async def asked(due: Due) -> Decision:
            answer: Any = handler.function(due) if isinstance(handler, Threaded) else handler(due)
            if inspect.isawaitable(answer):
                answer = await answer if apart is None else apart(_wait_for(answer))
            decision: Decision = answer
            return decision

        return asked

    def _channel(self, channel: RecordingChannel) -> Channel:
        return channel if self._apart is None or channel.policy.name not in self._keep else _Apart(channel, self._apart)


class _Apart:
    """A channel that waits for something, in a test that does not."""

    def __init__(self, channel: Channel, apart: Apart) -> None:
        self.policy = channel.policy
        self._channel = channel
        self._apart = apart

    async def send(self, message: Message, context: SendContext) -> Outcome:
        answer: Outcome = self._apart(_wait_for(self._channel.send(message, context)))
        return answer

    async def close(self) -> None:
        self._apart(self._channel.close())


class IdleWorker(Worker):
    """The worker of an application under test: it starts and stops, and leaves the work to the timeline."""

    def __init__(self) -> None:
        self.lanes = self.agents = ()
        self._stopped = asyncio.Event()

    async def start(self) -> None: ...

    async def stop(self) -> None:
        self._stopped.set()


async def _wait_for(something: Any) -> Any:
    return await something
