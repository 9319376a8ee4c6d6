"""When a provider wants the next call, by Retry-After or by a header of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from ..retry_after import retry_after
from .answer import Answer


def wanted_at(answer: Answer, now: datetime, *, seconds: str = "", epoch: str = "") -> datetime | None:
    """Return the instant before which the provider wants no other call, or None if it named no sensible one.

    Retry-After goes first. `seconds`: a header with a count of seconds from now. `epoch`: one with the seconds of an
    instant since 1970.
    """
    if wanted := retry_after(answer.headers.get("retry-after"), now):
        return wanted
    if seconds:
        return retry_after(answer.headers.get(seconds), now)
    return retry_after(_seconds_until(answer.headers.get(epoch, ""), now), now)


def _seconds_until(instant: str, now: datetime) -> str | None:
    """Turn an epoch into the form that `retry_after` reads, with all the bounds it has."""
    try:
        left = datetime.fromtimestamp(int(instant), UTC) - now
    except (ValueError, OverflowError, OSError):
        return None
    return str(-(-left // timedelta(seconds=1)))
