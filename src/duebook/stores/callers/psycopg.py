"""The transaction of a psycopg Connection or AsyncConnection."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import NotInTransaction
from ...ports import Rows
from ..catalog import Compiled
from .drive import AsyncDriver, SyncDriver

if TYPE_CHECKING:
    from psycopg import AsyncConnection, Connection


class PsycopgCaller(SyncDriver):
    """Runs plans in the transaction of a psycopg Connection."""

    dialect = "postgres"
    style = "pyformat"

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def _join(self) -> None:
        _join(self._connection)

    def _database(self) -> Hashable:
        return _database(self._connection)

    def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        from psycopg import Cursor
        from psycopg.rows import tuple_row

        # Not connection.cursor(): its class and its rows are whatever the caller likes them to be.
        with Cursor(self._connection, row_factory=tuple_row) as cursor:
            cursor.execute(compiled.text.encode(), parameters)
            return cursor.fetchall() if cursor.description else []


class AsyncPsycopgCaller(AsyncDriver):
    """Runs plans in the transaction of a psycopg AsyncConnection."""

    dialect = "postgres"
    style = "pyformat"

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        self._connection = connection

    def _join(self) -> None:
        _join(self._connection)

    def _database(self) -> Hashable:
        return _database(self._connection)

    async def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        from psycopg import AsyncCursor
        from psycopg.rows import tuple_row

        async with AsyncCursor(self._connection, row_factory=tuple_row) as cursor:
            await cursor.execute(compiled.text.encode(), parameters)
            return await cursor.fetchall() if cursor.description else []


def _join(connection: Connection[Any] | AsyncConnection[Any]) -> None:
    from psycopg.pq import TransactionStatus

    if connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE:
        raise NotInTransaction(
            "this psycopg connection is in autocommit and no transaction is open: write "
            "`with connection.transaction():` around it (`async with` on an AsyncConnection), or connect without "
            "autocommit"
        )


def _database(connection: Connection[Any] | AsyncConnection[Any]) -> Hashable:
    info = connection.info
    return ("psycopg", info.host, info.port, info.dbname)
