"""One run: a safety phase in which anything may happen, then a calm phase in which everything must come to rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from unittest.mock import patch

from tests.sim import nemesis, oracle
from tests.sim.crowd import Parts
from tests.sim.kernel import Kernel, Moment, Process, Strand
from tests.sim.world import Config, World

SAFETY_STEPS = 260
CALM_STEPS = 6_000
LOOK_EVERY = 5

Pick = Callable[[Sequence[tuple[Process, Strand]]], tuple[Process, Strand]]
"""Says which of the coroutines that can run goes next."""


@dataclass
class Report:
    """What a run found, and all that happened in it."""

    seed: int
    violation: str | None = None
    moments: tuple[Moment, ...] = ()
    steps: int = 0
    kills: int = 0
    states: dict[str, str] = field(default_factory=dict)

    @property
    def oracle(self) -> str | None:
        """The name of the oracle that complained."""
        return None if self.violation is None else self.violation.partition(":")[0]

    @property
    def fingerprint(self) -> str:
        return sha256(repr(self.moments).encode()).hexdigest()


def run(seed: int, config: Config, parts: Parts | None = None) -> Report:
    """Run a world in which the seed decides what happens."""
    report = Report(seed)
    with broken(parts):
        world = World(seed, config, parts)
        with judged(world, report):
            _safety(world)
            calm(world, drawn(Random(f"{seed}/calm")))
    return report


@contextmanager
def broken(parts: Parts | None) -> Iterator[None]:
    """Replace what a mutant replaces by name, for as long as its world is run."""
    with ExitStack() as replaced:
        for target, value in (parts or Parts()).patches:
            replaced.enter_context(patch(target, value))
        yield


@contextmanager
def judged(world: World, report: Report) -> Iterator[None]:
    """Let a world live, look at it once it rests, and write down what an oracle said and what became of it."""
    try:
        yield
        look(world, oracle.AT_REST)
    except (oracle.Violation, AssertionError) as violation:
        report.violation = str(violation)
    report.moments = tuple(world.kernel.trace)
    report.steps = world.kernel.steps
    report.kills = len(world.kernel.graves)
    report.states = dict(world.connection.execute("select key, state from duebook_notifications").fetchall())
    world.close()


def _safety(world: World) -> None:
    for step in range(SAFETY_STEPS):
        nemesis.strike(world, step)
        advance(world.kernel, drawn(Random(f"{world.seed}/step/{step}")))
        if step % LOOK_EVERY == 0:
            look(world, oracle.ALWAYS)


def calm(world: World, pick: Pick) -> None:
    """No more faults, an honest provider, and time that passes only when nobody has anything to do."""
    world.calm = True
    if world.broker is not None:
        world.broker.calm = True
    world.troubles.clear()
    for process in world.kernel.processes.values():
        process.still_until = 0.0
    for step in range(CALM_STEPS):
        advance(world.kernel, pick)
        if step % 20 == 19 and _rests(world):
            return


def in_turn(runnable: Sequence[tuple[Process, Strand]]) -> tuple[Process, Strand]:
    """Pick the one whose last step is the longest ago."""
    return min(runnable, key=lambda pair: pair[1].stepped)


def drawn(draw: Random) -> Pick:
    return lambda runnable: runnable[draw.randrange(len(runnable))]


def _rests(world: World) -> bool:
    try:
        oracle.everything_rests(world)
        oracle.keyed_ones_resolve_themselves(world)
        oracle.what_was_received_is_known(world)
        oracle.what_was_asked_is_known(world)
    except oracle.Violation:
        return False
    return True


def advance(kernel: Kernel, pick: Pick) -> None:
    """Step one that can run, or let time pass until one can."""
    runnable = kernel.runnable()
    if runnable:
        kernel.step(*pick(runnable))
        kernel.elapsed += 0.01
        return
    following = kernel.next_instant()
    if following is not None:
        kernel.elapsed = max(kernel.elapsed, following)


def look(world: World, oracles: Sequence[Callable[[World], None]]) -> None:
    for check in oracles:
        check(world)
