"""PostgreSQL through asyncpg: a pool for each event loop that asks, made when it first does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit
from weakref import WeakKeyDictionary

from ...errors import Busy, DuebookError, InvalidInput, MissingExtra, SchemaMismatch, StoreUnavailable
from ...ports import Incarnation, Plan, Rows, Statement
from .. import catalog
from ..drive import drive_async
from ..rows import certain

if TYPE_CHECKING:
    from asyncpg import Connection, Pool, Record
    from asyncpg.pool import PoolConnectionProxy

R = TypeVar("R")

CONNECT_SECONDS = 10.0
STATEMENT_SECONDS = 60.0
IDLE_SECONDS = 15.0
"""How long the server waits for the next statement of a transaction. A process that stands still in the middle of one,
or whose network is gone, would keep its rows locked, and nobody could take over what it held."""
MIGRATION_LOCK = 7_331_019
INCARNATION = (
    "select system_identifier || '/' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) || '/' "
    "|| 'duebook.notifications'::regclass::oid from pg_control_system()"
)


class PostgresDatabase:
    """Implements ports.Database over a pool of at most `connections`."""

    dialect: catalog.Dialect = "postgres"

    def __init__(self, url: str, connections: int = 8) -> None:
        self.url, self._statement_cache = _split_option(url, "statement_cache_size")
        self.connections = connections
        self._pools: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[Pool[Record]]] = WeakKeyDictionary()

    async def run(self, plan: Plan[R]) -> R:
        async with self._connection() as connection, connection.transaction():
            return await drive_async(plan, lambda statement: _execute(connection, statement))

    async def ask(self, plan: Plan[R]) -> R:
        async with self._connection() as connection:
            return await drive_async(plan, lambda statement: _execute(connection, statement))

    async def time(self) -> datetime:
        async with self._connection() as connection:
            rows = await _execute(connection, Statement("read_clock", {}))
        return certain(rows[0][0])

    @asynccontextmanager
    async def incarnation(self) -> AsyncIterator[Incarnation | None]:
        """Yield the cluster's identifier, its timeline, which a promotion or a recovery raises, and the object id of
        our table, which a restore into the same cluster makes anew; None where the server does not tell."""
        import asyncpg

        untold = (asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError, asyncpg.UndefinedFunctionError)
        found: Incarnation | None = None
        async with self._connection() as connection:
            with suppress(*untold):
                identity: str = await connection.fetchval(INCARNATION)
                found = Incarnation(frozenset({identity}), identity)
        yield found

    async def migrate(self) -> list[str]:
        """Bring the tables up to this release; answers the names of the migrations applied."""
        applied = []
        async with self._connection() as connection, connection.transaction():
            await connection.execute(f"select pg_advisory_xact_lock({MIGRATION_LOCK})")
            exists = await connection.fetchval("select to_regclass('duebook.migrations') is not null")
            present = await connection.fetchval(catalog.text("postgres", "read_schema")) if exists else 0
            for version, name, text in catalog.migrations("postgres"):
                if version > (present or 0):
                    await connection.execute(text)
                    now = certain((await _execute(connection, Statement("read_clock", {})))[0][0])
                    await connection.execute("insert into duebook.migrations values ($1, $2, $3)", version, name, now)
                    applied.append(name)
        return applied

    async def listen(self, heard: Callable[[str], None]) -> Connection[Record]:
        """Call `heard` with the channel of each wake-up; the connection answered ends it when closed."""
        import asyncpg

        with _Mapped():
            connection = await asyncpg.connect(self.url, timeout=CONNECT_SECONDS)
            try:
                await connection.add_listener("duebook", lambda _c, _p, _n, payload: heard(str(payload)))
            except BaseException:
                connection.terminate()  # nobody else knows of it, also when this was cancelled
                raise
        return connection

    async def close(self) -> None:
        """Close the pool of this event loop; those of other loops end with them."""
        opening = self._pools.pop(asyncio.get_running_loop(), None)
        if opening is not None:
            with suppress(Exception):
                await asyncio.wait_for((await opening).close(), 5)

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[PoolConnectionProxy[Record]]:
        with _Mapped():
            pool = await self._open()
            async with pool.acquire() as connection:
                yield connection

    async def _create_pool(self) -> Pool[Record]:
        try:
            import asyncpg
        except ModuleNotFoundError:
            raise MissingExtra("PostgreSQL", "postgres") from None
        try:
            return await asyncpg.create_pool(
                self.url,
                min_size=0,
                max_size=self.connections,
                timeout=CONNECT_SECONDS,
                command_timeout=STATEMENT_SECONDS,
                statement_cache_size=100 if self._statement_cache is None else self._statement_cache,
                server_settings={"application_name": "duebook"},
                init=_set_up if self._statement_cache is None else None,
                reset=_leave_as_it_is,
            )
        except ValueError:
            # The driver's words may quote the URL, and with it a password.
            raise InvalidInput("url", "is not one that PostgreSQL's driver can read") from None

    async def _open(self) -> Pool[Record]:
        """Return the pool of this event loop: connections cannot move from one loop to another."""
        loop = asyncio.get_running_loop()
        opening = self._pools.get(loop)
        if opening is None or (opening.done() and opening.exception() is not None):
            opening = self._pools[loop] = loop.create_task(self._create_pool())
        return opening.result() if opening.done() else await asyncio.shield(opening)


async def _set_up(connection: Connection[Record]) -> None:
    """Keep one plan for each statement, as planning a claim anew costs more than the claim and changes nothing; and
    have the server end a transaction that stands still."""
    await connection.execute(
        "set plan_cache_mode = force_generic_plan;"
        f"set idle_in_transaction_session_timeout = {round(1000 * IDLE_SECONDS)}"
    )


async def _leave_as_it_is(connection: Connection[Record]) -> None:
    """Save a round trip for each statement: ours leave no cursors, locks, listeners or settings behind."""


def _split_option(url: str, name: str) -> tuple[str, int | None]:
    """Take an option that is asyncpg's and not the server's out of a URL: ?statement_cache_size=0 for poolers."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query))
    value = query.pop(name, None)
    if value is None:
        return url, None
    if not value.isdecimal():
        raise InvalidInput("url", f"{name} must be a whole number")
    return urlunsplit(parts._replace(query=urlencode(query))), int(value)


