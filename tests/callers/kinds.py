"""Every kind of connection whose transaction duebook joins, opened so that one test can be written for all."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import asyncpg
import psycopg
import sqlalchemy
from django.db import connections, transaction
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from duebook.ports import Plan
from duebook.stores.callers import AsyncCaller, SyncCaller, caller
from duebook.stores.catalog import Dialect

DJANGO_ALIAS = "books"


@dataclass
class Transaction:
    """An open transaction: what `using()` is given, and what its owner may do with it."""

    connection: Any
    commit: Callable[[], object]
    rollback: Callable[[], object]
    wait: Callable[[Coroutine[Any, Any, Any]], Any] | None = None

    @property
    def caller(self) -> SyncCaller | AsyncCaller:
        return caller(self.connection)

    def run(self, plan: Plan[Any]) -> Any:
        match self.caller:
            case SyncCaller() as here:
                return here.run(plan)
            case AsyncCaller() as here:
                assert self.wait is not None
                return self.wait(here.run(plan))


@dataclass(frozen=True)
class Kind:
    name: str
    dialect: Dialect
    open: Callable[[str], AbstractContextManager[Transaction]]
    has_hook: bool = False

    def __str__(self) -> str:
        return f"{self.name}-{self.dialect}"


@contextmanager
def sqlite3_legacy(url: str) -> Iterator[Transaction]:
    connection = sqlite3.connect(url)
    try:
        yield Transaction(connection, connection.commit, connection.rollback)
    finally:
        connection.close()


@contextmanager
def sqlite3_explicit(url: str) -> Iterator[Transaction]:
    connection = sqlite3.connect(url, isolation_level=None)
    connection.execute("begin immediate")
    try:
        yield Transaction(connection, partial(connection.execute, "commit"), partial(connection.execute, "rollback"))
    finally:
        connection.close()


@contextmanager
def psycopg_connection(url: str) -> Iterator[Transaction]:
    connection = psycopg.connect(url)
    try:
        yield Transaction(connection, connection.commit, connection.rollback)
    finally:
        connection.close()


@contextmanager
def psycopg_async(url: str) -> Iterator[Transaction]:
    with asyncio.Runner() as runner:
        connection = runner.run(psycopg.AsyncConnection.connect(url))
        try:
            yield Transaction(
                connection,
                lambda: runner.run(connection.commit()),
                lambda: runner.run(connection.rollback()),
                runner.run,
            )
        finally:
            runner.run(connection.close())


@contextmanager
def asyncpg_connection(url: str) -> Iterator[Transaction]:
    with asyncio.Runner() as runner:
        connection = runner.run(asyncpg.connect(url))
        try:
            yield runner.run(_asyncpg_transaction(connection, runner))
        finally:
            runner.run(connection.close())


@contextmanager
def asyncpg_pooled(url: str) -> Iterator[Transaction]:
    async def acquire() -> tuple[Any, Any]:
        pool = await asyncpg.create_pool(url, min_size=1, max_size=1)
        return pool, await pool.acquire()

    async def close(pool: Any, connection: Any) -> None:
        await pool.release(connection)
        await pool.close()

    with asyncio.Runner() as runner:
        pool, connection = runner.run(acquire())
        try:
            yield runner.run(_asyncpg_transaction(connection, runner))
        finally:
            runner.run(close(pool, connection))


async def _asyncpg_transaction(connection: Any, runner: asyncio.Runner) -> Transaction:
    open_one = connection.transaction()
    await open_one.start()
    return Transaction(
        connection,
        lambda: runner.run(open_one.commit()),
        lambda: runner.run(open_one.rollback()),
        runner.run,
    )


def sqlalchemy_url(url: str, driver: str) -> sqlalchemy.URL:
    """`url` for a driver of SQLAlchemy: of PostgreSQL as it is, of SQLite the path of a file."""
    if driver.startswith("sqlite"):
        return sqlalchemy.URL.create(driver, database=url)
    return sqlalchemy.make_url(url).set(drivername=driver)


@contextmanager
def session(url: str, driver: str) -> Iterator[Transaction]:
    engine = sqlalchemy.create_engine(sqlalchemy_url(url, driver))
    with Session(engine) as opened:
        yield Transaction(opened, opened.commit, opened.rollback)
    engine.dispose()


@contextmanager
def connection(url: str, driver: str) -> Iterator[Transaction]:
    engine = sqlalchemy.create_engine(sqlalchemy_url(url, driver))
    with engine.connect() as opened:
        yield Transaction(opened, opened.commit, opened.rollback)
    engine.dispose()


@contextmanager
def async_session(url: str, driver: str) -> Iterator[Transaction]:
    engine = create_async_engine(sqlalchemy_url(url, driver))
    with asyncio.Runner() as runner:
        opened = AsyncSession(engine)
        try:
            yield Transaction(
                opened, lambda: runner.run(opened.commit()), lambda: runner.run(opened.rollback()), runner.run
            )
        finally:
            runner.run(opened.close())
            runner.run(engine.dispose())


@contextmanager
def async_connection(url: str, driver: str) -> Iterator[Transaction]:
    async def connect() -> Any:
        return await engine.connect()

    engine = create_async_engine(sqlalchemy_url(url, driver))
    with asyncio.Runner() as runner:
        opened = runner.run(connect())
        try:
            yield Transaction(
                opened, lambda: runner.run(opened.commit()), lambda: runner.run(opened.rollback()), runner.run
            )
        finally:
            runner.run(opened.close())
            runner.run(engine.dispose())


@contextmanager
def django_database(url: str, alias: str = DJANGO_ALIAS) -> Iterator[str]:
    """Have the alias lead to this database."""
    if url.startswith("postgres"):
        parts = conninfo_to_dict(url)
        found = {"ENGINE": "django.db.backends.postgresql", "NAME": parts["dbname"]}
        found |= {name.upper(): parts[name] for name in ("user", "password", "host", "port") if parts.get(name)}
    else:
        found = {"ENGINE": "django.db.backends.sqlite3", "NAME": url}
    connections.settings = connections.configure_settings({"default": {}, alias: found})
    try:
        yield alias
    finally:
        connections[alias].close()
        del connections[alias]


@contextmanager
def django_atomic(url: str) -> Iterator[Transaction]:
    def rollback() -> None:
        transaction.set_rollback(True, using=alias)
        block.__exit__(None, None, None)

    with django_database(url) as alias:
        block = transaction.atomic(using=alias)
        block.__enter__()
        try:
            yield Transaction(alias, lambda: block.__exit__(None, None, None), rollback)
        finally:
            if connections[alias].in_atomic_block:
                rollback()


@contextmanager
def django_wrapper(url: str) -> Iterator[Transaction]:
    with django_atomic(url) as opened:
        opened.connection = connections[opened.connection]
        yield opened


def _of_sqlalchemy(dialect: Dialect, driver: str, asynchronous: bool) -> Iterator[Kind]:
    name = driver.partition("+")[2]
    of_session, of_connection = (async_session, async_connection) if asynchronous else (session, connection)
    word = "async " if asynchronous else ""
    yield Kind(f"{word}session over {name}", dialect, partial(of_session, driver=driver), has_hook=True)
    yield Kind(f"{word}connection over {name}", dialect, partial(of_connection, driver=driver))


KINDS = [
    Kind("sqlite3", "sqlite", sqlite3_legacy),
    Kind("sqlite3 by hand", "sqlite", sqlite3_explicit),
    Kind("psycopg", "postgres", psycopg_connection),
    Kind("async psycopg", "postgres", psycopg_async),
    Kind("asyncpg", "postgres", asyncpg_connection),
    Kind("asyncpg from a pool", "postgres", asyncpg_pooled),
    *_of_sqlalchemy("sqlite", "sqlite+pysqlite", False),
    *_of_sqlalchemy("postgres", "postgresql+psycopg", False),
    *_of_sqlalchemy("postgres", "postgresql+psycopg", True),
    *_of_sqlalchemy("postgres", "postgresql+asyncpg", True),
    *(_of_sqlalchemy("sqlite", "sqlite+aiosqlite", True) if find_spec("aiosqlite") else ()),
    Kind("django", "sqlite", django_atomic, has_hook=True),
    Kind("django", "postgres", django_atomic, has_hook=True),
    Kind("django connection", "sqlite", django_wrapper, has_hook=True),
    Kind("django connection", "postgres", django_wrapper, has_hook=True),
]
