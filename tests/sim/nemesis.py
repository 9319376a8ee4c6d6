"""What can go wrong. Which of it does, and when, is drawn from (seed, step)."""

from __future__ import annotations

from random import Random

from tests.sim.crowd import TROUBLES, Crowd

FAULTS = ("kill", "kill", "stall", "stall", "stall", "jump", "jump", "skew", *TROUBLES)


def strike(world: Crowd, step: int) -> None:
    """Maybe do harm before this step."""
    draw = Random(f"{world.seed}/fault/{step}")
    if draw.random() >= world.fault_rate:
        return
    fault = draw.choice(FAULTS)
    name = draw.choice(sorted(name for name in world.kernel.processes if name != "owner"))
    match fault:
        case "kill":
            kill(world, name)
        case "stall":
            still = draw.choice((0.1, 0.5, 3.0, 11.0, 16.0, 60.0))
            world.kernel.processes[name].still_until = world.kernel.elapsed + still
        case "jump":
            world.kernel.elapsed += draw.choice((0.5, 2.0, 8.0, 13.0, 30.0))
        case "skew":
            skew(world, name, draw.choice((-20.0, -3.0, 3.0, 20.0)))
        case _:
            world.trouble(name, fault)


def kill(world: Crowd, name: str) -> None:
    world.kernel.note(name, "kill")
    world.restart(name)


def skew(world: Crowd, name: str, seconds: float) -> None:
    """Start a worker anew with its clock so many seconds ahead, or behind."""
    world.kernel.note(name, f"skew {seconds:g}")
    world.skews[name] = seconds
    world.restart(name)
