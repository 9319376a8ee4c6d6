"""PgQueuer draining jobs that do nothing.

Its own published benchmark is five queue managers in one process, each with an asyncpg connection of its own and
batches of ten, in drain mode, on uvloop. That setup is tried, and others with fewer managers and larger batches, on
uvloop and on asyncio; the fastest of them is then measured as well, since its guide says to raise the batch for short
jobs. Jobs are enqueued with its own batch call, tables are logged (its default). Timed from before the managers start
until the last job is recorded as done, so its shutdown costs it nothing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import asyncpg
import uvloop
from pgqueuer import PgQueuer
from pgqueuer.models import Job
from pgqueuer.queries import Queries
from pgqueuer.types import QueueExecutionMode

from tests.postgres import fresh_database

from ..subject import PATIENCE_SECONDS, settle_down

ENTRYPOINT = "nothing"


@dataclass(frozen=True, slots=True)
class Setup:
    managers: int
    batch: int
    uvloop: bool

    def __str__(self) -> str:
        return f"{self.managers} managers, batches of {self.batch}, on {'uvloop' if self.uvloop else 'asyncio'}"

    @property
    def loop(self) -> Callable[[], asyncio.AbstractEventLoop]:
        return uvloop.new_event_loop if self.uvloop else asyncio.new_event_loop


ITS_OWN = Setup(5, 10, True)
SETUPS = (
    ITS_OWN,
    Setup(1, 100, True),
    Setup(2, 100, True),
    Setup(1, 500, True),
    Setup(2, 500, True),
    Setup(2, 500, False),
)


def drain_pgqueuer(server: str, count: int, setup: Setup) -> float:
    """Return how many jobs a second went through."""
    logging.getLogger("pgqueuer").setLevel(logging.ERROR)
    with fresh_database(server) as url, asyncio.Runner(loop_factory=setup.loop) as runner:
        return count / runner.run(_drain(url, count, setup))


async def _drain(url: str, count: int, setup: Setup) -> float:
    connections = [await asyncpg.connect(url) for _ in range(setup.managers)]
    managers = [PgQueuer.from_asyncpg_connection(connection) for connection in connections]
    queries = Queries(managers[0].connection)
    await queries.install()
    await queries.enqueue([ENTRYPOINT] * count, [b'{"n": 1}'] * count, [0] * count)
    await connections[0].execute("analyze")
    left, ended = count, 0.0

    async def nothing(job: Job) -> None:
        nonlocal left
        left -= 1

    def noting(log_jobs: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        async def noted(done: Any) -> None:
            nonlocal ended
            await log_jobs(done)
            ended = time.perf_counter()

        return noted

    for manager in managers:
        manager.entrypoint(ENTRYPOINT)(nothing)
        manager.qm.queries.log_jobs = noting(manager.qm.queries.log_jobs)  # type: ignore[method-assign, assignment]
    settle_down(url)
    started = time.perf_counter()
    async with asyncio.timeout(PATIENCE_SECONDS):
        await asyncio.gather(
            *(manager.run(batch_size=setup.batch, mode=QueueExecutionMode.drain) for manager in managers)
        )
    for connection in connections:
        await connection.close()
    if left:
        raise RuntimeError(f"PgQueuer left {left:,} of {count:,} jobs")
    return ended - started
