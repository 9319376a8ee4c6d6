"""The pieces of a lane's work, one after the other."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

from ..domain.notification import Intent
from ..engine.claiming import Held
from ..errors import DuebookError
from ..ports import Finished
from .recording import Crash


class SerialTasks:
    """Implements ports.Tasks. Pieces run in the order in which they were started, each to its end, so a run is the same
    every time, and a handler has the test's connection to itself. Nobody asks these tasks to stop.

    `lost`: what the pieces that ended in a Crash were about. `bounded`: there is an event loop, and what overruns its
    time is cancelled.
    """

    stopping = False

    def __init__(self, *, bounded: bool) -> None:
        self.lost: list[Any] = []
        self._bounded = bounded
        self._queue: deque[tuple[Any, Coroutine[Any, Any, Any], float]] = deque()

    def start(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        self._queue.append((ticket, work, seconds))

    async def wait(self, seconds: float) -> list[Finished]:
        ended = []
        while self._queue:
            ticket, work, limit = self._queue.popleft()
            try:
                ended.append(await self._carry(ticket, work, limit))
            except Crash:
                self.lost.append(ticket)
        return ended

    def abandon(self) -> None:
        """Drop what has not begun."""
        while self._queue:
            self._queue.popleft()[1].close()

    async def _carry(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> Finished:
        try:
            if not self._bounded:
                return Finished(ticket, await work, None)
            async with asyncio.timeout(seconds):
                return Finished(ticket, await work, None)
        except Exception as error:
            if isinstance(error, DuebookError) and not isinstance(ticket, (Held, Intent)):
                # A worker would wait for its database. A test wants to know.
                raise
            return Finished(ticket, None, error)
