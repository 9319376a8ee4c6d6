"""One run: a safety phase in which anything may happen, then a calm phase in which everything must come to rest."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from unittest.mock import patch

from tests.sim import nemesis, oracle
from tests.sim.world import Config, Parts, World

SAFETY_STEPS = 260
CALM_STEPS = 6_000
LOOK_EVERY = 5


@dataclass
class Report:
    """What a run found. `faults`: the steps at which harm was done, with the harm."""

    seed: int
    violation: str | None = None
    faults: dict[int, str] = field(default_factory=dict)
    steps: int = 0
    kills: int = 0
    fingerprint: str = ""
    states: dict[str, str] = field(default_factory=dict)


def run(seed: int, config: Config, parts: Parts | None = None, only: Sequence[int] | None = None) -> Report:
    """Run a world. `only`: the steps at which harm may be done; None for wherever the seed says."""
    report = Report(seed)
    with ExitStack() as broken:
        for target, value in (parts or Parts()).patches:
            broken.enter_context(patch(target, value))
        world = World(seed, config, parts)
        _live(world, report, only)
    return report


def _live(world: World, report: Report, only: Sequence[int] | None) -> None:
    try:
        _safety(world, report, None if only is None else set(only))
        calm(world)
        look(world, oracle.AT_REST)
    except (oracle.Violation, AssertionError) as violation:
        report.violation = str(violation) or repr(violation.__cause__)
    report.steps = world.kernel.steps
    report.kills = sum(where == "killed" for _, _, where in world.kernel.trace)
    report.fingerprint = sha256(repr(world.kernel.trace).encode()).hexdigest()
    report.states = dict(world.connection.execute("select key, state from duebook_notifications").fetchall())
    world.close()


def _safety(world: World, report: Report, only: set[int] | None) -> None:
    for step in range(SAFETY_STEPS):
        if only is None or step in only:
            harm = nemesis.strike(world, step)
            if harm is not None:
                report.faults[step] = harm
        _advance(world, Random(f"{world.seed}/step/{step}"))
        if step % LOOK_EVERY == 0:
            look(world, oracle.ALWAYS)


def calm(world: World) -> None:
    """No more faults, an honest provider, and time that passes only when nobody has anything to do."""
    world.calm = True
    world.troubles.clear()
    for process in world.kernel.processes.values():
        process.still_until = 0.0
    draw = Random(f"{world.seed}/calm")
    for step in range(CALM_STEPS):
        _advance(world, draw)
        if step % 20 == 19 and _rests(world):
            return


def _rests(world: World) -> bool:
    try:
        oracle.everything_rests(world)
        oracle.keyed_ones_resolve_themselves(world)
    except oracle.Violation:
        return False
    return True


def _advance(world: World, draw: Random) -> None:
    runnable = world.kernel.runnable()
    if runnable:
        process, strand = runnable[draw.randrange(len(runnable))]
        world.kernel.step(process, strand)
        world.kernel.elapsed += 0.01
        return
    following = world.kernel.next_instant()
    if following is not None:
        world.kernel.elapsed = max(world.kernel.elapsed, following)


def look(world: World, oracles: Sequence[object]) -> None:
    for check in oracles:
        check(world)  # type: ignore[operator]


def shrink(report: Report, config: Config, parts: Parts | None = None) -> Report:
    """Take faults out one after another for as long as the run still fails."""
    kept = sorted(report.faults)
    best = report
    for step in list(kept):
        fewer = [other for other in kept if other != step]
        again = run(report.seed, config, parts, only=fewer)
        if again.violation is not None:
            kept, best = fewer, again
    return best
