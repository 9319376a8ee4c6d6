"""A world of schedules: two schedulers, each with a clock of its own, and a schedule that comes every minute.

The scheduler and the SQL are the real ones. What must hold: each minute between the schedule's beginning and its
cursor is a notification or on record as missed, and never both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any

from duebook.domain.policy import Kind
from duebook.domain.schedules import CatchUp
from duebook.engine.registry import Registry
from duebook.engine.scheduler import Scheduler
from duebook.errors import Busy, StoreUnavailable
from duebook.features.context import Context
from duebook.features.schedules import Schedules
from duebook.features.work import Wakes, Work
from duebook.stores.store import SqlStore
from tests.sim.crowd import SETTINGS, TROUBLES, fresh_connection
from tests.sim.kernel import Dead, Kernel, Point, Process, Until
from tests.sim.ports import START, SimClock, SimDatabase
from tests.sim.run import advance, drawn, in_turn

MINUTE = timedelta(minutes=1)
PACE_SECONDS = 7.0
SAFETY_STEPS = 200
CALM_STEPS = 1_000
FAULTS = ("kill", "kill", "stall", "stall", "clock", "clock", "pass", *TROUBLES)
SCHEDULERS = ("scheduler0", "scheduler1")


@dataclass(frozen=True, slots=True)
class Config:
    """What kind of schedule, and whether somebody edits and pauses it."""

    catch_up: CatchUp = "latest"
    max_lateness: timedelta | None = None
    most: int = 3
    owner: bool = True


@dataclass(frozen=True, slots=True)
class Parts:
    """What a mutant may replace by something broken."""

    scheduler: Callable[..., Any] = Scheduler
    text: Callable[[str, str], str] | None = None


class Violation(Exception):
    """An oracle's complaint; begins with the oracle's name."""


@dataclass
class Harm:
    """Kills a scheduler, or lets it stand still, at one edge of its calls."""

    at: int
    kind: str
    seen: int = 0

    def strikes(self, name: str) -> bool:
        if name != SCHEDULERS[0]:
            return False
        self.seen += 1
        return self.seen == self.at


class World:
    """`harm`: the one thing that goes wrong; without it the seed decides what does."""

    def __init__(self, seed: int, config: Config, parts: Parts | None = None, harm: Harm | None = None) -> None:
        self.seed = seed
        self.config = config
        self.parts = parts or Parts()
        self.harm = harm
        self.kernel = Kernel()
        self.connection = fresh_connection(None)
        self.store = SqlStore()
        self.kind = Kind("digest", "mail")
        self.clocks = {name: SimClock(self.kernel) for name in (*SCHEDULERS, "owner")}
        self.troubles: dict[tuple[str, str], str] = {}
        self.calm = False
        self.cursor = ""
        self._at_once(self._wish("set"))
        for name in SCHEDULERS:
            self.start(name)
        if config.owner and harm is None:
            owner = self.kernel.processes["owner"] = Process("owner")
            self.kernel.spawn(owner, "owner", self._owner(owner))

    def close(self) -> None:
        self.kernel.close()
        self.connection.close()

    def start(self, name: str) -> None:
        process = self.kernel.processes[name] = Process(name)
        registry = Registry({"digest": self.kind}, {"digest": _handler}, {})
        agent = self.parts.scheduler(registry, self._database(process), self.store, self.clocks[name], SETTINGS, {})
        self.kernel.spawn(process, "scheduler", _keep(agent, self.kernel))

    def restart(self, name: str) -> None:
        self.kernel.note(name, "kill")
        self.kernel.kill(self.kernel.processes[name])
        self.start(name)

    def _database(self, process: Process) -> SimDatabase:
        def trouble(edge: str) -> Exception | None:
            if self.harm is not None and self.harm.strikes(process.name):
                self._harm(process, self.harm.kind)
            fault = self.troubles.pop((process.name, edge.rpartition(":")[2]), None)
            return TROUBLES[fault][1]("simulated") if fault else None

        return SimDatabase(self.kernel, self.connection, process, trouble, self.parts.text, self.clocks[process.name])

    def _harm(self, process: Process, kind: str) -> None:
        if kind == "kill":
            self.restart(process.name)
            raise Dead
        process.still_until = self.kernel.elapsed + 130.0

    def strike(self, step: int) -> None:
        """Maybe do harm before this step."""
        draw = Random(f"{self.seed}/fault/{step}")
        if draw.random() >= 0.15:
            return
        fault, name = draw.choice(FAULTS), draw.choice(SCHEDULERS)
        self.kernel.note(name, fault)
        match fault:
            case "kill":
                self.restart(name)
            case "stall":
                self.kernel.processes[name].still_until = self.kernel.elapsed + draw.choice((3.0, 70.0, 400.0))
            case "clock":
                self.clocks[name].skew = draw.choice((-600.0, -61.0, -1.0, 0.0, 1.0, 61.0, 600.0))
            case "pass":
                self.kernel.elapsed += draw.choice((5.0, 60.0, 200.0, 900.0))
            case _:
                self.troubles[name, TROUBLES[fault][0]] = fault

    # The owner

    async def _owner(self, process: Process) -> None:
        database = self._database(process)
        for number in range(1_000):
            draw = Random(f"{self.seed}/owner/{number}")
            await Until(lambda: False, self.kernel.elapsed + draw.uniform(20, 300))
            wish = "resume" if self.calm else draw.choice(("set", "set", "pause", "resume"))
            with suppress(Busy, StoreUnavailable):
                await database.run(self._wish(wish, number).plan(Wakes()))

    def _wish(self, wish: str, number: int = 0) -> Work[Any]:
        room = Schedules(Context("sim", {"digest": self.kind}, self.store, self.clocks["owner"]))
        if wish == "pause":
            return room.pause("s", reason="on holiday")
        if wish == "resume":
            return room.resume("s")
        return room.set(
            "s", kind="digest", recipient="ann", recurrence="* * * * *", zone="UTC", catch_up=self.config.catch_up,
            max_lateness=self.config.max_lateness, most=self.config.most, data={"edit": number},
        )  # fmt: skip

    def _at_once(self, work: Work[Any]) -> None:
        process = Process("setup")
        strand = SimDatabase(self.kernel, self.connection, process, lambda name: None).run(work.plan(Wakes()))
        with suppress(StopIteration):
            while True:
                strand.send(None)


async def _handler(due: object) -> Any:
    raise AssertionError("nothing is sent here")


async def _keep(agent: Any, kernel: Kernel) -> None:
    while True:
        more = False
        with suppress(Busy, StoreUnavailable):
            more = await agent.step()
        await Point("stepped")
        if not more:
            await Until(lambda: False, kernel.elapsed + PACE_SECONDS)


# What must hold


def look(world: World) -> None:
    """Compare what is on record with the minutes that were due."""
    query = "select cursor_at from duebook_schedules"
    (cursor,) = world.connection.execute(query).fetchone()
    if cursor < world.cursor:
        raise Violation(f"the_cursor_never_goes_back: from {world.cursor} to {cursor}")
    world.cursor = cursor
    sent = [row[0] for row in world.connection.execute("select key from duebook_notifications")]
    missed = list(_missed(world))
    both = set(sent) & set(missed)
    if both:
        raise Violation(f"sent_or_missed_and_never_both: {sorted(both)}")
    wanted = Counter(_minutes(START, datetime.fromisoformat(cursor)))
    found = Counter([*sent, *missed])
    if found != wanted:
        extra, lacking = sorted(found - wanted), sorted(wanted - found)
        raise Violation(f"every_period_is_accounted_for_once: too many {extra}, lacking {lacking}")


def _missed(world: World) -> Iterator[str]:
    for first, last, periods in world.connection.execute("select first_at, last_at, periods from duebook_missed"):
        run = list(_minutes(datetime.fromisoformat(first), datetime.fromisoformat(last) + timedelta(microseconds=1)))
        if len(run) != periods:
            raise Violation(f"a_run_tells_its_periods: {periods} from {first} to {last}")
        yield from run


def _minutes(start: datetime, end: datetime) -> Iterator[str]:
    """The keys of the periods from an instant to another, which is not included."""
    while start < end:
        yield f"s/{start:%Y-%m-%dT%H:%M}"
        start += MINUTE


def has_caught_up(world: World) -> bool:
    """Whether nothing is due any more by the world's own time."""
    (next_at,) = world.connection.execute("select next_at from duebook_schedules").fetchone()
    return next_at is not None and datetime.fromisoformat(next_at) > START + timedelta(seconds=world.kernel.elapsed)


