"""RRULE of RFC 5545, to the minute, by dateutil behind a guard.

dateutil searches to the end of the calendar for a rule that never comes, and walks from DTSTART wherever one asks. So
every part is checked before it sees one, it begins at the period asked for, and it is never far from its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime, timedelta
from itertools import dropwhile, islice, takewhile
from typing import Any

from dateutil import rrule as dateutil_rrule

from ...errors import InvalidInput
from .occurrence import LATEST_WALL, Occurrence, checked_wall, earliest_wall, last_instant, resolved
from .rrule_parts import SEARCH_YEARS, Parts, parse

_FOREVER_AGO = datetime.min.replace(tzinfo=UTC)
_CALENDAR_YEARS = 400
_MINUTE = timedelta(minutes=1)
_STEPS = {
    "MINUTELY": _MINUTE, "HOURLY": timedelta(hours=1), "DAILY": timedelta(days=1), "WEEKLY": timedelta(weeks=1),
}  # fmt: skip
_MONTHS = {"MONTHLY": 1, "YEARLY": 12}


@dataclass(frozen=True, slots=True)
class Rrule:
    """An RRULE such as "FREQ=MONTHLY;BYDAY=-1FR" with its DTSTART, a wall time to the minute.

    COUNT counts occurrences. UNTIL is inclusive: a UTC time, a local time, or a date, which means all of that day.
    HOURLY and MINUTELY follow elapsed time, all others name fixed times. DTSTART is an occurrence only where the rule
    meets it. Raises InvalidInput for a rule that cannot be read or never comes, and for `start`.
    """

    rule: str
    start: datetime

    def __post_init__(self) -> None:
        parse(self.rule)
        checked_wall("start", self.start)
        if not self._comes():
            raise InvalidInput("rrule", f"{self.rule!r} does not come within {SEARCH_YEARS} years of its start")

    def _comes(self) -> bool:
        try:
            return next(self.walls(self.start), None) is not None
        except ValueError:
            return False  # dateutil noticed that the interval steps over all that the BY parts allow

    @property
    def follows_elapsed_time(self) -> bool:
        """Say whether the frequency is HOURLY or MINUTELY."""
        return parse(self.rule).frequency in ("HOURLY", "MINUTELY")

    def occurrences(self, zone: str, start: datetime, end: datetime | None = None) -> Iterator[Occurrence]:
        """Return what is due from `start`, inclusive, to `end`, exclusive, in ascending order, as it is asked for."""
        begin, parts = earliest_wall(zone, start), parse(self.rule)
        until = last_instant(end)
        if parts.until is not None and parts.until.tzinfo is not None:
            until = min(until, parts.until + timedelta.resolution)
        if parts.count is None:
            return resolved(self.walls(begin), zone, start, until, elapsed=self.follows_elapsed_time)
        every = resolved(self.walls(self.start), zone, _FOREVER_AGO, None, elapsed=self.follows_elapsed_time)
        counted = dropwhile(lambda one: one.at < start, islice(every, parts.count))
        return takewhile(lambda one: one.at < until, counted)

    def walls(self, start: datetime) -> Iterator[datetime]:
        """Return the wall times from `start` on, in ascending order."""
        parts = parse(self.rule)
        walls = _searched(parts, self.start, max(start, self.start))
        if parts.until is None or parts.until.tzinfo is not None:
            return walls
        last = parts.until
        return takewhile(lambda wall: wall <= last, walls)


def _searched(parts: Parts, dtstart: datetime, start: datetime) -> Iterator[datetime]:
    """Return the wall times from `start` on, until none is found in SEARCH_YEARS."""
    found = True
    while found and start < LATEST_WALL:
        found = False
        horizon = datetime(min(start.year + SEARCH_YEARS + 1, LATEST_WALL.year), 1, 1)  # noqa: DTZ001 - a wall time
        for wall in _window(parts, dtstart, start, horizon - _MINUTE):
            if wall >= start:
                yield wall
                found = True
        start = horizon


def _window(parts: Parts, dtstart: datetime, start: datetime, last: datetime) -> Iterator[datetime]:
    """Return dateutil's wall times from the period in which `start` lies to `last`, both included.

    The calendar repeats itself every 400 years, weekdays and all. So dateutil works where it soon comes to its end.
    """
    ahead = (MAXYEAR - SEARCH_YEARS - 1 - start.year) // _CALENDAR_YEARS * _CALENDAR_YEARS
    walls = dateutil_rrule.rrule(
        getattr(dateutil_rrule, parts.frequency),
        dtstart=_later(_period(parts, dtstart, start), ahead),
        interval=parts.interval,
        wkst=parts.week_start,
        until=_later(last, ahead),
        bysecond=0,
        **_by(parts, dtstart),
    )
    return (_later(wall, -ahead) for wall in walls)


def _later(wall: datetime, years: int) -> datetime:
    return wall.replace(year=wall.year + years)


def _period(parts: Parts, dtstart: datetime, start: datetime) -> datetime:
    """Return the beginning of the last period of the rule that begins at `start` or before.

    Periods are counted from the one in which DTSTART lies: an interval of two weeks keeps its parity.
    """
    origin = _beginning(parts, dtstart)
    if parts.frequency in _STEPS:
        step = parts.interval * _STEPS[parts.frequency]
        return origin + (start - origin) // step * step
    months = parts.interval * _MONTHS[parts.frequency]
    apart = (start.year - origin.year) * 12 + start.month - origin.month
    year, month = divmod(origin.year * 12 + origin.month - 1 + apart // months * months, 12)
    return origin.replace(year=year, month=month + 1)


def _beginning(parts: Parts, at: datetime) -> datetime:
    if parts.frequency == "MINUTELY":
        return at
    if parts.frequency == "HOURLY":
        return at.replace(minute=0)
    midnight = at.replace(hour=0, minute=0)
    match parts.frequency:
        case "WEEKLY":
            return midnight - timedelta(days=(midnight.weekday() - parts.week_start) % 7)
        case "MONTHLY":
            return midnight.replace(day=1)
        case "YEARLY":
            return midnight.replace(month=1, day=1)
    return midnight


def _by(parts: Parts, dtstart: datetime) -> dict[str, Any]:
    """Return the BY parts, with what the rule leaves open taken from DTSTART, as RFC 5545 says."""
    by = dict(parts.by)
    if not by.keys() & {"byweekno", "byyearday", "bymonthday", "byweekday"}:
        if parts.frequency == "YEARLY":
            by.setdefault("bymonth", [dtstart.month])
        if parts.frequency in _MONTHS:
            by["bymonthday"] = [dtstart.day]
        if parts.frequency == "WEEKLY":
            by["byweekday"] = [dtstart.weekday()]
    if parts.frequency not in ("HOURLY", "MINUTELY"):
        by.setdefault("byhour", [dtstart.hour])
    if parts.frequency != "MINUTELY":
        by.setdefault("byminute", [dtstart.minute])
    return by
