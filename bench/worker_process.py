"""A worker in a process of its own, for what can only be seen from outside: `python -m bench.worker_process URL DUE`.

It drains `DUE` notifications, says so, and idles until its input is closed; then it tells as JSON how much memory it
took at most and how many statements it put to SQLite. Each line it is sent meanwhile is answered with its CPU seconds
and statements so far.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any, TypeVar

from duebook import Accepted, Message, Outcome, SendContext
from duebook.ports import Plan, Rows, Statement
from duebook.stores.sqlite.database import SqliteDatabase

from .subject import make_book, sqlite_path

R = TypeVar("R")


class CountingSqlite(SqliteDatabase):
    """Counts statements. PostgreSQL counts its own."""

    statements = 0

    async def run(self, plan: Plan[R]) -> R:
        return await super().run(self._counted(plan))

    async def ask(self, plan: Plan[R]) -> R:
        return await super().ask(self._counted(plan))

    def _counted(self, plan: Plan[R]) -> Generator[Statement, Rows, R]:
        try:
            statement = next(plan)
            while True:
                self.statements += 1
                statement = plan.send((yield statement))
        except StopIteration as end:
            result: R = end.value
            return result


async def main(url: str, due: int, concurrency: int) -> None:
    left, done = due, asyncio.Event()

    async def send(message: Message, context: SendContext) -> Outcome:
        nonlocal left
        left -= 1
        if left <= 0:
            done.set()
        return Accepted()

    book = make_book(url, send, concurrency)
    if url.startswith("sqlite"):
        book.wired.database = CountingSqlite(sqlite_path(url))
    async with book.worker():
        if due:
            await done.wait()
        _tell(book.wired.database)
        while await asyncio.to_thread(sys.stdin.readline):
            _tell(book.wired.database)
    await book.close()


def _tell(database: Any) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    told = {
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "statements": getattr(database, "statements", 0),
        "most_mb": most_memory(),
    }
    print(json.dumps(told), flush=True)


def most_memory() -> float:
    """Return the most memory this program has had resident, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Not ru_maxrss: after a fork it also remembers how large the parent was.
        for line in status.read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 * 1024)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
