"""What a claim costs when few or many notifications wait for the future.

Two databases with the same due work, one with ten thousand future rows and one with millions, asked in turns. The
statements are duebook's own, as its store words them, each put to a bare connection of the driver it uses, so that
Python's handling of the rows does not hide what the database does: the look of a lane that sleeps (`peek`), a claim
that finds nothing, and a claim of 200. The due rows come after the empty looks, and every claim takes other rows.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from functools import partial

import asyncpg

from duebook.domain.fairness import class_shares
from duebook.engine.appetite import EPOCH
from duebook.ports import Plan, R, Statement
from duebook.stores import catalog
from duebook.stores.store import SqlStore

from .figures import Target
from .filling import fill_due, fill_future
from .raw import open_as_duebook
from .run import Run
from .subject import CHANNEL, DIALECTS, KIND, Dialect, database, settle_down, sqlite_path

TARGET = Target(1.2, most=True)
FEW = 10_000
CLAIM = 200
STORE = SqlStore()

Ask = Callable[[Statement], Awaitable[int]]
"""Puts a statement to a database and answers how many rows came back."""


def measure(run: Run) -> None:
    for dialect in DIALECTS:
        sizes = (FEW, run.scale.future[dialect])
        with ExitStack() as stack:
            urls = [stack.enter_context(database(dialect, run.server)) for _ in sizes]
            for url, size in zip(urls, sizes, strict=True):
                started = time.perf_counter()
                fill_future(url, size, 1)
                run.say(f"{dialect}: {size:,} future rows laid in {time.perf_counter() - started:.1f} s")
            asyncio.run(_compare(run, dialect, urls, sizes))


async def _compare(run: Run, dialect: Dialect, urls: Sequence[str], sizes: Sequence[int]) -> None:
    asks = [await _bare(dialect, url) for url in urls]
    found = partial(_found, run, dialect, sizes)
    found("look of a sleeping lane", await _in_turns(asks, _peek, run.scale.looks))
    found("claim that finds nothing", await _in_turns(asks, _claim, run.scale.looks, rows=0))
    for url, size in zip(urls, sizes, strict=True):
        fill_due(url, CLAIM * (run.scale.claims + 1), size + 1)
        settle_down(url)
    found(f"claim of {CLAIM}", await _in_turns(asks, _claim, run.scale.claims, rows=CLAIM))


def _found(run: Run, dialect: Dialect, sizes: Sequence[int], what: str, times: Sequence[Sequence[float]]) -> None:
    few, many = (statistics.median(several) for several in times)
    said = [
        f"{1000 * median:.2f} ms with {size:,} future rows" for median, size in zip((few, many), sizes, strict=True)
    ]
    run.found(f"{dialect}: {what}, many against few", many / few, "times", target=TARGET, note=", ".join(said))


async def _in_turns(
    asks: Sequence[Ask], statement: Callable[[], Statement], count: int, rows: int | None = None
) -> list[list[float]]:
    """Ask each database `count` times, in turns; answers the seconds each answer took. The first is not counted."""
    times: list[list[float]] = [[] for _ in asks]
    for turn in range(count + 1):
        for position, ask in enumerate(asks):
            asked = statement()
            started = time.perf_counter()
            got = await ask(asked)
            seconds = time.perf_counter() - started
            if rows is not None and got != rows:
                raise RuntimeError(f"{asked.verb} answered {got} rows, not {rows}")
            if turn:
                times[position].append(seconds)
    return times


def _peek() -> Statement:
    return _statement(STORE.peek(CHANNEL, [KIND], EPOCH))


def _claim() -> Statement:
    now = datetime.now(UTC)
    limits = class_shares(CLAIM)
    return _statement(STORE.claim(CHANNEL, [KIND], limits, 1, EPOCH, now, now + timedelta(seconds=15), "bench"))


def _statement(plan: Plan[R]) -> Statement:
    """Return the first statement of a plan, which for these is the only one."""
    statement = next(plan)
    plan.close()
    return statement


async def _bare(dialect: Dialect, url: str) -> Ask:
    if dialect == "SQLite":
        connection = open_as_duebook(sqlite_path(url))

        async def ask_sqlite(statement: Statement) -> int:
            text = catalog.prepare("sqlite", "named", statement).text
            return len(connection.execute(text, statement.parameters).fetchall())

        return ask_sqlite

    postgres = await asyncpg.connect(url)
    await postgres.execute("set plan_cache_mode = force_generic_plan")  # as the pool of duebook does

    async def ask_postgres(statement: Statement) -> int:
        compiled = catalog.prepare("postgres", "numeric", statement)
        return len(await postgres.fetch(compiled.text, *compiled.positional(statement.parameters)))

    return ask_postgres
