"""Harm at every point of the ordinary flow, and at every pair of points: nothing is lost, and nothing goes twice.

The flow is one worker that takes one notification from claim to accepted. A second worker stands by. At each point
where a port is called, before its effect and after it, the first is killed, or stands still until its lease is long
over and then goes on.
"""

import logging
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import NamedTuple

import pytest

from tests.sim import oracle
from tests.sim.kernel import Process
from tests.sim.run import calm, in_turn, look
from tests.sim.world import Config, World

HARMS = ("kill", "stall")
NAMES = ("plain", "keyed")
PLAIN = Config(None, "hold", count=1, owners=False)
KEYED = Config(on_uncertain="resend", count=1, owners=False)


def points(config: Config) -> int:
    """How many points the flow has."""
    world = World(0, config)
    try:
        return _flow(world, {})
    finally:
        world.close()


def _flow(world: World, harms: dict[int, str]) -> int:
    """Step the first worker until it has nothing more to do; answers how many points it came through."""
    world.calm = True
    seen = 0
    victim: Process = world.kernel.processes["worker0"]
    for _ in range(400):
        runnable = [pair for pair in world.kernel.runnable() if pair[0] is victim]
        if not runnable:
            following = world.kernel.next_instant()
            if following is None or world.kernel.elapsed > 3:
                break
            world.kernel.elapsed = max(world.kernel.elapsed + 0.01, following)
            continue
        where = world.kernel.step(*runnable[0])
        if where in ("waits", "ended"):
            continue
        seen += 1
        if harms.get(seen) == "kill":
            world.kernel.kill(victim)
            world.start_worker("worker0")
            victim = world.kernel.processes["worker0"]
        elif harms.get(seen) == "stall":
            victim.still_until = world.kernel.elapsed + 60.0
            break
    return seen


class End(NamedTuple):
    state: str
    steps: int


def end(config: Config, harms: dict[int, str]) -> End:
    """Run the flow with harm at these points, then in peace."""
    world = World(0, config)
    try:
        _flow(world, harms)
        calm(world, in_turn)
        look(world, (*oracle.ALWAYS, oracle.everything_rests))
        state = world.connection.execute("select state from duebook_notifications").fetchone()[0]
        return End(str(state), world.kernel.steps)
    finally:
        world.close()


@pytest.mark.parametrize("config", [PLAIN, KEYED], ids=NAMES)
@pytest.mark.parametrize("harm", HARMS)
def test_harm_at_every_single_point(
    config: Config, harm: str, caplog: pytest.LogCaptureFixture, record_property: Callable[[str, object], None]
) -> None:
    """A worker that stood still reports when it goes on, so only a dead one on a plain channel leaves a doubt."""
    caplog.set_level(logging.CRITICAL)
    count = points(config)
    assert count > 15
    ends = [end(config, {point: harm}) for point in range(1, count + 1)]
    doubtful = {"uncertain"} if (config, harm) == (PLAIN, "kill") else set()
    assert {one.state for one in ends} == {"accepted"} | doubtful
    record_property("harm at one point", figures(ends))


@pytest.mark.parametrize("config", [PLAIN, KEYED], ids=NAMES)
@pytest.mark.parametrize("harm", HARMS)
def test_harm_at_every_pair_of_points(
    config: Config, harm: str, caplog: pytest.LogCaptureFixture, record_property: Callable[[str, object], None]
) -> None:
    caplog.set_level(logging.CRITICAL)
    pairs = combinations(range(1, points(config) + 1), 2)
    ends = [end(config, {first: "kill", second: harm}) for first, second in pairs]
    assert {one.state for one in ends} <= {"accepted", "uncertain", "review"}
    record_property("harm at two points", figures(ends))


def figures(ends: Iterable[End]) -> tuple[int, int]:
    """How many runs, and of how many steps together."""
    steps = [one.steps for one in ends]
    return len(steps), sum(steps)
