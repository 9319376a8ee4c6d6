"""Processes made of coroutines that are stepped by hand.

A coroutine that awaits only simulated ports stops at named points, and between two points it is atomic. So a killed
process, a process that stands still and every order of events are just a choice of which coroutine to step next.

A killed process runs no `finally`: Python would run them if a suspended coroutine were dropped, so dead ones are kept
until the run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Dead(BaseException):
    """Raised where a killed process would go on."""


class Moment(NamedTuple):
    """One line of what happened: at which second, to whom, and what. A step is told by where it stopped."""

    at: float
    who: str
    what: str


@dataclass(frozen=True, slots=True)
class Point:
    """A place where a coroutine may be stopped for ever."""

    name: str

    def __await__(self) -> Generator[Point, None, None]:
        yield self


@dataclass(frozen=True, slots=True)
class Until:
    """A place where a coroutine waits for something, at the latest until a second of the simulated clock."""

    ready: Callable[[], bool]
    at: float

    def __await__(self) -> Generator[Until, None, None]:
        yield self


@dataclass(slots=True, eq=False)
class Strand:
    """One coroutine of a process. `stepped`: which step of the run was its last."""

    label: str
    work: Coroutine[Any, Any, Any]
    ended: Callable[[Any, BaseException | None], None]
    waits: Until | None = None
    over: bool = False
    stepped: int = 0


@dataclass(slots=True, eq=False)
class Process:
    """A worker or another program. `still_until`: the second before which nothing of it runs."""

    name: str
    alive: bool = True
    still_until: float = 0.0
    strands: list[Strand] = field(default_factory=list)


class Kernel:
    def __init__(self) -> None:
        self.elapsed = 0.0
        self.steps = 0
        self.processes: dict[str, Process] = {}
        self.graves: list[Process] = []
        self.trace: list[Moment] = []

    def note(self, who: str, what: str) -> None:
        self.trace.append(Moment(self.elapsed, who, what))

    def spawn(self, process: Process, label: str, work: Coroutine[Any, Any, Any], ended: Any = None) -> Strand:
        strand = Strand(label, work, ended or _must_not_fail)
        process.strands.append(strand)
        return strand

    def kill(self, process: Process) -> None:
        process.alive = False
        self.graves.append(process)
        del self.processes[process.name]

    def runnable(self) -> list[tuple[Process, Strand]]:
        return [
            (process, strand)
            for process in self.processes.values()
            if process.still_until <= self.elapsed
            for strand in process.strands
            if strand.waits is None or strand.waits.at <= self.elapsed or strand.waits.ready()
        ]

    def step(self, process: Process, strand: Strand) -> str:
        """Run one coroutine to its next point; answers where it stopped."""
        self.steps += 1
        strand.stepped = self.steps
        strand.waits = None
        where = "ended"
        try:
            stop = strand.work.send(None)
            if isinstance(stop, Until):
                strand.waits = stop
            where = "waits" if isinstance(stop, Until) else stop.name
        except StopIteration as end:
            self._end(process, strand, end.value, None)
        except Dead:
            self._end(process, strand, None, None, silent=True)
        except Exception as error:  # noqa: BLE001 - what a piece of work raises is its result
            self._end(process, strand, None, error)
        self.note(f"{process.name}/{strand.label}", where)
        return where

    def next_instant(self) -> float | None:
        """When the first of the waiting ones wakes by itself."""
        waits = [
            max(process.still_until, self.elapsed if strand.waits is None else strand.waits.at)
            for process in self.processes.values()
            for strand in process.strands
        ]
        return min((at for at in waits if at < float("inf")), default=None)

    def close(self) -> None:
        """Let go of every coroutine, dead or alive, once nothing is looked at any more."""
        for process in [*self.graves, *self.processes.values()]:
            process.alive = False
            for strand in process.strands:
                strand.work.close()

    @staticmethod
    def _end(process: Process, strand: Strand, result: Any, error: BaseException | None, silent: bool = False) -> None:
        strand.over = True
        process.strands.remove(strand)
        if not silent:
            strand.ended(result, error)


def _must_not_fail(result: Any, error: BaseException | None) -> None:
    if error is not None:
        raise AssertionError(f"agents_go_on: one ended by {error!r}") from error
