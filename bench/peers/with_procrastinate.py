"""Procrastinate draining tasks that do nothing.

One worker on its psycopg connector, several values of `concurrency` tried with as many pool connections, the fastest
measured. It fetches one job at a time, so it drains fewer jobs than the others and is compared by the second. Finished
jobs stay in its table, which is its default. Timed from before the worker starts until the last task has been called.
"""

from __future__ import annotations

import asyncio
import logging
import time

from procrastinate import App, PsycopgConnector
from procrastinate.types import JSONValue

from tests.postgres import fresh_database

from ..subject import PATIENCE_SECONDS, settle_down

CONCURRENCIES = (5, 20, 50)
CHUNK = 1_000


def drain_procrastinate(server: str, count: int, concurrency: int) -> float:
    """Return how many tasks a second went through."""
    logging.getLogger("procrastinate").setLevel(logging.ERROR)
    with fresh_database(server) as url:
        return count / asyncio.run(_drain(url, count, concurrency))


async def _drain(url: str, count: int, concurrency: int) -> float:
    app = App(connector=PsycopgConnector(conninfo=url, min_size=1, max_size=min(20, concurrency) + 2))
    left, ended = count, 0.0

    @app.task(name="nothing")
    async def nothing(n: int) -> None:
        nonlocal left, ended
        left -= 1
        if not left:
            ended = time.perf_counter()

    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        for start in range(0, count, CHUNK):
            jobs: list[dict[str, JSONValue]] = [{"n": n} for n in range(start, min(count, start + CHUNK))]
            await nothing.batch_defer_async(*jobs)
        settle_down(url)
        started = time.perf_counter()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await app.run_worker_async(
                wait=False, concurrency=concurrency, listen_notify=False, install_signal_handlers=False
            )
    if left:
        raise RuntimeError(f"Procrastinate left {left:,} of {count:,} tasks")
    return ended - started
