"""Scheduling: one by one against a raw insert, and in bulk.

One by one: `await book.schedule(…)` in a loop, a day ahead, against the same values inserted into one plain table with
a primary key, each in its own commit: by a prepared statement on one asyncpg connection, or by sqlite3 with duebook's
pragmas in the one thread that owns the connection. duebook writes two tables, their indexes and checks, and answers
whether the identity was new. Both take turns, and the median of the turns counts.

In bulk: `schedule_many` of ready-made `New` values, one transaction, against the same values by `executemany` into the
plain table, one transaction as well.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg

from duebook import New

from .audit import audit
from .figures import Target
from .raw import open_as_duebook
from .run import Run
from .subject import CHANNEL, DIALECTS, KIND, Dialect, database, make_book, settle_down, sqlite_path

SINGLE = {"PostgreSQL": Target(0.6), "SQLite": None}
BULK = Target(40_000)

COLUMNS = (
    "kind", "key", "recipient", "namespace", "channel", "priority", "data", "due_at", "state", "event", "version",
    "wake_at", "age_from", "created_at", "moved_at",
)  # fmt: skip
INTEGERS = {"priority", "version"}


def measure(run: Run) -> None:
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            ours, raw = asyncio.run(_one_by_one(dialect, url, run.scale.singles[dialect], run.scale.rounds))
            audit(run, url)
        run.found(f"{dialect}: schedule, one by one", ours, "/s")
        run.found(f"{dialect}: raw insert, one by one", raw, "/s")
        ratios = [mine / plain for mine, plain in zip(ours, raw, strict=True)]
        run.found(f"{dialect}: schedule against raw insert", ratios, "times", target=SINGLE[dialect])
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            ours, raw = asyncio.run(_in_bulk(dialect, url, run.scale.bulk, run.scale.bulk_runs))
            audit(run, url)
        run.found(f"{dialect}: schedule_many, {run.scale.bulk:,} at once", ours, "/s", target=BULK)
        run.found(f"{dialect}: raw executemany of as many", raw, "/s")


async def _one_by_one(dialect: Dialect, url: str, count: int, rounds: int) -> tuple[list[float], list[float]]:
    book = make_book(url)
    raw = await _raw(dialect, url)
    ours_rates, raw_rates = [], []
    settle_down(url)
    for turn in range(rounds + 1):
        at = datetime.now(UTC) + timedelta(days=1)
        started = time.perf_counter()
        for n in range(count):
            await book.schedule(KIND, f"one-{turn}-{n}", recipient=f"person-{n}", at=at, data={"n": n})
        between = time.perf_counter()
        for n in range(count):
            await raw.insert(_row(f"one-{turn}-{n}", n, datetime.now(UTC)))
        ended = time.perf_counter()
        # The first turn warms up: connections, prepared statements, pages.
        if turn:
            ours_rates.append(count / (between - started))
            raw_rates.append(count / (ended - between))
    await raw.close()
    await book.close()
    return ours_rates, raw_rates


async def _in_bulk(dialect: Dialect, url: str, count: int, runs: int) -> tuple[list[float], list[float]]:
    book = make_book(url)
    raw = await _raw(dialect, url)
    ours_rates, raw_rates = [], []
    for turn in range(runs):
        at = datetime.now(UTC) + timedelta(days=1)
        news = [
            New(kind=KIND, key=f"bulk-{turn}-{n}", recipient=f"person-{n % 50_000}", at=at, data={"n": n})
            for n in range(count)
        ]
        rows = [_row(f"bulk-{turn}-{n}", n, at) for n in range(count)]
        settle_down(url)
        started = time.perf_counter()
        answers = await book.schedule_many(news)
        ours_rates.append(count / (time.perf_counter() - started))
        assert all(answer.created for answer in answers)
        settle_down(url)
        started = time.perf_counter()
        await raw.insert_many(rows)
        raw_rates.append(count / (time.perf_counter() - started))
    await raw.close()
    await book.close()
    return ours_rates, raw_rates


def _row(key: str, n: int, now: datetime) -> tuple[Any, ...]:
    at = now + timedelta(days=1)
    return (
        KIND, key, f"person-{n % 50_000}", "default", CHANNEL, 1, f'{{"n":{n}}}', at, "scheduled", "schedule", 1,
        at, at, now, now,
    )  # fmt: skip


async def _raw(dialect: Dialect, url: str) -> RawPostgres | RawSqlite:
    return await RawPostgres.open(url) if dialect == "PostgreSQL" else await RawSqlite.open(url)


class RawPostgres:
    """One plain table behind one asyncpg connection."""

    def __init__(self, connection: asyncpg.Connection) -> None:
        self._connection = connection
        values = ", ".join(f"${position}" for position in range(1, len(COLUMNS) + 1))
        self._insert = f"insert into plain ({', '.join(COLUMNS)}) values ({values})"

    @classmethod
    async def open(cls, url: str) -> RawPostgres:
        connection = await asyncpg.connect(url)
        types = ", ".join(f"{name} {_postgres_type(name)} not null" for name in COLUMNS)
        await connection.execute(f"create table plain (id bigint generated always as identity primary key, {types})")
        return cls(connection)

    async def insert(self, row: Sequence[Any]) -> None:
        await self._connection.execute(self._insert, *row)

    async def insert_many(self, rows: Sequence[Sequence[Any]]) -> None:
        await self._connection.executemany(self._insert, rows)

    async def close(self) -> None:
        await self._connection.close()


def _postgres_type(column: str) -> str:
    if column in INTEGERS:
        return "integer"
    return "jsonb" if column == "data" else "timestamptz" if column.endswith(("_at", "_from")) else "text"


class RawSqlite:
    """One plain table behind one sqlite3 connection in its own thread, with duebook's pragmas."""

    def __init__(self, connection: sqlite3.Connection, thread: ThreadPoolExecutor) -> None:
        self._connection = connection
        self._thread = thread
        self._insert = f"insert into plain ({', '.join(COLUMNS)}) values ({', '.join('?' * len(COLUMNS))})"

    @classmethod
    async def open(cls, url: str) -> RawSqlite:
        thread = ThreadPoolExecutor(1)
        return cls(await asyncio.get_running_loop().run_in_executor(thread, _open_plain, sqlite_path(url)), thread)

    async def insert(self, row: Sequence[Any]) -> None:
        await self._hop(lambda: self._connection.execute(self._insert, _texts(row)))

    async def insert_many(self, rows: Sequence[Sequence[Any]]) -> None:
        texts = [_texts(row) for row in rows]

        def work() -> None:
            self._connection.execute("begin immediate")
            self._connection.executemany(self._insert, texts)
            self._connection.execute("commit")

        await self._hop(work)

    async def close(self) -> None:
        await self._hop(self._connection.close)
        self._thread.shutdown()

    async def _hop(self, work: Callable[[], object]) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work)


def _open_plain(path: str) -> sqlite3.Connection:
    connection = open_as_duebook(path)
    types = ", ".join(f"{name} {'integer' if name in INTEGERS else 'text'} not null" for name in COLUMNS)
    connection.execute(f"create table plain (id integer primary key, {types})")
    return connection


def _texts(row: Sequence[Any]) -> list[Any]:
    return [value.isoformat() if isinstance(value, datetime) else value for value in row]
