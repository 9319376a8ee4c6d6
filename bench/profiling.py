"""Says where the time goes: cProfile on the threads of one run, and what each statement took.

    python -m bench --profile drain-sqlite

The event loop's thread is profiled, and for SQLite the thread that owns the file. Under a profiler everything takes
longer, small functions most, so read shares and counts, not seconds. The statements are timed in a second run, without
the profiler, from when each is handed to the database until its rows are back.
"""

from __future__ import annotations

import asyncio
import cProfile
import io
import pstats
import sys
import threading
import time
from collections.abc import Callable, Generator
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from duebook import Duebook, New
from duebook.ports import Plan, Rows, Statement

from .filling import fill_due
from .run import Run
from .subject import KIND, Dialect, Send, database, drain, make_book

TOP = 25
CONCURRENCY = 400
R = TypeVar("R")

Work = Callable[[Callable[[Send | None], Duebook], int], Any]


async def _drain(book_for: Callable[[Send | None], Duebook], count: int) -> None:
    await drain(book_for, count)


async def _schedule(book_for: Callable[[Send | None], Duebook], count: int) -> None:
    book = book_for(None)
    at = datetime.now(UTC) + timedelta(days=1)
    for n in range(count):
        await book.schedule(KIND, f"one-{n}", recipient=f"person-{n}", at=at, data={"n": n})
    await book.close()


async def _bulk(book_for: Callable[[Send | None], Duebook], count: int) -> None:
    book = book_for(None)
    at = datetime.now(UTC) + timedelta(days=1)
    await book.schedule_many(
        [New(kind=KIND, key=f"bulk-{n}", recipient=f"person-{n}", at=at, data={"n": n}) for n in range(count)]
    )
    await book.close()


JOBS: dict[str, tuple[Dialect, Work, Callable[[Run], int]]] = {
    f"{job}-{dialect.lower()}": (dialect, work, count)
    for dialect in ("SQLite", "PostgreSQL")
    for job, work, count in (
        ("drain", _drain, lambda run: run.scale.due // 5),
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
        told += _profiled(lambda: asyncio.run(work(lambda send: _book(url, send), count)), count)
    with database(dialect, run.server) as url:
        fill_due(url, count)
        run.say("with its statements timed")
        clock = StatementClock()
        started = time.perf_counter()
        asyncio.run(work(lambda send: clock.watch(_book(url, send)), count))
        told.append(clock.told(count, time.perf_counter() - started))
    return "\n\n".join(told)


def _book(url: str, send: Send | None) -> Duebook:
    return make_book(url, send, CONCURRENCY) if send else make_book(url)


def _profiled(work: Callable[[], object], count: int) -> list[str]:
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
        main.runcall(work)
    finally:
        threading.setprofile(None)
    return [_top(name, each, count) for name, each in [("event loop", main), *found]]


def _top(name: str, profiler: cProfile.Profile, count: int) -> str:
    text = io.StringIO()
    stats = pstats.Stats(profiler, stream=text)
    total = stats.total_tt  # type: ignore[attr-defined]
    if total < 0.01:
        return f"thread {name}: {total:.3f} s"
    lines = [
        f"thread {name}: {total:.2f} s, {1e6 * total / count:.0f} µs for each notification, {TOP} functions by own time"
    ]
    lines.append("  own µs each  share   with callees µs each  calls each")
    rows = sorted(stats.stats.items(), key=lambda item: item[1][2], reverse=True)  # type: ignore[attr-defined]
    for (file, line, function), (_, calls, own, cumulative, _) in rows[:TOP]:
        where = "" if file == "~" else f"{'/'.join(file.split('/')[-2:])}:{line} "
        each = f"{1e6 * own / count:11.2f}  {own / total:5.1%}  {1e6 * cumulative / count:20.2f}  {calls / count:10.2f}"
        lines.append(f"  {each}  {where}{function}")
    return "\n".join(lines)


class StatementClock:
    """Times the statements of a Duebook's database, by verb."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = {}
        self._rows: dict[str, int] = {}

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

    def told(self, count: int, seconds: float) -> str:
        lines = [f"statements: the whole took {seconds:.2f} s, {count / seconds:,.0f} /s, unprofiled"]
        lines.append("   total s  calls  rows each   ms each  µs a notification  verb")
        for verb, times in sorted(self._seconds.items(), key=lambda item: -sum(item[1])):
            total, calls = sum(times), len(times)
            lines.append(
                f"  {total:8.2f}  {calls:5}  {self._rows[verb] / calls:9.1f}  {1000 * total / calls:8.2f}  "
                f"{1e6 * total / count:17.1f}  {verb}"
            )
        return "\n".join(lines)