async def _execute(connection: PoolConnectionProxy[Record], statement: Statement) -> Rows:
    compiled = catalog.prepare("postgres", "numeric", statement)
    rows = await connection.fetch(compiled.text, *compiled.positional(statement.parameters))
    return cast("Rows", rows)  # a Record is a sequence that does not say so


class _Mapped:
    """Turns the driver's errors into ours."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None or not isinstance(error, Exception) or isinstance(error, DuebookError):
            return
        import asyncpg

        if isinstance(
            error, (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError, asyncpg.UndefinedColumnError)
        ):
            raise SchemaMismatch(f"{error}. Run: duebook migrate") from error
        if isinstance(
            error, (asyncpg.SerializationError, asyncpg.DeadlockDetectedError, asyncpg.LockNotAvailableError)
        ):
            raise Busy(str(error)) from error
        if isinstance(error, (asyncpg.DuplicatePreparedStatementError, asyncpg.InvalidSQLStatementNameError)):
            raise StoreUnavailable(
                f"PostgreSQL: {error}. A transaction pooler is in between: add ?statement_cache_size=0 to the URL"
            ) from error
        lost = (
            asyncpg.PostgresConnectionError,
            asyncpg.OperatorInterventionError,
            asyncpg.InsufficientResourcesError,
            asyncpg.InterfaceError,
            asyncpg.InternalClientError,  # a connection that was cut while the driver was still reading from it
            asyncpg.InvalidAuthorizationSpecificationError,
            asyncpg.InvalidCatalogNameError,
            asyncpg.InsufficientPrivilegeError,
            OSError,
            TimeoutError,
        )
        if isinstance(error, lost):
            raise StoreUnavailable(f"PostgreSQL: {type(error).__name__}: {error}") from error
