"""How long ten thousand schedules that are due at one instant take to become notifications, and how much memory.

All stand before nine o'clock of the last day, as after a night without workers. Another process sees to them, with the
scheduler of a worker and its settings, and tells its seconds and the most memory it had resident:
`python -m bench.schedules URL`.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import psycopg

from duebook import Duebook, NewSchedule

from .figures import Target
from .run import Run
from .subject import DIALECTS, KIND, Dialect, database, make_book, settle_down, sqlite_path
from .worker_process import most_memory

TARGET = Target(5.0, most=True)
MEMORY_TARGET = Target(120, most=True)


def measure(run: Run) -> None:
    count = run.scale.schedules
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            asyncio.run(_lay(url, count))
            settle_down(url)
            command = [sys.executable, "-m", "bench.schedules", url]
            told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
            if told["made"] != count:
                raise RuntimeError(f"{count:,} schedules were due; they made {told['made']:,} notifications")
        run.found(_what(dialect, count), told["seconds"], "s", target=TARGET if dialect == "PostgreSQL" else None)
        run.found(f"{dialect}: most memory meanwhile", told["most_mb"], "MB", target=MEMORY_TARGET)


def _what(dialect: Dialect, count: int) -> str:
    return f"{dialect}: {count:,} schedules due at once become notifications"


async def _lay(url: str, count: int) -> None:
    book = make_book(url)
    recurrence, now = "0 9 * * *", datetime.now(UTC)
    await book.schedules.set_many(
        NewSchedule(
            name=f"s{n:05}", kind=KIND, recipient=f"person-{n}", recurrence=recurrence, zone="UTC", data={"n": n}
        )
        for n in range(count)
    )
    await book.close()
    nine = now.replace(hour=9, minute=0, second=0, microsecond=0)
    nine = nine if nine <= now else nine - timedelta(days=1)
    _put_back(url, f"{nine:%Y-%m-%dT%H:%M:%S}.000000Z")


def _put_back(url: str, at: str) -> None:
    """Have every schedule stand just before an instant."""
    change = f"schedules set cursor_at = '{at}', next_at = '{at}'"
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(sqlite_path(url), isolation_level=None)) as connection:
            connection.execute(f"update duebook_{change}")
    else:
        with psycopg.connect(url, autocommit=True) as postgres:
            postgres.execute(f"update duebook.{change}".encode())


async def _see_to_them(url: str) -> None:
    book: Duebook = make_book(url)
    (scheduler,) = [
        agent for agent in book.wired.worker(None, "bench.invalid", 1.0).agents if agent.name == "scheduler"
    ]
    started = time.perf_counter()
    while await scheduler.step():
        pass
    seconds = time.perf_counter() - started
    made = sum(count for *_, count, _ in await book.wired.database.ask(book.wired.store.count_states()))
    await book.close()
    print(json.dumps({"seconds": seconds, "made": made, "most_mb": most_memory()}))


if __name__ == "__main__":
    asyncio.run(_see_to_them(sys.argv[1]))
