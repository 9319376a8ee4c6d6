"""The ports of the engine, simulated: each call stops once before its effect and once after."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime, timedelta
from typing import Any

from duebook.domain.message import Message, freeze
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from duebook.domain.policy import ChannelPolicy
from duebook.ports import Finished, Found, Overran, Plan, R, SendContext, Sought, Statement
from duebook.stores import catalog
from duebook.stores.drive import drive
from tests.sim.kernel import Dead, Kernel, Point, Process, Strand, Until

START = datetime(2027, 1, 1, 12, tzinfo=UTC)


class SimClock:
    """The clock of one process: the world's time, a little off."""

    def __init__(self, kernel: Kernel, skew: float = 0.0) -> None:
        self.kernel = kernel
        self.skew = skew

    def now(self) -> datetime:
        return START + timedelta(seconds=self.kernel.elapsed + self.skew)

    def monotonic(self) -> float:
        return self.kernel.elapsed


class SimDatabase:
    """The real SQL on one SQLite connection. A plan is atomic; only its edges are points.

    `trouble` is asked at each edge for an error to raise: before the effect nothing happened, after it everything did
    and nobody was told.
    """

    def __init__(
        self,
        kernel: Kernel,
        connection: sqlite3.Connection,
        process: Process,
        trouble: Callable[[str], Exception | None],
        text: Callable[[str, str], str] | None = None,
        clock: SimClock | None = None,
    ) -> None:
        self.kernel = kernel
        self.connection = connection
        self.process = process
        self.trouble = trouble
        self.text = text
        self.clock = clock or SimClock(kernel)

    async def run(self, plan: Plan[R]) -> R:
        return await self._edges(plan)

    async def ask(self, plan: Plan[R]) -> R:
        return await self._edges(plan)

    async def time(self) -> datetime:
        await self._edge("time:before")
        return START + timedelta(seconds=self.kernel.elapsed)

    async def _edges(self, plan: Plan[R]) -> R:
        name = getattr(plan, "__name__", "plan")
        try:
            await self._edge(f"{name}:before")
        except BaseException:
            plan.close()
            raise
        self.connection.execute("begin immediate")
        try:
            result = drive(plan, self._execute)
        except BaseException:
            self.connection.execute("rollback")
            raise
        self.connection.execute("commit")
        await self._edge(f"{name}:after")
        return result

    async def _edge(self, name: str) -> None:
        await Point(name)
        if not self.process.alive:
            raise Dead
        if (error := self.trouble(name)) is not None:
            raise error

    def _execute(self, statement: Statement) -> Any:
        text = catalog.prepare("sqlite", "named", statement).text
        if self.text is not None:
            text = self.text(statement.verb, text)
        return self.connection.execute(text, statement.parameters).fetchall()


