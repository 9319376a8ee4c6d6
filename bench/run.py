"""One run of the benchmark: how much is done, where, and what was found so far."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from .figures import Figure, Target, Unit, median_of


@dataclass(frozen=True, slots=True)
class Scale:
    """How much each measurement does."""

    singles: dict[str, int]
    rounds: int
    bulk: int
    bulk_runs: int
    due: int
    turns: int
    probe: int
    procrastinate: int
    future: dict[str, int]
    looks: int
    claims: int
    pending: int
    lateness_seconds: int
    idle_seconds: int
    imports: int
    schedules: int
    previews: int
    bulk_before: int
    overtaking_seconds: int
    digests: int


FULL = Scale(
    singles={"PostgreSQL": 300, "SQLite": 150}, rounds=5, bulk=100_000, bulk_runs=3, due=100_000, turns=2, probe=10_000,
    procrastinate=5_000, future={"PostgreSQL": 5_000_000, "SQLite": 1_000_000}, looks=200, claims=30,
    pending=1_000_000, lateness_seconds=30, idle_seconds=30, imports=15, schedules=10_000, previews=1_000_000,
    bulk_before=100_000, overtaking_seconds=60, digests=100_000,
)  # fmt: skip

QUICK = Scale(
    singles={"PostgreSQL": 100, "SQLite": 50}, rounds=3, bulk=10_000, bulk_runs=3, due=10_000, turns=1, probe=1_000,
    procrastinate=500, future={"PostgreSQL": 100_000, "SQLite": 50_000}, looks=50, claims=10,
    pending=20_000, lateness_seconds=3, idle_seconds=5, imports=5, schedules=1_000, previews=100_000,
    bulk_before=5_000, overtaking_seconds=8, digests=5_000,
)  # fmt: skip


@dataclass(slots=True)
class Run:
    """`server`: the URL of a PostgreSQL database whose user may create databases."""

    scale: Scale
    server: str
    figures: list[Figure] = field(default_factory=list)
    measurement: str = ""

    def say(self, text: str) -> None:
        print(f"{self.measurement}: {text}", file=sys.stderr, flush=True)

    def found(
        self,
        what: str,
        values: float | Sequence[float],
        unit: Unit,
        *,
        target: Target | None = None,
        note: str = "",
    ) -> float:
        """Note a figure, the median if there are several values; answers it."""
        value, spread = median_of(values if isinstance(values, Sequence) else [values])
        figure = Figure(self.measurement, what, value, unit, target, spread, note)
        self.figures.append(figure)
        self.say(f"{what}: {value:,.4g} {unit} {figure.verdict}".rstrip())
        return value
