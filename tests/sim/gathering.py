"""What the worlds of unread messages and of digests share: people who act at random, a run, and how it is judged.

Each is looked at after every single step: what is read there was not there a step before.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from random import Random
from typing import Any

from duebook.domain.policy import Kind
from duebook.errors import Busy, StoreUnavailable
from duebook.features.context import Context
from duebook.features.notifications import Notifications
from duebook.features.work import Wakes, Work
from duebook.ports import SendContext
from duebook.stores import catalog
from tests.sim import nemesis
from tests.sim.crowd import CONDUCTS, Crowd, Parts
from tests.sim.kernel import Moment, Process, Until
from tests.sim.ports import SimClock
from tests.sim.run import advance, broken, drawn

WEIGHTS = (10, 1, 3, 1, 1, 2, 1, 2)
CALM_STEPS = 6_000
RULINGS = ("sent", "resend", "drop")


class Violation(Exception):
    """An oracle's complaint; begins with the oracle's name."""


class Gathering(Crowd):
    """Two workers, and people who do one of `deeds` every few seconds. `ruled`: what they have ruled on."""

    deeds: Sequence[str] = ()
    pause_seconds = (0.5, 6.0)
    safety_steps = 300

    def __init__(self, seed: int, kind: Kind, parts: Parts, window: float | None) -> None:
        super().__init__(seed, [kind], parts, window)
        self.kind = kind
        self.ruled: set[str] = set()
        for number in range(2):
            self.start_worker(f"worker{number}")
        people = self.kernel.processes["owner"] = Process("owner")
        self.kernel.spawn(people, "owner", self._people(people))

    @abstractmethod
    def do(self, deed: str, draw: Random) -> Work[Any] | None:
        """Return the work of a deed of this world; None where there is nothing to do."""

    @abstractmethod
    def look(self) -> None:
        """Raise Violation for what must never be."""

    @abstractmethod
    def rests(self) -> None:
        """Raise Violation for what must not be left."""

    @property
    def context(self) -> Context:
        return Context("sim", self.kinds, self.store, SimClock(self.kernel), "owner")

    def conduct(self, context: SendContext) -> str:
        draw = Random(f"{self.seed}/{context.key}/{context.number}")
        conduct = "accept" if self.calm else draw.choices(CONDUCTS, WEIGHTS)[0]
        if conduct != "accept":
            self.kernel.note("provider", f"{context.key}#{context.number} {conduct}")
        return conduct

    async def _people(self, process: Process) -> None:
        database, number = self.database(process), 0
        while not self.calm:
            number += 1
            draw = Random(f"{self.seed}/people/{number}")
            await Until(lambda: self.calm, self.kernel.elapsed + draw.uniform(*self.pause_seconds))
            deed = draw.choice(self.deeds)
            work = self._rule(deed, draw) if deed in (*RULINGS, "redrive", "cancel", "drop it") else self.do(deed, draw)
            if work is not None:
                self.kernel.note("people", deed)
                with suppress(Busy, StoreUnavailable):
                    await database.run(work.plan(Wakes()))

    def _rule(self, deed: str, draw: Random) -> Work[Any] | None:
        """What people do about a single notification: rule on one in doubt, redrive, drop or cancel another."""
        state = {"cancel": "scheduled", "redrive": "review", "drop it": "review"}.get(deed, "uncertain")
        found = self.ask(f"select key from duebook_notifications where state = '{state}' order by id")
        if not found:
            return None
        (key,), verbs = draw.choice(found), Notifications(self.context)
        match deed:
            case "cancel":
                return verbs.cancel(self.kind.name, key, reason="withdrawn")
            case "redrive":
                return verbs.redrive(self.kind.name, key, reason="try again", force=True)
            case "drop it":
                return verbs.drop(self.kind.name, key, reason="no use")
        self.ruled.add(key)
        return verbs.resolve(self.kind.name, key, deed, reason="they say so")  # type: ignore[arg-type]

    # For those who judge

    def ask(self, query: str) -> list[Any]:
        return self.connection.execute(query).fetchall()

    def taken(self) -> dict[str, list[str]]:
        """What the provider took: by key, each body as text."""
        return {name.split(":", 2)[2]: [body for _, body in taken] for name, taken in self.provider.taken.items()}


def complain(oracle: Callable[..., None], text: str) -> None:
    raise Violation(f"{oracle.__name__}: {text}")


def altered(verb: str, *changes: tuple[str, str]) -> Callable[[str, str], str]:
    """Return what gives a verb another SQL: each text that is replaced must be in it."""
    before = catalog.text("sqlite", verb)
    assert all(old in before for old, _ in changes), f"{verb} reads differently now"

    def text(asked: str, sql: str) -> str:
        for old, new in changes if asked == verb else ():
            sql = sql.replace(old, new)
        return sql

    return text


@dataclass
class Report:
    """What a run found, and all that happened in it."""

    seed: int
    violation: str | None = None
    steps: int = 0
    kills: int = 0
    states: Sequence[str] = ()
    trace: Sequence[Moment] = ()

    @property
    def oracle(self) -> str | None:
        """The name of the oracle that complained."""
        return None if self.violation is None else self.violation.partition(":")[0]


def run(make: Callable[[int, Parts], Gathering], seed: int, parts: Parts | None = None) -> Report:
    """Run a world in which the seed decides what happens, and then in peace until it rests."""
    report = Report(seed)
    with broken(parts), closing(make(seed, parts or Parts())) as world:
        try:
            for step in range(world.safety_steps):
                nemesis.strike(world, step)
                advance(world.kernel, drawn(Random(f"{seed}/step/{step}")))
                world.look()
            _rest(world)
        except (Violation, AssertionError) as violation:
            report.violation = str(violation)
        report.steps, report.kills = world.kernel.steps, len(world.kernel.graves)
        report.states = [state for (state,) in world.ask("select state from duebook_notifications")]
        report.trace = world.kernel.trace
    return report


def _rest(world: Gathering) -> None:
    """No more faults, an honest provider, and nobody who meddles."""
    world.calm = True
    world.troubles.clear()
    for process in world.kernel.processes.values():
        process.still_until = 0.0
    draw = drawn(Random(f"{world.seed}/calm"))
    for step in range(CALM_STEPS):
        advance(world.kernel, draw)
        world.look()
        if step % 20 == 19:
            with suppress(Violation):
                world.rests()
                return
    world.rests()
