"""SQLite through the standard library, in one worker thread that owns the connection.

A whole plan runs in the thread, so a transaction never spans an await. The journal is WAL only
on a release without the WAL-reset corruption bug (sqlite.org/wal.html, fixed in 3.51.3, 3.50.7 and 3.44.6); on others
the rollback journal is used, which is slower and safe.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from ...errors import Busy, SchemaMismatch, StoreUnavailable
from ...ports import Incarnation, Plan, Rows, Statement
from .. import catalog
from ..drive import drive
from ..rows import certain
from .witness import witnessed

R = TypeVar("R")

BUSY_SECONDS = 5.0
TOGETHER = 16


def wal_is_safe(release: tuple[int, ...]) -> bool:
    """Say whether a release of SQLite is free of the WAL-reset bug."""
    return release >= (3, 51, 3) or (3, 50, 7) <= release < (3, 51) or (3, 44, 6) <= release < (3, 45)


@dataclass(slots=True)
class _Job:
    """Work for the thread, and whom to tell. `plan`: it may share a commit; `atomic`: it needs a transaction."""

    work: Callable[[], Any]
    plan: bool
    atomic: bool
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]

    def tell(self, result: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop that asked is closed
            self.loop.call_soon_threadsafe(self._tell, result, error)

    def _tell(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class SqliteDatabase:
    """Implements ports.Database over one SQLite file, or over memory with the path ":memory:".

    Plans that wait at the same time are committed together, each within a savepoint of its own: a commit costs
    several writes to the disk however little it holds.
    """

    dialect: catalog.Dialect = "sqlite"

    def __init__(self, path: str) -> None:
        self.path = path
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._serving = False
        self._thread: Thread | None = None
        self._connection: sqlite3.Connection | None = None

    async def run(self, plan: Plan[R]) -> R:
        return await self._in_thread(lambda: drive(plan, self._execute), plan=True, atomic=True)

    async def ask(self, plan: Plan[R]) -> R:
        return await self._in_thread(lambda: drive(plan, self._execute), plan=True)

    async def time(self) -> datetime:
        rows = await self._in_thread(lambda: self._execute(Statement("read_clock", {})))
        return certain(rows[0][0])

    @asynccontextmanager
    async def incarnation(self) -> AsyncIterator[Incarnation | None]:
        """Yield what tells this file from a copy that was put in its place, by a witness beside it; memory has none."""
        if self.path in ("", ":memory:"):
            yield None
            return
        witness = witnessed(Path(self.path))
        found = await asyncio.to_thread(witness.__enter__)
        try:
            yield found
        finally:
            witness.__exit__(None, None, None)

    async def migrate(self) -> list[str]:
        """Bring the tables up to this release; answers the names of the migrations applied."""
        return await self._in_thread(self._migrate)

    async def close(self) -> None:
        if self._thread is not None:
            await self._in_thread(self._disconnect)
            self._thread.join()
            self._thread = None

    async def _in_thread(self, work: Callable[[], R], *, plan: bool = False, atomic: bool = False) -> R:
        if self._thread is None:
            self._serving = True
            self._thread = Thread(target=self._serve, name="duebook-sqlite", daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        job = _Job(work, plan, atomic, loop, loop.create_future())
        self._jobs.put(job)
        result: R = await job.future
        return result

    def _serve(self) -> None:
        while self._serving:
            jobs = [self._jobs.get()]
            while jobs[-1].plan and len(jobs) < TOGETHER and not self._jobs.empty():
                jobs.append(self._jobs.get())
            last = None if jobs[-1].plan else jobs.pop()
            if len(jobs) > 1 or (jobs and jobs[0].atomic):
                self._commit_together(jobs)
            elif jobs:
                jobs[0].tell(*_outcome(jobs[0].work))
            if last is not None:
                last.tell(*_outcome(last.work))

    def _commit_together(self, jobs: Sequence[_Job]) -> None:
        """Run jobs in one transaction. One that fails is undone alone; if the commit fails, none has happened."""
        outcomes: list[tuple[Any, BaseException | None]] = []

        def all_of_them() -> None:
            connection = self._connect()
            connection.execute("begin immediate")
            try:
                outcomes.extend(self._undoable(job.work) for job in jobs)
                connection.execute("commit")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("rollback")
                raise

        _, error = _outcome(all_of_them)
        for number, job in enumerate(jobs):
            job.tell(*((None, error) if error is not None else outcomes[number]))

    def _undoable(self, work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
        connection = self._connect()
        connection.execute("savepoint one")
        result, error = _outcome(work)
        connection.execute("rollback to one" if error is not None else "release one")
        if error is not None:
            connection.execute("release one")
        return result, error

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
        self._serving = False
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _execute(self, statement: Statement) -> Rows:
        compiled = catalog.prepare("sqlite", "named", statement)
        return self._connect().execute(compiled.text, statement.parameters).fetchall()

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


def _outcome(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Return what work returns, or what it raises in our own words."""
    try:
        return work(), None
    except sqlite3.DatabaseError as error:
        return None, _named(error)
    except BaseException as error:  # noqa: BLE001 - it is raised again where the work was asked for
        return None, error


def _named(error: sqlite3.DatabaseError) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    made: Exception = error
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        made = Busy(f"another program holds the SQLite file: {error}")
    elif "no such table: duebook_" in str(error) or "no such column" in str(error):
        made = SchemaMismatch(f"{error}. Run: duebook migrate")
    elif isinstance(error, sqlite3.OperationalError) or type(error) is sqlite3.DatabaseError:
        # The base class itself means a damaged file or none of SQLite's; other subclasses are about a statement.
        made = StoreUnavailable(f"SQLite: {error}")
    if made is not error:
        made.__cause__ = error
    return made
