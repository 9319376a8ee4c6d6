"""The databases a timeline can live in. All but an awaited connection answer without waiting."""

from __future__ import annotations

import sqlite3
import threading
from datetime import datetime
from typing import Any, Protocol, TypeVar

from ..errors import InvalidInput, MissingExtra
from ..portal import Portal
from ..ports import Clock, Plan, Rows, Statement
from ..stores import catalog
from ..stores.callers import AsyncCaller, SyncCaller
from ..stores.catalog import Dialect
from ..stores.drive import drive
from ..stores.postgres.database import PostgresDatabase
from ..stores.rows import instant_text
from ..stores.sqlite.database import SqliteDatabase
from ..stores.store import SqlStore
from ..wiring import checked_url, database_for
from .clock import START

R = TypeVar("R")

_portal = Portal()
"""Where every timeline on PostgreSQL does its I/O: connections cannot move between the loops of tests."""


class Place(Protocol):
    """Where rows are kept. `awaited`: its verbs may have to wait."""

    awaited: bool

    @property
    def dialect(self) -> Dialect: ...
    async def run(self, plan: Plan[R]) -> R: ...
    async def ask(self, plan: Plan[R]) -> R: ...
    def leave(self) -> None:
        """Take away what the timeline has written, and disconnect."""
        ...


class OnClock:
    """What a book takes for its database: a place whose own time is the timeline's, and which outlives book.close(), as
    an application may close its book before the test looks at what became of it."""

    def __init__(self, place: Place, clock: Clock) -> None:
        self.place = place
        self.dialect = place.dialect
        self.used = False
        self._clock = clock

    async def run(self, plan: Plan[R]) -> R:
        self.used = True
        return await self.place.run(plan)

    async def ask(self, plan: Plan[R]) -> R:
        self.used = True
        return await self.place.ask(plan)

    async def time(self) -> datetime:
        return self._clock.now()

    async def migrate(self) -> list[str]:
        """Answers no names: the tables are there."""
        return []

    async def close(self) -> None: ...

    async def listen(self, heard: object) -> None:
        """Hears nothing: a timeline looks for itself."""


def open_place(url: str | None, *, wipe: bool) -> Place:
    """Return SQLite in memory, or the database at `url`, with its tables and without any rows."""
    if url is None:
        return Sqlite(":memory:")
    database = database_for(checked_url(url))
    if isinstance(database, SqliteDatabase):
        place: Sqlite | Postgres = Sqlite(database.path)
    else:
        place = Postgres(database)
    if (left := place.rows()) and not wipe:
        place.disconnect()
        raise InvalidInput(
            "url",
            f"the database holds {left} notifications. A timeline sends whatever it finds and deletes it in the end: "
            "give it a database for tests alone. Timeline(book, url, wipe=True) deletes what is there",
        )
    place.wipe()
    return place


class Sqlite:
    """SQLite in the thread that asks. The lock is for tests that use several."""

    awaited = False
    dialect: Dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self._kept = path != ":memory:"
        self._lock = threading.RLock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, cached_statements=256)
        # Nothing in it outlives the test, so nothing needs to reach the disk.
        self._connection.execute("pragma synchronous = off")
        self._migrate()

    async def run(self, plan: Plan[R]) -> R:
        with self._lock:
            self._connection.execute("begin immediate")
            try:
                result = drive(plan, self._execute)
                self._connection.execute("commit")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("rollback")
                raise
            return result

    async def ask(self, plan: Plan[R]) -> R:
        with self._lock:
            return drive(plan, self._execute)

    def rows(self) -> int:
        return int(self._connection.execute("select count(*) from duebook_identities").fetchone()[0])

    def wipe(self) -> None:
        find = r"select name from sqlite_master where type = 'table' and name like 'duebook\_%' escape '\'"
        for (table,) in self._connection.execute(find).fetchall():
            if table != "duebook_migrations":
                self._connection.execute(f'delete from "{table}"')

    def leave(self) -> None:
        with self._lock:
            if self._kept:
                self.wipe()
            self.disconnect()

    def disconnect(self) -> None:
        self._connection.close()

    def _execute(self, statement: Statement) -> Rows:
        compiled = catalog.prepare("sqlite", "named", statement)
        return self._connection.execute(compiled.text, statement.parameters).fetchall()

    def _migrate(self) -> None:
        find = "select count(*) from sqlite_master where name = 'duebook_migrations'"
        there = self._connection.execute(find).fetchone()[0]
        present = drive(SqlStore().read_schema(), self._execute) if there else 0
        for version, name, text in catalog.migrations("sqlite"):
            if version > present:
                row = f"insert into duebook_migrations values ({version}, '{name}', '{instant_text(START)}')"
                self._connection.executescript(f"begin immediate;\n{text}\n{row};\ncommit;")


class Postgres:
    """The project's own PostgreSQL, with real commits."""

    awaited = False
    dialect: Dialect = "postgres"

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        _portal.call(database.migrate())

    async def run(self, plan: Plan[R]) -> R:
        return _portal.call(self._database.run(plan))

    async def ask(self, plan: Plan[R]) -> R:
        return _portal.call(self._database.ask(plan))

    def rows(self) -> int:
        return int(self._query("select count(*) from duebook.identities")[0][0])

    def wipe(self) -> None:
        tables = self._query(
            "select tablename from pg_tables where schemaname = 'duebook' and tablename <> 'migrations'"
        )
        self._query("; ".join(f'delete from duebook."{table}"' for (table,) in tables))

    def leave(self) -> None:
        self.wipe()
        self.disconnect()

    def disconnect(self) -> None:
        _portal.call(self._database.close())

    def _query(self, sql: str) -> list[Any]:
        return _portal.call(_query(self._database.url, sql))


async def _query(url: str, sql: str) -> list[Any]:
    try:
        import asyncpg
    except ModuleNotFoundError:
        raise MissingExtra("PostgreSQL", "postgres") from None
    connection = await asyncpg.connect(url)
    try:
        if sql.startswith("select"):
            return [tuple(row) for row in await connection.fetch(sql)]
        await connection.execute(sql)
        return []
    finally:
        await connection.close()


class Joined:
    """The open transaction of a test's own connection. What rolls that back takes away whatever happened here."""

    def __init__(self, found: AsyncCaller | SyncCaller) -> None:
        self.dialect: Dialect = found.dialect
        self.awaited = isinstance(found, AsyncCaller)
        self._caller = found

    async def run(self, plan: Plan[R]) -> R:
        if isinstance(self._caller, AsyncCaller):
            return await self._caller.run(plan)
        return self._caller.run(plan)

    async def ask(self, plan: Plan[R]) -> R:
        return await self.run(plan)

    def leave(self) -> None: ...
