"""Time that moves only when a test says so."""

from datetime import UTC, datetime, timedelta

START = datetime(2030, 1, 7, 12, tzinfo=UTC)


class Clock:
    """Implements ports.Clock."""

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = timedelta(0)

    def now(self) -> datetime:
        return self._start + self._elapsed

    def monotonic(self) -> float:
        return 1_000.0 + self._elapsed.total_seconds()

    def advance(self, seconds: float) -> datetime:
        assert seconds >= 0
        self._elapsed += timedelta(seconds=seconds)
        return self.now()

    def at(self, seconds: float) -> datetime:
        """The instant that many seconds from now."""
        return self.now() + timedelta(seconds=seconds)
