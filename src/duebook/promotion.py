"""Promotion beside the caller: what was just scheduled and is due soon is told to the broker after the commit.

Nobody waits for it and nothing depends on it. What it cannot tell, or has not told when the process ends, the promoters
of the workers find.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from .errors import Busy, StoreUnavailable
from .portal import Portal

log = logging.getLogger("duebook.promoter")

GAP_SECONDS = 0.02
"""The least time between two steps, so that what is scheduled in a hurry is told together."""
TRIES = 3
RETRY_SECONDS = 0.5
"""How often a database that is busy or away is tried in a row, and after how long."""
REST_SECONDS = 5.0
"""How long a broker that failed is left alone."""
FINISH_SECONDS = 2.0


class Promotion:
    """Takes a promoter's steps when asked to, in one event loop: the worker's, or whichever asked first. `portal`: for
    programs that have no loop."""

    def __init__(self, step: Callable[[], Awaitable[bool]], portal: Portal) -> None:
        self._step = step
        self._portal = portal
        self._home: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._wanted = False
        self._rests_until = 0.0

    def settle(self) -> None:
        """From now on take the steps in the event loop that is running here."""
        self._move_to(asyncio.get_running_loop())

    def soon(self) -> None:
        """Ask for a step. From any thread, with or without an event loop; returns at once."""
        here = _running_loop()
        if self._home is None or self._home.is_closed():
            self._move_to(here or self._portal.loop())
        assert self._home is not None
        if here is self._home:
            self._go()
        else:
            self._home.call_soon_threadsafe(self._go)

    async def finish(self) -> None:
        """Let what has been asked for end, for a moment at most."""
        if self._task is not None and asyncio.get_running_loop() is self._home:
            await asyncio.wait({self._task}, timeout=FINISH_SECONDS)
            self._task.cancel()

    def _move_to(self, home: asyncio.AbstractEventLoop) -> None:
        """A step that another loop has begun is that one's own."""
        if home is not self._home:
            self._home, self._task, self._rests_until = home, None, 0.0

    def _go(self) -> None:
        self._wanted = True
        loop = asyncio.get_running_loop()
        if (self._task is None or self._task.done()) and loop.time() >= self._rests_until:
            self._task = loop.create_task(self._promote())

    async def _promote(self) -> None:
        tries_left = TRIES
        while self._wanted:
            self._wanted = False
            try:
                self._wanted = await self._step() or self._wanted
            except (Busy, StoreUnavailable) as error:
                tries_left -= 1
                self._wanted = tries_left > 0
                log.info("the broker is not told yet of what was just scheduled: %s", error)
            except Exception as error:  # noqa: BLE001 - a hint that fails, for whatever reason, is only a hint less
                log.info("the broker was not told of what was just scheduled; the workers will: %s", error)
                self._rests_until = asyncio.get_running_loop().time() + REST_SECONDS
                return
            await asyncio.sleep(GAP_SECONDS if tries_left == TRIES else RETRY_SECONDS)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
