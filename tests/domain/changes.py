"""The instants at which a zone changes its offset, found by halving the weeks in which they fall."""

from datetime import UTC, datetime, timedelta
from functools import cache

from duebook.domain import zones

FIRST, LAST = datetime(2024, 1, 1, tzinfo=UTC), datetime(2030, 12, 31, tzinfo=UTC)
WEEK, SECOND = timedelta(days=7), timedelta(seconds=1)

CHANGING = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago",
            "Africa/Casablanca", "Asia/Gaza", "Antarctica/Troll", "America/Nuuk", "Pacific/Chatham"]  # fmt: skip


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """The first instants of new offsets from 2024 to 2030."""
    tz, found, at = zones.zone(zone), [], FIRST
    while at < LAST:
        before, later = at.astimezone(tz).utcoffset(), at + WEEK
        if before != later.astimezone(tz).utcoffset():
            low, high = at, later
            while high - low > SECOND:
                middle = low + (high - low) // 2
                low, high = (middle, high) if middle.astimezone(tz).utcoffset() == before else (low, middle)
            found.append(high.replace(microsecond=0))
        at = later
    return tuple(found)
