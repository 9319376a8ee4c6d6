"""A worker process on asyncio: runs the agents, keeps them going when the database is lost, and stops gracefully."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from .engine.agent import Agent
from .engine.lane import Lane
from .engine.lookout import Lookout
from .keeping import Keeper, backoff
from .ports import Finished, Overran

log = logging.getLogger("duebook.worker")

RESTART_SECONDS = 1.0
CANCEL_SECONDS = 2.0
"""How long a cancelled task may tidy up before it is cancelled again."""


@dataclass(slots=True, eq=False)
class _Piece:
    """A piece of work: where it stands, and the task that carries it once it has begun."""

    ticket: Any
    work: Coroutine[Any, Any, Any]
    task: asyncio.Task[None] | None = None
    ended: bool = False


class AsyncTasks:
    """Implements ports.Tasks with asyncio.

    Pieces are carried by tasks, but not one each: a task that has finished a piece goes on with the next, and another
    stands by in case this one has to wait. Work that never waits costs no task, work that waits costs one, as usual.
    A task whose context a piece has changed is not used again, so that nothing leaks from one piece to the next.
    """

    def __init__(self) -> None:
        self.stopping = False
        self._ended: list[Finished] = []
        self._event = asyncio.Event()
        self._queue: deque[_Piece] = deque()
        self._carriers: set[asyncio.Task[None]] = set()
        self._standing_by = False
        # Few lengths of time, many pieces: of each length the oldest piece is the first to be over.
        self._deadlines: dict[float, deque[tuple[float, _Piece]]] = {}

    def start(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        piece = _Piece(ticket, work)
        self._queue.append(piece)
        deadline = asyncio.get_running_loop().time() + seconds
        try:
            self._deadlines[seconds].append((deadline, piece))
        except KeyError:
            self._deadlines[seconds] = deque([(deadline, piece)])
        self._stand_by()

    async def wait(self, seconds: float) -> list[Finished]:
        left = self._overrun()
        if not self._ended and not self._event.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, min(seconds, left))):
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
        for piece in self._queue:
            piece.work.close()
        self._queue.clear()
        await _end(self._carriers)

    def _stand_by(self) -> None:
        if not self._standing_by:
            self._standing_by = True
            task = asyncio.get_running_loop().create_task(self._carry())
            self._carriers.add(task)
            task.add_done_callback(self._carriers.discard)

    async def _carry(self) -> None:
        self._standing_by = False
        mine = asyncio.current_task()
        clean = copy_context()
        while self._queue:
            piece = self._queue.popleft()
            if self._queue:
                self._stand_by()
            if piece.ended:
                piece.work.close()
                continue
            piece.task = mine
            try:
                self._end(piece, await piece.work, None)
            except asyncio.CancelledError as error:
                self._end(piece, None, error)
                raise
            except Exception as error:  # noqa: BLE001 - whatever a piece raises is its result
                self._end(piece, None, error)
            if copy_context() != clean:
                break
        if self._queue:
            self._stand_by()

    def _end(self, piece: _Piece, result: Any, error: BaseException | None) -> None:
        # What overran was given up on; its late result must not be mistaken for news.
        if not piece.ended:
            piece.ended = True
            self._ended.append(Finished(piece.ticket, result, error))
            self._event.set()

    def _overrun(self) -> float:
        """Give up on what is past its deadline; answers the seconds until the next one."""
        now = asyncio.get_running_loop().time()
        left = 3_600.0
        for waiting in self._deadlines.values():
            while waiting:
                deadline, piece = waiting[0]
                if not piece.ended and deadline > now:
                    left = min(left, deadline - now)
                    break
                waiting.popleft()
                if not piece.ended:
                    self._end(piece, None, Overran())
                    if piece.task is not None:
                        piece.task.cancel()
        return left


class Worker:
    """The agents of one process, supervised. `start` returns once they run; `stop` once they have finished.

    `prepare`: what comes before the agents start. `listen`: hears wake-ups from other processes, until it fails.
    `leave`: what comes after the agents have ended.
    """

    def __init__(
        self,
        lanes: Sequence[tuple[Lane, AsyncTasks]],
        lookout: Lookout,
        agents: Sequence[Agent],
        prepare: Callable[[], Coroutine[Any, Any, None]],
        listen: Callable[[], Coroutine[Any, Any, None]] | None,
        leave: Callable[[], Coroutine[Any, Any, None]],
        stop_seconds: float,
    ) -> None:
        self.lanes = lanes
        self.lookout = lookout
        self.agents = agents
        self._keepers: dict[str, Keeper] = {}
        self._prepare = prepare
        self._listen = listen
        self._leave = leave
        self._stop_seconds = stop_seconds
        self._stopped = asyncio.Event()
        self._serving: list[asyncio.Task[None]] = []
        self._housekeeping: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Check the settings and the schema, then start every agent."""
        await self._prepare()
        await self.lookout.step()
        start = asyncio.create_task
        self._keepers = {agent.name: Keeper(agent, self.lookout.wanted) for agent in (self.lookout, *self.agents)}
        self._serving = [start(self._serve(lane, tasks)) for lane, tasks in self.lanes]
        self._housekeeping = [start(keeper.run()) for keeper in self._keepers.values()]
        if self._listen is not None:
            self._housekeeping.append(start(self._hear(self._listen)))

    def rouse(self, agent: str) -> None:
        """Have an agent take its next step now."""
        if keeper := self._keepers.get(agent):
            keeper.rouse()

    async def run_until_stopped(self) -> None:
        """Wait until somebody calls `stop`."""
        await self._stopped.wait()

    async def stop(self) -> None:
        """Hand back what has not begun, settle what is on the wire, and end every agent."""
        self._stopped.set()
        for _, tasks in self.lanes:
            tasks.stop()
        await _end(self._housekeeping)
        if self._serving:
            _, late = await asyncio.wait(self._serving, timeout=self._stop_seconds)
            await _end(late)
        for _, tasks in self.lanes:
            await tasks.abandon()
        await self._leave()

    async def _serve(self, lane: Lane, tasks: AsyncTasks) -> None:
        while True:
            try:
                return await lane.run()
            except Exception:
                log.exception("lane %s failed and starts again", lane.policy.name)
                await asyncio.sleep(RESTART_SECONDS)
                if tasks.stopping:
                    return None

    async def _hear(self, listen: Callable[[], Coroutine[Any, Any, None]]) -> None:
        failures = 0
        while True:
            try:
                await listen()
                failures = 0
            except Exception as error:  # noqa: BLE001 - a hint that fails, for whatever reason, is only a hint less
                log.info("wake-ups are not heard, polling goes on: %s", error)
                failures += 1
            await asyncio.sleep(backoff(failures))


async def _end(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks until they have ended. Once may not be enough: before Python 3.12 `wait_for`, which client libraries
    use, can swallow it (bpo-42130)."""
    left = set(tasks)
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=CANCEL_SECONDS)
