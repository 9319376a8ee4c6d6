"""Tapes: what happened in a run, line by line, as a text that can be read, shortened, committed and replayed.

A line names its second, whom it is about, and what happens:

    worker0/lane  begin:after            this coroutine goes on until it stops there
    worker0       kill                   or "skew -20", "busy", "break_before", "break_after"
    provider      n0#1 break             what is done to the first attempt for n0
    owner         cancel n0              an owner or a reviewer begins to do something

Points are named and not numbered, and a line that cannot be followed is passed over. So a tape outlives changes of the
engine that have nothing to do with it. After its last line everybody goes on in turn until everything rests.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path

from tests.sim import nemesis, oracle
from tests.sim.crowd import TROUBLES, Parts
from tests.sim.kernel import Moment
from tests.sim.run import Report, broken, calm, in_turn, judged, look
from tests.sim.world import Config, World

STEPS_TO_A_POINT = 40
ON_TAPE = ("window", "on_uncertain", "count", "workers", "prunes", "asks", "receipts")
"""What of a world matters when it no longer draws anything."""


@dataclass(frozen=True)
class Tape:
    """`seed`: the run it is from; retries take their jitter from it. `oracle`: what complained. `mutant`: the name of
    the broken engine it is about; without one it is about a fault that has been repaired."""

    config: Config
    seed: int
    oracle: str
    moments: tuple[Moment, ...]
    mutant: str | None = None

    @property
    def text(self) -> str:
        world = {name: getattr(self.config, name) for name in ON_TAPE}
        differing = {name: value for name, value in world.items() if value != getattr(Config(), name)}
        head = [f"world {json.dumps(differing)}", f"seed {self.seed}", f"oracle {self.oracle}"]
        if self.mutant is not None:
            head.append(f"mutant {self.mutant}")
        body = [f"{moment.at:9.3f}  {moment.who:<20}  {moment.what}" for moment in self.moments]
        return "\n".join([*head, "", *body, ""])


def parse(text: str) -> Tape:
    head, _, body = text.partition("\n\n")
    said = dict(line.split(" ", 1) for line in head.splitlines())
    moments = [Moment(float(at), who, what) for at, who, what in (line.split(None, 2) for line in body.splitlines())]
    return Tape(
        Config(**json.loads(said["world"])), int(said["seed"]), said["oracle"], tuple(moments), said.get("mutant")
    )


def read(path: Path) -> Tape:
    return parse(path.read_text(encoding="utf-8"))


def record(report: Report, config: Config, parts: Parts | None = None, mutant: str | None = None) -> Tape:
    """Return the tape of a run that failed. Who stood still is told by nobody stepping them, so it has no line.

    A replay looks more often than the run did, so another oracle may be the first to complain: then it is its tape.
    """
    assert report.oracle is not None, f"seed {report.seed} did not fail"
    kept = {name: getattr(config, name) for name in ON_TAPE}
    moments = tuple(moment._replace(at=ceil(moment.at * 1_000) / 1_000) for moment in report.moments)
    tape = Tape(Config(**kept), report.seed, report.oracle, moments, mutant)
    return replace(tape, oracle=replay(tape, parts).oracle or tape.oracle)


def replay(tape: Tape, parts: Parts | None = None) -> Report:
    """Run a world in which the tape decides what happens."""
    report = Report(tape.seed)
    script = dict(moment.what.split() for moment in tape.moments if moment.who == "provider")
    with broken(parts):
        world = World(tape.seed, tape.config, parts, script)
        with judged(world, report):
            for moment in tape.moments:
                world.kernel.elapsed = max(world.kernel.elapsed, moment.at)
                _follow(world, moment)
                look(world, oracle.ALWAYS)
            calm(world, in_turn)
    return report


def falls(tape: Tape, parts: Parts | None = None) -> bool:
    """Say whether the oracle of a tape still complains."""
    return replay(tape, parts).oracle == tape.oracle


def shorten(tape: Tape, parts: Parts | None = None) -> Tape:
    """Take out whatever lines can be taken out while the same oracle complains, many at a time and then one by one."""
    size = len(tape.moments)
    while size:
        start, before = 0, len(tape.moments)
        while start < len(tape.moments):
            fewer = replace(tape, moments=tape.moments[:start] + tape.moments[start + size :])
            if falls(fewer, parts):
                tape = fewer
            else:
                start += size
        # One that became needless when a later one went is found by another round of ones.
        size = size if size == 1 and len(tape.moments) < before else size // 2
    return tape


def _follow(world: World, moment: Moment) -> None:
    who, _, label = moment.who.partition("/")
    if label:
        _step_to(world, who, label, moment.what)
    elif who == "owner":
        world.begin_deed(*moment.what.split())
    elif moment.what in TROUBLES:
        world.trouble(who, moment.what)
    elif moment.what == "kill":
        nemesis.kill(world, who)
    elif moment.what.startswith("skew "):
        nemesis.skew(world, who, float(moment.what.removeprefix("skew ")))


def _step_to(world: World, name: str, label: str, point: str) -> None:
    """Let one coroutine go on until it stops at a point, ends, or has to wait."""
    for _ in range(STEPS_TO_A_POINT):
        here = [pair for pair in world.kernel.runnable() if (pair[0].name, pair[1].label) == (name, label)]
        if not here or world.kernel.step(*here[0]) == point:
            return
