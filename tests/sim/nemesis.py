"""What can go wrong, each a small function. All of its draws come from (seed, step), so that a run with some of its
faults taken out is otherwise the same run: that is what makes shrinking possible."""

from __future__ import annotations

from random import Random

from duebook.errors import Busy, StoreUnavailable
from tests.sim.world import World

FAULTS = ("kill", "kill", "stall", "stall", "stall", "jump", "jump", "skew", "busy", "break_before", "break_after")


def strike(world: World, step: int) -> str | None:
    """Maybe do harm before this step; answers what was done."""
    draw = Random(f"{world.seed}/fault/{step}")
    if draw.random() >= world.config.fault_rate:
        return None
    fault = draw.choice(FAULTS)
    workers = sorted(name for name in world.kernel.processes if name != "owner")
    name = draw.choice(workers)
    _apply(world, fault, name, draw)
    return f"{fault} {name}"


def _apply(world: World, fault: str, name: str, draw: Random) -> None:
    kernel = world.kernel
    process = kernel.processes[name]
    match fault:
        case "kill":
            kernel.kill(process)
            world.start_worker(name)
        case "stall":
            process.still_until = kernel.elapsed + draw.choice((0.1, 0.5, 3.0, 11.0, 16.0, 60.0))
        case "jump":
            kernel.elapsed += draw.choice((0.5, 2.0, 8.0, 13.0, 30.0))
        case "skew":
            world.skews[name] = draw.choice((-20.0, -3.0, 3.0, 20.0))
            kernel.kill(process)
            world.start_worker(name)
        case "busy":
            world.troubles[f"{name}:before"] = Busy("simulated")
        case "break_before":
            world.troubles[f"{name}:before"] = StoreUnavailable("simulated")
        case "break_after":
            world.troubles[f"{name}:after"] = StoreUnavailable("simulated")
