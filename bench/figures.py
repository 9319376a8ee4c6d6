"""What a run found out, and how it is told: figures with their targets, as a table and as JSON."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

Unit = Literal["/s", "times", "ms", "s", "MB"]


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should reach: at least `bound`, or at most."""

    bound: float
    most: bool = False

    def reached(self, value: float) -> bool:
        return value <= self.bound if self.most else value >= self.bound

    def misses_by(self, value: float) -> float:
        """Return how far off a value is, as a part of the bound."""
        return abs(value - self.bound) / self.bound


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing measured. Without a target it stands beside others for comparison. `note`: how it was measured."""

    measurement: str
    what: str
    value: float
    unit: Unit
    target: Target | None = None
    spread: tuple[float, float] | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        if self.target.reached(self.value):
            return "reached"
        return f"falls short by {self.target.misses_by(self.value):.0%}"

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "verdict": self.verdict}


def median_of(values: Sequence[float]) -> tuple[float, tuple[float, float] | None]:
    """Return the median, and from where to where the values went if there are several."""
    return statistics.median(values), (min(values), max(values)) if len(values) > 1 else None


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that `percent` of all do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def quantity(value: float, unit: Unit) -> str:
    match unit:
        case "times":
            return f"{value:.2f} times"
        case "/s":
            return f"{value:,.0f} /s" if value >= 100 else f"{value:.2f} /s"
        case _:
            return f"{value:,.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def table(figures: Sequence[Figure]) -> str:
    """Return the figures as a table of plain text, a paragraph for each measurement."""
    rows: list[tuple[str, ...]] = [("", "target", "measured", "", "spread")]
    for figure in figures:
        target = spread = ""
        if figure.target is not None:
            target = f"{'≤' if figure.target.most else '≥'} {quantity(figure.target.bound, figure.unit)}"
        if figure.spread is not None:
            spread = " to ".join(quantity(value, figure.unit) for value in figure.spread)
        rows.append((figure.what, target, quantity(figure.value, figure.unit), figure.verdict, spread))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [_line(rows[0], widths)]
    before = ""
    for figure, row in zip(figures, rows[1:], strict=True):
        if figure.measurement != before:
            lines.append("")
        before = figure.measurement
        lines.append(_line(row, widths))
        if figure.note:
            lines.append(f"    {figure.note}")
    return "\n".join(lines)


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    what, target, measured, verdict, spread = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
    return f"{what}  {target}  {measured.strip().rjust(len(measured))}  {verdict}  {spread}".rstrip()
