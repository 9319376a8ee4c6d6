"""Says where the time goes: cProfile on the threads of one run, and what each statement took.

    python -m bench --profile drain-sqlite

The event loop's thread is profiled, and for SQLite the thread that owns the file. Under a profiler everything takes
longer, small functions most, so read shares and counts, not seconds. The statements are timed in a second run, without
the profiler, from when each is handed to the database until its rows are back.
"""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Generator
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, TypeVar

from duebook import Duebook, New
from duebook.ports import Plan, Rows, Statement

from .audit import audit
from .filling import fill_due
from .run import Run
from .subject import KIND, Dialect, Send, database, drain, make_book, nothing

TOP = 25
WAITS = {"<method 'poll' of 'select.epoll' objects>", "<method 'get' of '_queue.SimpleQueue' objects>"}
CONCURRENCY = 400
R = TypeVar("R")

BookFor = Callable[[Send], Duebook]
Work = Callable[[BookFor, int, AbstractContextManager[object]], Coroutine[Any, Any, object]]


async def _schedule(book_for: BookFor, count: int, watched: AbstractContextManager[object]) -> None:
    book = book_for(nothing)
    at = datetime.now(UTC) + timedelta(days=1)
    await book.schedule(KIND, "first", recipient="you", at=at)
    with watched:
        for n in range(count):
            await book.schedule(KIND, f"one-{n}", recipient=f"person-{n}", at=at, data={"n": n})
    await book.close()


async def _bulk(book_for: BookFor, count: int, watched: AbstractContextManager[object]) -> None:
    book = book_for(nothing)
    at = datetime.now(UTC) + timedelta(days=1)
    await book.schedule(KIND, "first", recipient="you", at=at)
    news = [New(kind=KIND, key=f"bulk-{n}", recipient=f"person-{n}", at=at, data={"n": n}) for n in range(count)]
    with watched:
        await book.schedule_many(news)
    await book.close()


JOBS: dict[str, tuple[Dialect, Work, Callable[[Run], int]]] = {
    f"{job}-{dialect.lower()}": (dialect, work, count)
    for dialect in ("SQLite", "PostgreSQL")
    for job, work, count in (
        ("drain", drain, lambda run: run.scale.due // 2),
        ("schedule", _schedule, lambda run: 3 * run.scale.singles["PostgreSQL"]),
        ("bulk", _bulk, lambda run: run.scale.bulk // 2),
    )
}  # fmt: skip


def profile(run: Run, job: str) -> str:
    """Run a job under the profiler and again with its statements timed; answers both as text."""
    dialect, work, how_many = JOBS[job]
    count = how_many(run)
    run.measurement = job
    told = [f"{job}: {count:,} notifications"]
    with database(dialect, run.server) as url:
        fill_due(url, count)
        run.say("under the profiler")
        told += _profiled(lambda main: asyncio.run(work(partial(_book, url), count, main)), count)
        audit(run, url)
    with database(dialect, run.server) as url:
        fill_due(url, count)
        run.say("with its statements timed")
        clock = StatementClock()
        asyncio.run(work(lambda send: clock.watch(_book(url, send)), count, clock))
        told.append(clock.told(count))
        audit(run, url)
    return "\n\n".join(told)


def _book(url: str, send: Send) -> Duebook:
    return make_book(url, send, CONCURRENCY)


def _profiled(work: Callable[[cProfile.Profile], object], count: int) -> list[str]:
    found: list[tuple[str, cProfile.Profile]] = []

    def start(frame: Any, event: str, arg: Any) -> None:
        """Called at the first event of a new thread; from then on the thread has a profiler of its own."""
        sys.setprofile(None)
        mine = cProfile.Profile()
        found.append((threading.current_thread().name, mine))
        mine.enable()

    # From Python 3.12 on only one profiler may be active; then the other threads go without.
    if sys.version_info < (3, 12):
        threading.setprofile(start)
    main = cProfile.Profile()
    try:
        work(main)
    finally:
        threading.setprofile(None)
    return [_top(name, each, count) for name, each in [("event loop", main), *found]]


def _top(name: str, profiler: cProfile.Profile, count: int) -> str:
    stats: dict[Any, Any] = pstats.Stats(profiler).stats  # type: ignore[attr-defined]
    busy = {where: each for where, each in stats.items() if where[2] not in WAITS}
    total = sum(each[2] for each in busy.values())
    waited = sum(each[2] for each in stats.values()) - total
    lines = [
        f"thread {name}: for each notification {1e6 * total / count:.1f} µs busy, {1e6 * waited / count:.1f} waiting; "
        f"{TOP} functions by own time",
        "  own µs each  share   with callees µs each  calls each",
    ]
    rows = sorted(busy.items(), key=lambda item: item[1][2], reverse=True)
    for (file, line, function), (_, calls, own, cumulative, _) in rows[:TOP]:
        where = "" if file == "~" else f"{'/'.join(file.split('/')[-2:])}:{line} "
        each = f"{1e6 * own / count:11.2f}  {own / total:5.1%}  {1e6 * cumulative / count:20.2f}  {calls / count:10.2f}"
        lines.append(f"  {each}  {where}{function}")
    return "\n".join(lines)


class StatementClock:
    """Times the statements of a Duebook's database, by verb."""

    def __init__(self) -> None:
        self._started = self._ended = 0.0
        self._seconds: dict[str, list[float]] = {}
        self._rows: dict[str, int] = {}

    def __enter__(self) -> None:
        self._started = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._ended = time.perf_counter()

    def watch(self, book: Duebook) -> Duebook:
        inner: Any = book.wired.database
        run, ask = inner.run, inner.ask
        inner.run = lambda plan: run(self._timed(plan))
        inner.ask = lambda plan: ask(self._timed(plan))
        return book

    def _timed(self, plan: Plan[R]) -> Generator[Statement, Rows, R]:
        try:
            statement = next(plan)
            while True:
                started = time.perf_counter()
                rows = yield statement
                self._seconds.setdefault(statement.verb, []).append(time.perf_counter() - started)
                self._rows[statement.verb] = self._rows.get(statement.verb, 0) + len(rows)
                statement = plan.send(rows)
        except StopIteration as end:
            result: R = end.value
            return result

    def told(self, count: int) -> str:
        seconds = self._ended - self._started
        lines = [f"statements: the whole took {seconds:.2f} s, {count / seconds:,.0f} /s, unprofiled"]
        lines.append("   total s  calls  rows each   ms each  µs a notification  verb")
        for verb, times in sorted(self._seconds.items(), key=lambda item: -sum(item[1])):
            total, calls = sum(times), len(times)
            lines.append(
                f"  {total:8.2f}  {calls:5}  {self._rows[verb] / calls:9.1f}  {1000 * total / calls:8.2f}  "
                f"{1e6 * total / count:17.1f}  {verb}"
            )
        return "\n".join(lines)
