"""Times as people read them: on the clock of their zone, in UTC, and what was done to them on an odd night."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from ..domain import zones
from ..domain.walltime import readings
from .output import Table

_NOTES = {
    "first": "the first of two",
    "second": "the second of two",
    "moved_forward": "moved forward: {wall} does not exist",
    "moved_back": "moved back: {wall} does not exist",
}
_OFFSET_BEGINS = len("2027-01-14T09:00:00")


def reading(wall: datetime, zone: str, at: datetime) -> str:
    """Return how a wall time became an instant: a key of the notes above, or "exact"."""
    before, after = readings(wall, zones.zone(zone))
    if before == after:
        return "exact"
    if before < after:
        return "first" if at == before else "second"
    return "moved_forward" if at == before else "moved_back"


def table(rows: Sequence[Sequence[str]]) -> Table:
    return Table(["local time", "offset", "UTC", "note"], rows)


def row(wall: datetime, at: datetime, how: str, zone: str) -> list[str]:
    """Return the row of an instant; `wall` is what was asked for, `how` its reading."""
    local = at.astimezone(zones.zone(zone))
    offset, name = local.isoformat()[_OFFSET_BEGINS:], local.tzname() or ""
    note = _NOTES.get(how, "").format(wall=f"{wall:%Y-%m-%d %H:%M}")
    shown = f"{offset} {name}" if name.isalpha() else offset
    return [f"{local:%a %Y-%m-%d %H:%M}", shown, f"{at.astimezone(UTC):%Y-%m-%d %H:%M}", note]
