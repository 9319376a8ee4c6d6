"""What is measured: a Duebook with one kind whose handler renders a small message, and one channel that does nothing.

The channel is an async function that answers Accepted. All else is as a user gets it: the default settings, the
ledger, the checks and triggers of the schema, fsync as the database has it.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Literal

import psycopg

from duebook import Accepted, Due, Duebook, Message, Outcome, Push, SendContext
from duebook.ports import Queue
from tests.postgres import fresh_database

Dialect = Literal["SQLite", "PostgreSQL"]
DIALECTS: tuple[Dialect, ...] = ("SQLite", "PostgreSQL")

KIND = "reminder"
CHANNEL = "post"
CONCURRENCIES = (200, 400, 1000)
PATIENCE_SECONDS = 600.0

Send = Callable[[Message, SendContext], Awaitable[Outcome]]


@contextmanager
def database(dialect: Dialect, server: str) -> Iterator[str]:
    """A new database with duebook's tables, as a URL; gone afterwards."""
    if dialect == "SQLite":
        with tempfile.TemporaryDirectory(prefix="duebook-bench-") as folder:
            url = f"sqlite:///{Path(folder) / 'bench.db'}"
            asyncio.run(_migrate(url))
            yield url
    else:
        with fresh_database(server) as url:
            asyncio.run(_migrate(url))
            yield url


def sqlite_path(url: str) -> str:
    return url.removeprefix("sqlite:///")


async def _migrate(url: str) -> None:
    book = Duebook(url)
    await book.migrate()
    await book.close()


async def nothing(message: Message, context: SendContext) -> Outcome:
    return Accepted()


def make_book(
    url: str, send: Send = nothing, concurrency: int = CONCURRENCIES[0], queue: Queue | None = None
) -> Duebook:
    book = Duebook(url, queue=queue)
    book.channel(CHANNEL, concurrency=concurrency)(send)

    @book.kind(KIND, channel=CHANNEL)
    async def render(due: Due) -> Push:
        return Push(to=due.recipient, title="Your return is due", body=f"Number {due.data.get('n')}, as you asked.")

    return book


async def drain(
    book_for: Callable[[Send], Duebook], count: int, watched: AbstractContextManager[object] | None = None
) -> float:
    """Run a worker until `count` due notifications are sent and settled; answers the seconds from start to stop.

    `watched` is entered for as long: a profiler, say.
    """
    left, done = count, asyncio.Event()

    async def send(message: Message, context: SendContext) -> Outcome:
        nonlocal left
        left -= 1
        if not left:
            done.set()
        return Accepted()

    book = book_for(send)
    settle_down(book.url)
    started = time.perf_counter()
    with watched or nullcontext():
        async with book.worker(), asyncio.timeout(PATIENCE_SECONDS):
            await done.wait()
    seconds = time.perf_counter() - started
    await book.close()
    return seconds


def settle_down(url: str) -> None:
    """Begin each run from the same state: no garbage in the program, no checkpoint about to fall due."""
    gc.collect()
    if not url.startswith("sqlite"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("checkpoint")


def check_accepted(url: str, count: int) -> None:
    """A run that lost or doubled something would measure nothing."""
    query = (
        "select (select count(*) from {0}notifications where state = 'accepted'), (select count(*) from {0}attempts)"
    )
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(sqlite_path(url))) as connection:
            found = connection.execute(query.format("duebook_")).fetchone()
    else:
        with psycopg.connect(url) as postgres:
            found = postgres.execute(query.format("duebook.").encode()).fetchone()
    if found != (count, count):
        raise RuntimeError(f"{count:,} were due; accepted and attempts on record: {found}")
