"""The clock of a running program: the only place that asks the machine for the time."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta


class SystemClock:
    """Implements ports.Clock. `correct` moves it onto the database's time, so that skewed hosts agree."""

    def __init__(self) -> None:
        self.offset = timedelta(0)

    def now(self) -> datetime:
        return datetime.now(UTC) + self.offset

    def monotonic(self) -> float:
        return time.monotonic()

    async def correct(self, read: Callable[[], Awaitable[datetime]]) -> timedelta:
        """Ask the database for its time and adopt it; answers how far this host was off.

        The answer is taken to be from half-way between question and reply (RFC 5905's simplest case).
        """
        asked = datetime.now(UTC)
        there = await read()
        self.offset = there - (asked + (datetime.now(UTC) - asked) / 2)
        return self.offset
