"""Every so many minutes, hours, days, weeks, months or years, counted from an anchor."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import dropwhile
from typing import Literal, get_args

from ...errors import InvalidInput
from .. import zones
from ..policy import checked_choice
from ..walltime import resolve
from .occurrence import LATEST_WALL, Occurrence, at_instant, checked_wall, earliest_wall, last_instant, resolved

Unit = Literal["minute", "hour", "day", "week", "month", "year"]

MOST_UNITS = 10_000

_ELAPSED = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}
_MONTHS = {"month": 1, "year": 12}


@dataclass(frozen=True, slots=True)
class Every:
    """Every `n` units after `anchor`, a wall time to the minute. The anchor itself is not an occurrence.

    Minutes and hours are elapsed time from the anchor. Days and more keep its time of day. Months and years end on the
    last day of a month that is too short, and come back to the anchor's day afterwards: 31 January, 28 February,
    31 March. Raises InvalidInput for `n`, `unit` or `anchor`.
    """

    n: int
    unit: Unit
    anchor: datetime

    def __post_init__(self) -> None:
        checked_choice("unit", self.unit, get_args(Unit))
        if type(self.n) is not int or not 1 <= self.n <= MOST_UNITS:
            raise InvalidInput("n", f"must be a whole number from 1 to {MOST_UNITS:,}, not {self.n!r}")
        checked_wall("anchor", self.anchor)

    @property
    def follows_elapsed_time(self) -> bool:
        """Say whether the unit is a length of time, rather than a step on the calendar."""
        return self.unit in _ELAPSED

    def occurrences(self, zone: str, start: datetime, end: datetime | None = None) -> Iterator[Occurrence]:
        """Return what is due from `start`, inclusive, to `end`, exclusive, in ascending order, as it is asked for."""
        begin = earliest_wall(zone, start)
        if self.follows_elapsed_time:
            return self._elapsed(zone, start, end)
        return resolved(self.walls(begin), zone, start, end, elapsed=False)

    def walls(self, start: datetime) -> Iterator[datetime]:
        """Return the wall times from `start` on, in ascending order.

        Raises InvalidInput for minutes and hours: outside a zone they have none.
        """
        if self.follows_elapsed_time:
            raise InvalidInput("unit", f"{self.unit}s are counted in a zone; give the anchor a time of day, and a zone")
        if self.unit in _DAYS:
            step = self.n * _DAYS[self.unit]
            numbers = range(max(1, _steps(self.anchor, start, step)), _steps(self.anchor, LATEST_WALL, step))
            return (self.anchor + number * step for number in numbers)
        months = self.n * _MONTHS[self.unit]
        first = max(1, ((start.year - self.anchor.year) * 12 + start.month - self.anchor.month) // months)
        last = ((LATEST_WALL.year - self.anchor.year) * 12 - self.anchor.month) // months
        walls = (_months_after(self.anchor, number * months) for number in range(first, last + 1))
        return dropwhile(lambda wall: wall < start, walls)

    def _elapsed(self, zone: str, start: datetime, end: datetime | None) -> Iterator[Occurrence]:
        tz, origin = zones.zone(zone), resolve(self.anchor, zone)
        step = self.n * _ELAPSED[self.unit]
        numbers = range(max(1, _steps(origin, start, step)), _steps(origin, last_instant(end), step))
        return (at_instant(origin + number * step, tz) for number in numbers)


def _steps(origin: datetime, at: datetime, step: timedelta) -> int:
    """Return how many steps lead from `origin` to `at` or beyond."""
    return -((origin - at) // step)


def _months_after(anchor: datetime, months: int) -> datetime:
    year, month = divmod(anchor.year * 12 + anchor.month - 1 + months, 12)
    return anchor.replace(year=year, month=month + 1, day=min(anchor.day, monthrange(year, month + 1)[1]))