@dataclass
class Report:
    """What a run found. `points`: how many edges the first scheduler came through."""

    seed: int
    violation: str | None = None
    points: int = 0
    sent: int = 0
    missed: int = 0
    steps: int = 0
    trace: list[Any] = field(default_factory=list)

    @property
    def oracle(self) -> str | None:
        """The name of the oracle that complained."""
        return None if self.violation is None else self.violation.partition(":")[0]


def run(seed: int, config: Config, parts: Parts | None = None) -> Report:
    """Run a world in which the seed decides what happens, and then one in peace until nothing is due."""
    world = World(seed, config, parts)
    report = Report(seed)
    try:
        for step in range(SAFETY_STEPS):
            world.strike(step)
            advance(world.kernel, drawn(Random(f"{seed}/step/{step}")))
            look(world)
        _rest(world)
    except (Violation, AssertionError) as violation:
        report.violation = str(violation)
    return _closed(world, report)


def run_with(config: Config, harm: Harm, seconds: float = 200.0) -> Report:
    """Run a world for some minutes, with one thing that goes wrong."""
    world = World(0, config, None, harm)
    report = Report(0)
    try:
        while world.kernel.elapsed < seconds:
            advance(world.kernel, in_turn)
            look(world)
        _rest(world)
    except (Violation, AssertionError) as violation:
        report.violation = str(violation)
    report.points = harm.seen
    return _closed(world, report)


def _rest(world: World) -> None:
    world.calm = True
    world.troubles.clear()
    for process in world.kernel.processes.values():
        process.still_until = 0.0
    for clock in world.clocks.values():
        clock.skew = 0.0
    for _ in range(CALM_STEPS):
        advance(world.kernel, in_turn)
        look(world)
        if has_caught_up(world):
            return
    raise Violation("it_catches_up: something is still due long after the faults have stopped")


def _closed(world: World, report: Report) -> Report:
    count = world.connection.execute("select count(*) from duebook_notifications").fetchone()[0]
    report.sent = count
    report.missed = world.connection.execute("select coalesce(sum(periods), 0) from duebook_missed").fetchone()[0]
    report.steps = world.kernel.steps
    report.trace = world.kernel.trace
    world.close()
    return report
