"""Keeping an agent going: step after step, whatever fails underneath."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from .engine.agent import Agent
from .errors import Busy, QueueUnavailable, StoreUnavailable

log = logging.getLogger("duebook.worker")

BACKOFF_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0)


class Keeper:
    """Has one agent take its steps: at its own pace, at once when roused, and ever more slowly while what it needs is
    away. `wanted`: asked before each step whether there may be anything to do."""

    def __init__(self, agent: Agent, wanted: Callable[[str], bool]) -> None:
        self.agent = agent
        self._wanted = wanted
        self._alarm = asyncio.Event()

    def rouse(self) -> None:
        self._alarm.set()

    async def run(self) -> None:
        agent, failures = self.agent, 0
        while True:
            self._alarm.clear()
            try:
                more = self._wanted(agent.name) and await agent.step()
            except (StoreUnavailable, Busy, QueueUnavailable) as error:
                log.warning("%s waits: %s", agent.name, error)
            except Exception:
                log.exception("%s failed and goes on", agent.name)
            else:
                failures = 0
                await self._pause(0.0 if more else agent.pace_seconds)
                continue
            await asyncio.sleep(backoff(failures))
            failures += 1

    async def _pause(self, seconds: float) -> None:
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._alarm.wait()


def backoff(failures: int) -> float:
    return BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
