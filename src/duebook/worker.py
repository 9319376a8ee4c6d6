"""A worker process on asyncio: runs the agents, keeps them going when the database is lost, and stops gracefully."""

from __future__ import annotations

import asyncio
import heapq
import logging
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from itertools import count
from typing import Any

from .engine.agent import Agent
from .engine.lane import Lane
from .engine.lookout import Lookout
from .errors import Busy, StoreUnavailable
from .ports import Finished

log = logging.getLogger("duebook.worker")

BACKOFF_SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0)


class AsyncTasks:
    """Implements ports.Tasks with asyncio tasks and one heap of deadlines."""

    def __init__(self) -> None:
        self.stopping = False
        self._ended: list[Finished] = []
        self._event = asyncio.Event()
        self._running: dict[asyncio.Task[Any], Any] = {}
        self._deadlines: list[tuple[float, int, asyncio.Task[Any]]] = []
        self._order = count()

    def start(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        loop = asyncio.get_running_loop()
        task = loop.create_task(work)
        self._running[task] = ticket
        heapq.heappush(self._deadlines, (loop.time() + seconds, next(self._order), task))
        task.add_done_callback(self._end)

    async def wait(self, seconds: float) -> list[Finished]:
        left = self._overrun()
        if not self._ended and not self._event.is_set():
            timeout = max(0.0, min(seconds, left))
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._event.wait()
            self._overrun()
        elif seconds <= 0:
            await asyncio.sleep(0)
        self._event.clear()
        ended, self._ended = self._ended, []
        return ended

    def wake(self) -> None:
        self._event.set()

    def stop(self) -> None:
        self.stopping = True
        self.wake()

    async def abandon(self) -> None:
        """Cancel whatever still runs; what it was about stays on record as it is."""
        left = list(self._running)
        self._running.clear()
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _end(self, task: asyncio.Task[Any]) -> None:
        if task not in self._running:
            # It overran and was given up on; its late result must not be mistaken for news.
            if not task.cancelled():
                task.exception()
            return
        ticket = self._running.pop(task)
        if task.cancelled():
            self._ended.append(Finished(ticket, None, asyncio.CancelledError("it was cancelled")))
        else:
            error = task.exception()
            self._ended.append(Finished(ticket, None if error else task.result(), error))
        self._event.set()

    def _overrun(self) -> float:
        """Give up on what is past its deadline; answers the seconds until the next one."""
        now = asyncio.get_running_loop().time()
        while self._deadlines:
            deadline, _, task = self._deadlines[0]
            if not task.done() and deadline > now:
                return deadline - now
            heapq.heappop(self._deadlines)
            if not task.done() and task in self._running:
                self._ended.append(Finished(self._running.pop(task), None, TimeoutError()))
                self._event.set()
                task.cancel()
        return 3600.0


class Worker:
    """The agents of one process, supervised. `start` returns once they run; `stop` once they have finished."""

    def __init__(
        self,
        lanes: Sequence[tuple[Lane, AsyncTasks]],
        lookout: Lookout,
        agents: Sequence[Agent],
        prepare: Callable[[], Coroutine[Any, Any, None]],
        listen: Callable[[], Coroutine[Any, Any, None]] | None,
        stop_seconds: float,
    ) -> None:
        self.lanes = lanes
        self.lookout = lookout
        self.agents = agents
        self._prepare = prepare
        self._listen = listen
        self._stop_seconds = stop_seconds
        self._stopped = asyncio.Event()
        self._serving: list[asyncio.Task[None]] = []
        self._housekeeping: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Check the settings and the schema, then start every agent."""
        await self._prepare()
        start = asyncio.create_task
        self._serving = [start(self._serve(lane, tasks)) for lane, tasks in self.lanes]
        self._housekeeping = [start(self._keep(agent)) for agent in (self.lookout, *self.agents)]
        if self._listen is not None:
            self._housekeeping.append(start(self._hear(self._listen)))

    async def run_until_stopped(self) -> None:
        """Wait until somebody calls `stop`."""
        await self._stopped.wait()

    async def stop(self) -> None:
        """Hand back what has not begun, settle what is on the wire, and end every agent."""
        self._stopped.set()
        for _, tasks in self.lanes:
            tasks.stop()
        for task in self._housekeeping:
            task.cancel()
        await asyncio.gather(*self._housekeeping, return_exceptions=True)
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=self._stop_seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*self._serving, return_exceptions=True)
        for _, tasks in self.lanes:
            await tasks.abandon()

    async def _serve(self, lane: Lane, tasks: AsyncTasks) -> None:
        while True:
            try:
                return await lane.run()
            except Exception:
                log.exception("lane %s failed and starts again", lane.policy.name)
                await asyncio.sleep(BACKOFF_SECONDS[2])
                if tasks.stopping:
                    return None

    async def _keep(self, agent: Agent) -> None:
        failures = 0
        while True:
            try:
                more = self.lookout.wanted(agent.name) and await agent.step()
                pause = 0.0 if more else agent.pace_seconds
                failures = 0
            except (StoreUnavailable, Busy) as error:
                log.warning("%s waits for the database: %s", agent.name, error)
                pause, failures = _backoff(failures), failures + 1
            except Exception:
                log.exception("%s failed and goes on", agent.name)
                pause, failures = _backoff(failures), failures + 1
            await asyncio.sleep(pause)

    async def _hear(self, listen: Callable[[], Coroutine[Any, Any, None]]) -> None:
        failures = 0
        while True:
            try:
                await listen()
                failures = 0
            except Exception as error:  # noqa: BLE001 - a hint that fails, for whatever reason, is only a hint less
                log.info("wake-ups are not heard, polling goes on: %s", error)
                failures += 1
            await asyncio.sleep(_backoff(failures))


def _backoff(failures: int) -> float:
    return BACKOFF_SECONDS[min(failures, len(BACKOFF_SECONDS) - 1)]
