"""Cron: five fields, read by cronsim as Debian's cron reads them.

cronsim says which minutes, hours and days are meant. It is not asked to walk: it steps through a day hour by hour.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import dropwhile

from cronsim import CronSim, CronSimError

from ...errors import InvalidInput
from ..text import checked
from .occurrence import LATEST_WALL, Occurrence, earliest_wall, resolved

EXPRESSION_CHARACTERS = 255

_FIELDS = "minute hour day-of-month month day-of-week"
_PROBED_FROM = datetime(2000, 1, 1)  # noqa: DTZ001 - a wall time


@dataclass(frozen=True, slots=True)
class Cron:
    """A cron expression such as "30 9 * * MON-FRI".

    Raises InvalidInput for one that has not five fields, cannot be read, or never comes.
    """

    expression: str

    def __post_init__(self) -> None:
        checked("cron", self.expression, EXPRESSION_CHARACTERS)
        fields = len(self.expression.split())
        if fields != 5:
            problem = f"{self.expression!r} has {fields} field{'s'[: fields != 1]}; write five: {_FIELDS}"
            raise InvalidInput("cron", f"{problem}{_fix(self.expression, fields)}")
        try:
            walls = CronSim(self.expression, _PROBED_FROM)
        except CronSimError as error:
            fault = str(error).removeprefix("Bad ")
            raise InvalidInput("cron", f"{self.expression!r}: the {fault} cannot be read, or never comes") from None
        if next(walls, None) is None:
            raise InvalidInput("cron", f"{self.expression!r} never comes; correct its day or month")

    @property
    def follows_elapsed_time(self) -> bool:
        """Say whether the minute or the hour starts with a star. By that Debian's cron tells such jobs from others."""
        minute, hour, *_ = self.expression.split()
        return minute.startswith("*") or hour.startswith("*")

    def occurrences(self, zone: str, start: datetime, end: datetime | None = None) -> Iterator[Occurrence]:
        """Return what is due from `start`, inclusive, to `end`, exclusive, in ascending order, as it is asked for."""
        walls = self.walls(earliest_wall(zone, start))
        return resolved(walls, zone, start, end, elapsed=self.follows_elapsed_time)

    def walls(self, start: datetime) -> Iterator[datetime]:
        """Return the wall times from `start` on, in ascending order."""
        read = CronSim(self.expression, start)
        times = [time(hour, minute) for hour in sorted(read.hours) for minute in sorted(read.minutes)]
        days = (day for day in _days_from(start.date()) if day.month in read.months and read.match_day(day))
        return dropwhile(lambda wall: wall < start, (datetime.combine(day, at) for day in days for at in times))


def _days_from(day: date) -> Iterator[date]:
    return map(date.fromordinal, range(day.toordinal(), LATEST_WALL.toordinal()))


def _fix(expression: str, fields: int) -> str:
    if expression.lstrip().startswith("@"):
        return '; "@daily" is "0 0 * * *"'
    return "; leave out the seconds" if fields == 6 else ""
