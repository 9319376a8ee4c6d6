"""SQLite through the standard library, in one worker thread that owns the connection.

A whole plan runs in the thread, so a transaction never spans an await and costs one hand-over. The journal is WAL only
on a release without the WAL-reset corruption bug (sqlite.org/wal.html, fixed in 3.51.3, 3.50.7 and 3.44.6); on others
the rollback journal is used, which is slower and safe.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import TypeVar

from ...errors import Busy, SchemaMismatch, StoreUnavailable
from ...ports import Plan, Rows, Statement
from .. import catalog
from ..drive import drive
from ..rows import certain

R = TypeVar("R")

BUSY_SECONDS = 5.0


def wal_is_safe(release: tuple[int, ...]) -> bool:
    """Say whether a release of SQLite is free of the WAL-reset bug."""
    return release >= (3, 51, 3) or (3, 50, 7) <= release < (3, 51) or (3, 44, 6) <= release < (3, 45)


class SqliteDatabase:
    """Implements ports.Database over one SQLite file, or over memory with the path ":memory:"."""

    dialect: catalog.Dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self.path = path
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None

    async def run(self, plan: Plan[R]) -> R:
        return await self._in_thread(lambda: self._transaction(plan))

    async def ask(self, plan: Plan[R]) -> R:
        return await self._in_thread(lambda: drive(plan, self._execute))

    async def time(self) -> datetime:
        rows = await self._in_thread(lambda: self._execute(Statement("read_clock", {})))
        return certain(rows[0][0])

    async def migrate(self) -> list[str]:
        """Bring the tables up to this release; answers the names of the migrations applied."""
        return await self._in_thread(self._migrate)

    async def close(self) -> None:
        if self._thread is not None:
            await self._in_thread(self._disconnect)
            self._thread.shutdown()
            self._thread = None

    async def _in_thread(self, work: Callable[[], R]) -> R:
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="duebook-sqlite")
        return await asyncio.get_running_loop().run_in_executor(self._thread, _guarded, work)

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, cached_statements=256
            )
            mode = "wal" if wal_is_safe(sqlite3.sqlite_version_info) else "truncate"
            connection.execute(f"pragma journal_mode = {mode}")
            connection.execute("pragma synchronous = full")
            self._connection = connection
        return self._connection

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: Statement) -> Rows:
        compiled = catalog.prepare("sqlite", "named", statement)
        return self._connect().execute(compiled.text, statement.parameters).fetchall()

    def _transaction(self, plan: Plan[R]) -> R:
        connection = self._connect()
        connection.execute("begin immediate")
        try:
            result = drive(plan, self._execute)
            connection.execute("commit")
        except BaseException:
            if connection.in_transaction:
                connection.execute("rollback")
            raise
        return result

    def _version(self) -> int:
        with suppress(sqlite3.OperationalError):
            rows = self._execute(Statement("read_schema", {}))
            return int(rows[0][0] or 0)
        return 0

    def _migrate(self) -> list[str]:
        applied = []
        for version, name, text in catalog.migrations("sqlite"):
            if version > self._version():
                now = self._execute(Statement("read_clock", {}))[0][0]
                row = f"insert into duebook_migrations values ({version}, '{name}', '{now}')"
                try:
                    self._connect().executescript(f"begin immediate;\n{text}\n{row};\ncommit;")
                except BaseException:
                    if self._connect().in_transaction:
                        self._connect().execute("rollback")
                    # Another process may have been faster with the same migration.
                    if self._version() < version:
                        raise
                else:
                    applied.append(name)
        return applied


def _guarded(work: Callable[[], R]) -> R:
    try:
        return work()
    except sqlite3.OperationalError as error:
        code = error.sqlite_errorcode & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Busy(f"another program holds the SQLite file: {error}") from error
        if "no such table: duebook_" in str(error) or "no such column" in str(error):
            raise SchemaMismatch(f"{error}. Run: duebook migrate") from error
        raise StoreUnavailable(f"SQLite: {error}") from error
    except sqlite3.DatabaseError as error:
        # The base class itself means a damaged file or none of SQLite's; its subclasses are about a statement.
        if type(error) is sqlite3.DatabaseError:
            raise StoreUnavailable(f"SQLite: {error}") from error
        raise
