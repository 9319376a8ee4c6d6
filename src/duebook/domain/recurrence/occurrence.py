"""From wall times to occurrences in a zone: what a recurrence means on the two odd nights of the year.

A recurrence either names fixed times or follows elapsed time. A fixed time that happens twice runs at its first
reading, and one that does not exist moves forward by the gap. Elapsed time runs at both readings, and skips what does
not exist.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import dropwhile, takewhile
from typing import Literal
from zoneinfo import ZoneInfo

from ...errors import InvalidInput
from .. import zones
from ..walltime import readings

Reading = Literal["exact", "first", "second", "moved_forward"]

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
LATEST = datetime(9999, 1, 1, tzinfo=UTC)
FIRST_YEAR = 1900
LATEST_WALL = LATEST.replace(tzinfo=None)
"""No recurrence answers wall times of this year: one day more and the calendar of `datetime` is over."""

_LARGEST_SHIFT = timedelta(days=1)
"""A zone that changes its side of the date line skips a day. No zone has shifted its clocks further since EARLIEST."""

_LATE = frozenset({"second", "moved_forward"})
"""Readings that come after those of larger wall times."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One time of a recurrence in a zone.

    `label`: its name, unique within the recurrence and the zone, and the same whenever it is computed. It is the local
    wall time, such as "2026-03-08T02:30"; the second reading of a repeated one carries its offset, as in
    "2026-11-01T01:30-08:00". `at`: the instant, in UTC. `reading`: how the wall time became the instant.
    """

    label: str
    at: datetime
    reading: Reading


def resolved(
    walls: Iterable[datetime], zone: str, start: datetime, end: datetime | None, *, elapsed: bool
) -> Iterator[Occurrence]:
    """Return the occurrences of ascending wall times from `start`, inclusive, to `end`, exclusive, in ascending order.

    `walls` must reach back to `earliest_wall(zone, start)`.
    """
    ordered = _in_order(_occurrences(walls, zones.zone(zone), elapsed))
    until = last_instant(end)
    return takewhile(lambda one: one.at < until, dropwhile(lambda one: one.at < start, ordered))


def earliest_wall(zone: str, start: datetime) -> datetime:
    """Return the smallest wall time whose turn may come at `start` or later. `start` is checked."""
    checked_instant("start", start)
    tz = zones.zone(zone)
    around = (start - _LARGEST_SHIFT, start, start + _LARGEST_SHIFT)
    smallest = min(_offset(at, tz) for at in around)
    return start.astimezone(UTC).replace(tzinfo=None) + smallest


def checked_instant(field: str, at: datetime) -> datetime:
    """Return an instant if it has a time zone and lies between EARLIEST and LATEST; otherwise raise InvalidInput."""
    _checked_zoned(field, at)
    if not EARLIEST <= at < LATEST:
        raise InvalidInput(field, f"must be between the years {EARLIEST.year} and {LATEST.year - 1}")
    return at


def last_instant(end: datetime | None) -> datetime:
    """Return `end`, or LATEST where that is earlier. Raises InvalidInput if `end` has no time zone."""
    if end is None:
        return LATEST
    _checked_zoned("end", end)
    return min(end, LATEST)


def checked_wall(field: str, wall: datetime) -> datetime:
    """Return a wall time if it is one, to the minute; otherwise raise InvalidInput."""
    if not isinstance(wall, datetime):
        raise InvalidInput(field, f"must be a date and a time of day, not {type(wall).__name__}")
    if wall.tzinfo is not None:
        raise InvalidInput(field, f"{wall.isoformat(sep=' ')} carries an offset; give the local time without it")
    if wall.second or wall.microsecond:
        raise InvalidInput(field, f"{wall.isoformat(sep=' ')} is finer than a minute; leave out the seconds")
    if not FIRST_YEAR <= wall.year < LATEST_WALL.year:
        raise InvalidInput(field, f"must be between the years {FIRST_YEAR} and {LATEST_WALL.year - 1}")
    return wall


def at_instant(at: datetime, tz: ZoneInfo) -> Occurrence:
    """Return the occurrence at an instant, which exists whatever the clocks do."""
    local = at.astimezone(tz)
    wall = local.replace(tzinfo=None, fold=0)
    if local.fold:
        return _second(wall, at, tz)
    first, second = readings(wall, tz)
    return Occurrence(_label(wall), at, "exact" if first == second else "first")


def _checked_zoned(field: str, at: datetime) -> None:
    if at.tzinfo is None:
        raise InvalidInput(field, f"{at.isoformat(sep=' ')} has no time zone; give an instant, as in tzinfo=UTC")


def _occurrences(walls: Iterable[datetime], tz: ZoneInfo, elapsed: bool) -> Iterator[Occurrence]:
    for wall in walls:
        first, second = readings(wall, tz)
        if first == second:
            yield Occurrence(_label(wall), first, "exact")
        elif first < second:
            yield Occurrence(_label(wall), first, "first")
            if elapsed:
                yield _second(wall, second, tz)
        elif not elapsed:
            yield Occurrence(_label(wall), first, "moved_forward")


def _in_order(occurrences: Iterable[Occurrence]) -> Iterator[Occurrence]:
    """Let late readings wait for their turn. One that falls on another occurrence is that occurrence."""
    waiting: deque[Occurrence] = deque()
    for one in occurrences:
        if one.reading in _LATE:
            waiting.append(one)
            continue
        while waiting and waiting[0].at < one.at:
            yield waiting.popleft()
        if waiting and waiting[0].at == one.at:
            waiting.popleft()
        yield one
    yield from waiting


def _second(wall: datetime, at: datetime, tz: ZoneInfo) -> Occurrence:
    return Occurrence(at.astimezone(tz).isoformat(timespec="minutes"), at, "second")


def _label(wall: datetime) -> str:
    return wall.isoformat(timespec="minutes")


def _offset(at: datetime, tz: ZoneInfo) -> timedelta:
    offset = at.astimezone(tz).utcoffset()
    assert offset is not None
    return offset
