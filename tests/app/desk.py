"""A book with its handler and its provider, both told by the test what to do, and a clock that the test moves."""

import asyncio
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from duebook import (
    Accepted,
    Due,
    Duebook,
    Email,
    EngineSettings,
    Message,
    Notification,
    Rejected,
    SendContext,
    Skip,
    State,
    Story,
    Uncertain,
)
from duebook.worker import Worker
from tests.app.places import Place

START = datetime(2030, 1, 7, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
PATIENCE = 20.0

SETTINGS = EngineSettings(poll_seconds=0.02, grace_seconds=5.0, lease_seconds=15.0)


class Clock:
    """Stands still until it is moved, except that monotonic seconds go on, as they must for whoever waits."""

    def __init__(self) -> None:
        self._elapsed = timedelta(0)

    def now(self) -> datetime:
        return START + self._elapsed

    def monotonic(self) -> float:
        return time.monotonic() + self._elapsed.total_seconds()

    def advance(self, span: timedelta) -> datetime:
        self._elapsed += span
        return self.now()

    async def correct(self, read: Callable[[], Awaitable[datetime]]) -> timedelta:
        return timedelta(0)


class Gate:
    """Something in the middle of its work: `entered` once it has begun; it ends, with `then`, once `open` is set."""

    def __init__(self, then: Any = None) -> None:
        self.then = then
        self.entered = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self, _: Any) -> Any:
        self.entered.set()
        await self.open.wait()
        return self.then


class Desk:
    """`decisions` and `outcomes` say by key what the handler and the provider answer: a value, an exception to raise,
    or a function. Without an entry the handler writes a mail and the provider takes it."""

    def __init__(self, book: Duebook, clock: Clock, place: Place) -> None:
        self.book = book
        self.clock = clock
        self.place = place
        self.decisions: dict[str, Any] = {}
        self.outcomes: dict[str, Any] = {}
        self.asked: list[Due] = []
        self.sent: list[tuple[Message, SendContext]] = []
        self.changed = asyncio.Event()
        self.gates: list[Gate] = []
        self._watch()

    def channel(self, name: str = "mail", **policies: Any) -> None:
        async def provider(message: Message, context: SendContext) -> Any:
            self.sent.append((message, context))
            return await _play(self.outcomes.get(context.key, Accepted(f"p-{context.key}")), context)

        self.book.channel(name, **policies)(provider)

    def kind(self, name: str = "note", channel: str = "mail", **policies: Any) -> None:
        async def handler(due: Due) -> Any:
            self.asked.append(due)
            return await _play(self.decisions.get(due.key, mail), due)

        self.book.kind(name, channel=channel, **policies)(handler)

    @asynccontextmanager
    async def worker(self, **options: Any) -> AsyncIterator[Worker]:
        """A worker; before it stops, whatever the test still holds up may go on."""
        async with self.book.worker(**options) as worker:
            try:
                yield worker
            finally:
                for gate in self.gates:
                    gate.open.set()

    def gate(self, then: Any = None) -> Gate:
        self.gates.append(Gate(then))
        return self.gates[-1]

    async def schedule(self, *keys: str, kind: str = "note", **changes: Any) -> None:
        when = {} if "at" in changes else {"after": timedelta(0)}
        for key in keys:
            await self.book.schedule(kind, key, **{"recipient": "ann", **when, **changes})

    async def read(self, key: str, kind: str = "note") -> Notification:
        found = await self.book.find(kind, key)
        assert found is not None, f"there is no {kind}/{key}"
        return found

    async def story(self, key: str, kind: str = "note") -> Story:
        found = await self.book.explain(kind, key)
        assert found is not None, f"nothing is on record about {kind}/{key}"
        return found

    async def until(self, state: State, *keys: str, kind: str = "note") -> Notification:
        """Wait until the notifications are in a state; answers the last of them."""
        n: Notification | None = None
        for key in keys:
            n = await self.until_true(key, lambda n: n.state is state, state, kind)
        assert n is not None
        return n

    async def until_true(
        self, key: str, wanted: Callable[[Notification], bool], what: object = "as wanted", kind: str = "note"
    ) -> Notification:
        n = await self.read(key, kind)
        try:
            async with asyncio.timeout(PATIENCE):
                while not wanted(n):
                    await self.changed.wait()
                    self.changed.clear()
                    n = await self.read(key, kind)
        except TimeoutError:
            raise AssertionError(f"{key} is never {what}; it is {n.state}: {n.reason}") from None
        return n

    async def until_put_off(self, key: str, number: int) -> Notification:
        """Wait until an attempt has ended with another one to follow."""
        return await self.until_true(key, lambda n: n.number == number and n.state is State.SCHEDULED, "put off")

    async def step(self, agent: str) -> None:
        """Have a housekeeping agent do one batch, with no worker running beside it."""
        worker = self.book.wired.worker([], self.book.message_domain, 1.0)
        (one,) = [one for one in worker.agents if one.name == agent]
        await one.step()

    async def bring(self, state: State, *keys: str) -> None:
        """Lead notifications to a state by the means an application has. To be called while a worker runs."""
        gates = [self.gate(Skip("after all") if state is State.CLAIMED else Accepted("p-1")) for _ in keys]
        for key, gate in zip(keys, gates, strict=True):
            self.decisions[key] = {State.CLAIMED: gate, State.SKIPPED: Skip("read")}.get(state, mail)
            self.outcomes[key] = _OUTCOMES.get(state, gate if state is State.SENDING else Accepted("p-1"))
        waits = state in (State.SCHEDULED, State.CANCELLED)
        await self.schedule(*keys, after=HOUR if waits else timedelta(0))
        for key, gate in zip(keys, gates, strict=True):
            if state in (State.CLAIMED, State.SENDING):
                await soon(gate.entered.wait())
            elif state is State.CANCELLED:
                assert await self.book.cancel("note", key, reason="read")
            elif state is State.DROPPED:
                await self.until(State.REVIEW, key)
                assert await self.book.drop("note", key, reason="no use")
            await self.until(state, key)

    def copies(self, key: str) -> int:
        return sum(context.key == key for _, context in self.sent)

    def _watch(self) -> None:
        database: Any = self.book.wired.database

        def told(method: Any) -> Any:
            async def watched(plan: Any) -> Any:
                try:
                    return await method(plan)
                finally:
                    self.changed.set()

            return watched

        async def time() -> datetime:
            return self.clock.now()

        database.run, database.ask, database.time = told(database.run), told(database.ask), time


def mail(due: Due) -> Message:
    return Email(to="ann@example.org", subject="A reminder", text=f"{due.kind} {due.key} for {due.recipient}")


_OUTCOMES: dict[State, Any] = {
    State.UNCERTAIN: Uncertain("no reply after the final dot"),
    State.REVIEW: Rejected("550 no such user"),
    State.DROPPED: Rejected("550 no such user"),
}


async def _play(script: Any, argument: Any) -> Any:
    if isinstance(script, BaseException):
        raise script
    if callable(script) and not isinstance(script, type):
        answer = script(argument)
        answer = await answer if inspect.isawaitable(answer) else answer
        return await _play(answer, argument) if callable(answer) else answer
    return script


async def soon(something: Awaitable[Any]) -> Any:
    return await asyncio.wait_for(something, PATIENCE)


async def die(worker: Worker) -> None:
    """End a worker as a crash would: nothing is given back and nothing is settled."""
    tasks = [*worker._serving, *worker._housekeeping]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for _, lane in worker.lanes:
        await lane.abandon()
