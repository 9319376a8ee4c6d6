"""What the doctor asks a database directly, past the store: how it is set up, not what is in it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import MissingExtra, StoreUnavailable
from ..ports import Clock

if TYPE_CHECKING:
    from asyncpg import Connection

CONNECT_SECONDS = 10.0
LISTEN_SECONDS = 2.0
LISTEN_CHANNEL = "duebook_doctor"
SYNCHRONOUS = ("off", "normal", "full", "extra")

_SETTINGS = ("fsync", "full_page_writes", "synchronous_commit", "server_version_num", "server_version")


@dataclass(frozen=True, slots=True)
class Sqlite:
    release: tuple[int, ...]
    journal_mode: str
    synchronous: str


@dataclass(frozen=True, slots=True)
class Postgres:
    """`skew`: how far the server's clock is ahead of this host's, by a measurement good to half of `trip`.
    `proxied`: the process we were told we are connected to is another one than answers. `pooled`: one connection
    was served by different processes. `heard`: a NOTIFY came through.
    """

    settings: dict[str, str]
    skew: timedelta
    trip: timedelta
    proxied: bool
    pooled: bool
    heard: bool


def sqlite(path: str) -> Sqlite:
    """Look at a file the way a program would that opens it without any settings."""
    uri = path if path == ":memory:" else f"{Path(path).absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=path != ":memory:")
    try:
        mode = connection.execute("pragma journal_mode").fetchone()[0]
        level = connection.execute("pragma synchronous").fetchone()[0]
    finally:
        connection.close()
    return Sqlite(sqlite3.sqlite_version_info, str(mode), SYNCHRONOUS[level])


async def postgres(url: str, clock: Clock) -> Postgres:
    """Look at a server through two connections of the doctor's own."""
    try:
        import asyncpg
    except ModuleNotFoundError:
        raise MissingExtra("PostgreSQL", "postgres") from None
    async with AsyncExitStack() as stack:
        pair: list[Connection[Any]] = []
        for _ in range(2):
            try:
                # Statements are not kept: behind a pooler, the next one may meet another process.
                connection = await asyncpg.connect(url, timeout=CONNECT_SECONDS, statement_cache_size=0)
            except (OSError, TimeoutError, asyncpg.InterfaceError) as error:
                raise StoreUnavailable(f"PostgreSQL: {type(error).__name__}: {error}") from error
            stack.push_async_callback(_leave, connection)
            pair.append(connection)
        first, second = pair
        rows = await first.fetch("select name, setting from pg_settings where name = any($1)", _SETTINGS)
        skew, trip = await _skew(first, clock)
        processes = await _processes(first, second)
        proxied = processes[0] != first.get_server_pid()
        return Postgres(dict(rows), skew, trip, proxied, len(set(processes)) > 1, await _heard(first, second))


async def _leave(connection: Connection[Any]) -> None:
    with suppress(Exception):
        await connection.close(timeout=2)


async def _skew(connection: Connection[Any], clock: Clock) -> tuple[timedelta, timedelta]:
    asked = clock.now()
    there: datetime = await connection.fetchval("select clock_timestamp()")
    trip = clock.now() - asked
    return there - (asked + trip / 2), trip


async def _processes(first: Connection[Any], second: Connection[Any]) -> Sequence[int]:
    """Return which processes served the first connection, while the second takes turns with it.

    A pooler by transaction gives whoever begins the process that was freed last (PgBouncer) or first (when told to
    take turns). The second round exposes the former, the third the latter; a server always gives the same.
    """
    served = []
    for order in ((first, second), (first, second), (second, first)):
        begun = []
        for connection in order:
            transaction = connection.transaction()
            await transaction.start()
            begun.append(transaction)
        served.append(int(await first.fetchval("select pg_backend_pid()")))
        for transaction in begun:
            await transaction.rollback()
    return served


async def _heard(first: Connection[Any], second: Connection[Any]) -> bool:
    heard = asyncio.Event()
    await first.add_listener(LISTEN_CHANNEL, lambda *_: heard.set())
    await second.execute(f"notify {LISTEN_CHANNEL}")
    try:
        async with asyncio.timeout(LISTEN_SECONDS):
            await heard.wait()
    except TimeoutError:
        return False
    return True
