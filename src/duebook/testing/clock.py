"""A clock that stands still until it is moved."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2027, 1, 4, 9, tzinfo=UTC)


class SimClock:
    """Implements ports.Clock. `advance` lets time pass; `jump` sets the wall clock alone, as a person might."""

    def __init__(self, start: datetime = START) -> None:
        if start.tzinfo is None:
            raise ValueError("start has no time zone; use an aware datetime")
        self._start = start.astimezone(UTC)
        self._elapsed = timedelta(0)

    def now(self) -> datetime:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return self._elapsed.total_seconds()

    def advance(self, span: timedelta) -> datetime:
        """Let time pass; answers the new present."""
        if span < timedelta(0):
            raise ValueError(f"time does not pass backwards: {span}")
        self._elapsed += span
        return self.now()

    def jump(self, to: datetime) -> datetime:
        """Set the wall clock, in either direction; seconds go on as if nothing had happened."""
        self._start = to.astimezone(UTC) - self._elapsed
        return self.now()
