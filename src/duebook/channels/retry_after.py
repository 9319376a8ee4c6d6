"""The Retry-After header, for every channel that speaks HTTP."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

LONGEST = timedelta(hours=24)

_SECONDS = re.compile(r"([0-9]+)(?:\.[0-9]*)?")
_DIGITS = 9


def retry_after(value: str | None, now: datetime) -> datetime | None:
    """Return the instant before which the server wants no other call, or None if it named no sensible one.

    Takes both forms of RFC 9110 §10.2.3, a count of seconds and an HTTP-date. A time that is not ahead, a
    negative count and garbage are None, so that the caller's own back-off applies. No answer lies more than
    24 hours ahead: servers that write an epoch time where seconds belong ask for decades
    (openclaw/clawhub#421).
    """
    if value is None:
        return None
    asked = _instant(value.strip(), now)
    if asked is None or asked <= now:
        return None
    return min(asked, now + LONGEST)


def _instant(value: str, now: datetime) -> datetime | None:
    if seconds := _SECONDS.fullmatch(value):
        # int() refuses thousands of digits; more than nine are past the cap in any case.
        return now + (LONGEST if len(seconds[1]) > _DIGITS else timedelta(seconds=int(seconds[1])))
    if value[:1] in "+-.0123456789":
        return None
    try:
        date = parsedate_to_datetime(value)
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
