"""From what people say ("14 January, nine in the morning, New York") to an instant, by one stated rule.

The default rule, `compatible`, is that of RFC 5545 and of Python's fold=0: a time inside a gap moves forward by the
gap, and a repeated time means the first of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from ..errors import InvalidInput
from . import zones
from .policy import checked_choice

Disambiguation = Literal["compatible", "earlier", "later", "raise"]

_NO_ZONE = "has no time zone. Use datetime(…, tzinfo=ZoneInfo('Europe/Berlin')) or tzinfo=UTC"


@dataclass(frozen=True, slots=True)
class LocalTime:
    """A wall time in a zone, with the rule for times that do not exist or exist twice."""

    wall: datetime
    zone: str
    disambiguation: Disambiguation = "compatible"

    def __post_init__(self) -> None:
        if not isinstance(self.wall, datetime):
            raise InvalidInput("at", f"a wall time is a datetime, not {type(self.wall).__name__}; see local()")
        if self.wall.tzinfo is not None:
            problem = f"{self.wall.isoformat()} carries an offset and a zone was given too; drop one of them"
            raise InvalidInput("at", problem)
        zones.zone(self.zone)
        checked_choice("disambiguation", self.disambiguation, get_args(Disambiguation))


@dataclass(frozen=True, slots=True)
class Promise:
    """The promised instant and, for a local promise, what it was computed from."""

    due_at: datetime
    wall: str | None = None
    zone: str | None = None
    rule: str | None = None
    tzdata: str | None = None


def local(wall: str | datetime, zone: str, *, disambiguation: Disambiguation = "compatible") -> LocalTime:
    """Return a local time such as `local("2027-01-14 09:00", "America/New_York")`.

    Raises InvalidInput for a wall time that carries an offset or cannot be read, UnknownName for an unknown zone.
    """
    if isinstance(wall, str):
        try:
            wall = datetime.fromisoformat(wall)
        except ValueError:
            raise InvalidInput("at", f"{wall!r} is not a date and time such as 2027-01-14 09:00") from None
    return LocalTime(wall, zone, disambiguation)


def readings(wall: datetime, tz: ZoneInfo) -> tuple[datetime, datetime]:
    """Return the UTC instants of a wall time by the offset before and after a change of the zone.

    They are equal for an ordinary time, ascending for one that happens twice, descending for one that does not exist.
    """
    return wall.replace(tzinfo=tz, fold=0).astimezone(UTC), wall.replace(tzinfo=tz, fold=1).astimezone(UTC)


def resolve(wall: datetime, zone: str, rule: Disambiguation = "compatible") -> datetime:
    """Return the UTC instant of a wall time; raises InvalidInput under the rule "raise" where it is no single one."""
    first, second = readings(wall, zones.zone(zone))
    if first == second or rule == "compatible":
        return first
    if rule == "raise":
        what = "happens twice" if first < second else "does not exist"
        raise InvalidInput("at", f"{wall.isoformat(sep=' ')} {what} in {zone}; choose another time or rule")
    return min(first, second) if rule == "earlier" else max(first, second)


def promise(at: datetime | LocalTime) -> Promise:
    """Return the promise behind `at`: a ZoneInfo or local time is a local promise, a UTC or offset time an instant."""
    try:
        return _promise(at)
    except OverflowError:
        raise InvalidInput("at", "is more than 100 years away; is the year right?") from None


def _promise(at: datetime | LocalTime) -> Promise:
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise InvalidInput("at", f"{at.isoformat(sep=' ')} {_NO_ZONE}")
        if not isinstance(at.tzinfo, ZoneInfo) or at.tzinfo.key in (None, "UTC", "Etc/UTC"):
            return Promise(at.astimezone(UTC))
        at = LocalTime(at.replace(tzinfo=None, fold=0), at.tzinfo.key, "later" if at.fold else "compatible")
    instant = resolve(at.wall, at.zone, at.disambiguation)
    return Promise(instant, at.wall.isoformat(), at.zone, at.disambiguation, zones.version())