class SimTasks:
    """Pieces of work are further strands of the same process."""

    def __init__(self, kernel: Kernel, process: Process) -> None:
        self.kernel = kernel
        self.process = process
        self.stopping = False
        self._ended: list[Finished] = []
        self._woken = False
        self._deadlines: dict[Strand, tuple[float, Any]] = {}

    def start(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        def ended(result: Any, error: BaseException | None) -> None:
            if self._deadlines.pop(strand, None) is not None:
                self._ended.append(Finished(ticket, result, error))

        strand = self.kernel.spawn(self.process, label(ticket), work, ended)
        self._deadlines[strand] = (self.kernel.elapsed + seconds, ticket)

    async def wait(self, seconds: float) -> list[Finished]:
        self._overrun()
        first = min((at for at, _ in self._deadlines.values()), default=float("inf"))
        at = min(self.kernel.elapsed + max(0.0, seconds), first)
        await Until(lambda: bool(self._ended) or self._woken, at)
        if not self.process.alive:
            raise Dead
        self._overrun()
        self._woken = False
        ended, self._ended = self._ended, []
        return ended

    def wake(self) -> None:
        self._woken = True

    def _overrun(self) -> None:
        for strand, (at, ticket) in list(self._deadlines.items()):
            if at <= self.kernel.elapsed:
                del self._deadlines[strand]
                self._ended.append(Finished(ticket, None, Overran()))
                if strand in self.process.strands:
                    self.process.strands.remove(strand)
                    self._cancel(strand)

    @staticmethod
    def _cancel(strand: Strand) -> None:
        strand.over = True
        try:
            strand.work.throw(asyncio.CancelledError())
        except BaseException:  # noqa: BLE001 - it was told to stop, and how it does is its own affair
            return
        strand.work.close()


def label(ticket: Any) -> str:
    name = getattr(ticket, "value", None) or type(ticket).__name__.lower()
    found = getattr(ticket, "n", None) or getattr(ticket, "notification", None)
    return f"{name}:{found.key}" if found is not None else str(name)


class SimChannel:
    """A provider that may do anything a provider has been seen to do.

    What it does to an attempt is a function of seed, key and number, so that taking a fault out of a run changes
    nothing else in it. It remembers what it took: that is the truth the ledger is compared with.
    """

    def __init__(self, policy: ChannelPolicy, kernel: Kernel, process: Process, provider: Provider) -> None:
        self.policy = policy
        self.kernel = kernel
        self.process = process
        self.provider = provider

    async def send(self, message: Message, context: SendContext) -> Outcome:
        await Point("send:before")
        if not self.process.alive:
            raise Dead
        outcome = self.provider.take(message, context)
        await Point("send:after")
        if not self.process.alive:
            raise Dead
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def close(self) -> None: ...


class AskedChannel(SimChannel):
    """The same, of a provider that can be asked afterwards; `proves`: that it has not seen a message means that it has
    not taken it."""

    def __init__(
        self, policy: ChannelPolicy, kernel: Kernel, process: Process, provider: Provider, proves: bool
    ) -> None:
        super().__init__(policy, kernel, process, provider)
        self.proves = proves

    async def look_up(self, sought: Sought) -> Found:
        await Point("look_up:before")
        if not self.process.alive:
            raise Dead
        taken = dict(self.provider.taken.get(sought.idempotency_key, []))
        await Point("look_up:after")
        if not self.process.alive:
            raise Dead
        if sought.number in taken:
            return Found("accepted", f"p-{sought.idempotency_key.rpartition(':')[2]}-{sought.number}")
        return Found("absent" if self.proves else "unknown")


class Provider:
    """What all processes send to. `conduct` says how an attempt is treated; `window`: for how many seconds a key that
    was taken is recognised, None for a provider that knows no keys."""

    def __init__(self, kernel: Kernel, window: float | None, conduct: Callable[[SendContext], str]) -> None:
        self.kernel = kernel
        self.window = window
        self.conduct = conduct
        self.taken: dict[str, list[tuple[int, str]]] = {}
        self.bodies: dict[str, list[tuple[int, str]]] = {}
        self.answers: dict[str, tuple[float, Outcome]] = {}

    def take(self, message: Message, context: SendContext) -> Outcome | Exception:
        key, body = context.idempotency_key, freeze(message)
        self.bodies.setdefault(key, []).append((context.number, body))
        if self.window is not None and key in self.answers:
            since, answer = self.answers[key]
            if self.kernel.elapsed - since < self.window:
                return answer
        conduct = self.conduct(context)
        if conduct in ("accept", "accept_then_silence", "accept_then_break"):
            self.taken.setdefault(key, []).append((context.number, body))
            accepted = Accepted(f"p-{context.key}-{context.number}")
            self.answers[key] = self.kernel.elapsed, accepted
            if conduct == "accept":
                return accepted
        match conduct:
            case "reject":
                return Rejected("no such recipient")
            case "retry":
                return Retry("not now")
            case "throttle":
                return Throttled("too many", None)
            case "break" | "accept_then_break":
                return ConnectionResetError("the connection broke")
            case _:
                return Uncertain("no reply", "reply")
