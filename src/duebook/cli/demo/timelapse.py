"""The calendar of a book, moved forward by hand.

Between two jumps time flows as it always does, so leases, time limits and retries mean what they say. Only
the clock is touched: the engine, the store and the wire are those of every day.
"""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from ...app.book import Duebook
from ...clock import SystemClock
from ...ports import Plan, R
from ...stores.sqlite.database import SqliteDatabase


class Timelapse:
    """Puts a book on a calendar of its own. Make it before the book is used."""

    def __init__(self, book: Duebook, start: datetime) -> None:
        self._book = book
        self._clock = book.wired.clock
        database = book.wired.database
        assert isinstance(database, SqliteDatabase)
        self._database = book.wired.database = _Database(database.path, self._clock)
        self._clock.offset += start - self._clock.now()

    def now(self) -> datetime:
        return self._clock.now()

    def jump(self, to: datetime) -> None:
        """Move on to an instant, never back, and let idle lanes look whether something has become due."""
        self._clock.offset += max(timedelta(0), to - self._clock.now())
        for channel in self._book.registry.channels:
            self._book.wired.wake(channel)

    async def quiet(self) -> None:
        """Wait until nothing is due, nothing is in a worker's hands, and no period of a digest is to be closed."""
        while True:
            self._database.written.clear()
            backlog = await self._book.backlog()
            if not backlog.due and not backlog.in_flight and not await self._book.digests.due(self.now(), limit=1):
                return
            await self._database.written.wait()


class _Database(SqliteDatabase):
    """An SQLite file whose own time is the calendar's. SQLite has no server, so its time is that of this host."""

    def __init__(self, path: str, clock: SystemClock) -> None:
        super().__init__(path)
        self._clock = clock
        self.written = asyncio.Event()

    async def run(self, plan: Plan[R]) -> R:
        try:
            return await super().run(plan)
        finally:
            self.written.set()

    async def time(self) -> datetime:
        return self._clock.now()
