"""A database that fails on command, between a worker and a real one."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeVar

from duebook.errors import StoreUnavailable
from duebook.ports import Clock, Plan, Rows, Statement

R = TypeVar("R")

When = Literal["before", "after", "late"]


@dataclass
class Fault:
    """What happens to the next `times` plans that use `verb`.

    "before": it fails and nothing is stored. "after": it is committed and the answer is lost. "late": the answer is
    lost and the server goes on with it only once `deliver` is called, as with a network that broke in between.
    """

    verb: str
    when: When
    times: int = 1
    error: type[Exception] = StoreUnavailable


class Hold:
    """A plan that stands still before its first statement, as if another program were quicker."""

    def __init__(self) -> None:
        self.entered = False
        self._open = asyncio.Event()

    async def wait(self) -> None:
        self.entered = True
        await self._open.wait()

    def open(self) -> None:
        self._open.set()


@dataclass
class FaultyDatabase:
    """Implements ports.Database over another; `time` answers the test's clock. `said` are the statements in order."""

    inner: Any
    clock: Clock
    faults: list[Fault] = field(default_factory=list)
    said: list[Statement] = field(default_factory=list)
    hooks: dict[str, Callable[[], None]] = field(default_factory=dict)
    poison: dict[int, Exception] = field(default_factory=dict)
    holds: dict[str, Hold] = field(default_factory=dict)
    slow: list[Callable[[], Any]] = field(default_factory=list)

    async def run(self, plan: Plan[R]) -> R:
        return await self._through(plan, self.inner.run)

    async def ask(self, plan: Plan[R]) -> R:
        return await self._through(plan, self.inner.ask)

    async def time(self) -> datetime:
        return self.clock.now()

    def fail(self, verb: str, when: When = "before", times: int = 1, error: type[Exception] = StoreUnavailable) -> None:
        self.faults.append(Fault(verb, when, times, error))

    def heal(self) -> None:
        self.faults.clear()

    def before(self, verb: str, action: Callable[[], None]) -> None:
        """Do something once, when the next statement of a verb is about to be executed."""
        self.hooks[verb] = action

    def hold(self, verb: str) -> Hold:
        """Stop the next plan that begins with a verb until it is let through."""
        return self.holds.setdefault(verb, Hold())

    async def deliver(self) -> None:
        """Let the server finish what it had already been sent."""
        late, self.slow = self.slow, []
        for go in late:
            await go()

    def count(self, *verbs: str) -> int:
        return sum(statement.verb in verbs for statement in self.said)

    async def _through(self, plan: Plan[R], run: Callable[[Plan[R]], Any]) -> R:
        committed: list[Fault] = []
        watched = self._watched(plan, committed)
        try:
            first = next(watched)
        except StopIteration as end:
            return end.value
        if hold := self.holds.pop(first.verb, None):
            await hold.wait()
        if late := self._fault(first, "late"):
            self.slow.append(lambda: run(_resumed(watched, first)))
            raise late.error("the connection broke; the server did not notice")
        result: R = await run(_resumed(watched, first))
        if committed:
            raise committed[0].error("the answer to the commit was lost")
        return result

    def _watched(self, plan: Plan[R], committed: list[Fault]) -> Plan[R]:
        rows: Rows | None = None
        while True:
            try:
                statement = next(plan) if rows is None else plan.send(rows)
            except StopIteration as end:
                return end.value
            self.said.append(statement)
            if hook := self.hooks.pop(statement.verb, None):
                hook()
            if fault := self._fault(statement, "before"):
                raise fault.error("the database went away")
            self._taste(statement)
            if fault := self._fault(statement, "after"):
                committed.append(fault)
            rows = yield statement

    def _fault(self, statement: Statement, when: When) -> Fault | None:
        for fault in self.faults:
            if fault.when == when and fault.verb in (statement.verb, "*"):
                fault.times -= 1
                if not fault.times:
                    self.faults.remove(fault)
                return fault
        return None

    def _taste(self, statement: Statement) -> None:
        if self.poison and statement.verb in ("accept", "apply", "begin"):
            for row in json.loads(str(statement.parameters["rows"])):
                if error := self.poison.get(row["id"]):
                    raise error


def _resumed(plan: Plan[R], first: Statement) -> Plan[R]:
    rows: Rows = yield first
    try:
        while True:
            rows = yield plan.send(rows)
    except StopIteration as end:
        return end.value
