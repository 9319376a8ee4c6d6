"""Harm at every point of the ordinary flow, and at every pair of points: nothing is lost, and nothing goes twice.

The flow is one worker that takes one notification from claim to accepted. A second worker stands by. At each point
where a port is called, before its effect and after it, the first is killed, or stands still until its lease is long
over and then goes on.
"""

import logging
from itertools import combinations

import pytest

from tests.sim import oracle
from tests.sim.kernel import Process
from tests.sim.run import calm, look
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


def end(config: Config, harms: dict[int, str]) -> str:
    """Run the flow with harm at these points, then in peace; answers the state it ends in."""
    world = World(0, config)
    try:
        _flow(world, harms)
        calm(world)
        look(world, (*oracle.ALWAYS, oracle.everything_rests))
        return str(world.connection.execute("select state from duebook_notifications").fetchone()[0])
    finally:
        world.close()


@pytest.mark.parametrize("config", [PLAIN, KEYED], ids=NAMES)
@pytest.mark.parametrize("harm", HARMS)
def test_harm_at_every_single_point(config: Config, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    """A worker that stood still reports when it goes on, so only a dead one on a plain channel leaves a doubt."""
    ends = {"accepted", "uncertain"} if (config, harm) == (PLAIN, "kill") else {"accepted"}
    caplog.set_level(logging.CRITICAL)
    count = points(config)
    assert count > 15
    assert {end(config, {point: harm}) for point in range(1, count + 1)} == ends


@pytest.mark.parametrize("config", [PLAIN, KEYED], ids=NAMES)
@pytest.mark.parametrize("harm", HARMS)
def test_harm_at_every_pair_of_points(config: Config, harm: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    for first, second in combinations(range(1, points(config) + 1), 2):
        assert end(config, {first: "kill", second: harm}) in ("accepted", "uncertain", "review")
