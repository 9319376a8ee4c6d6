"""The transaction of an sqlite3.Connection."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import NotInTransaction
from ...ports import Rows, Statement
from ..catalog import Compiled
from .drive import SyncDriver

if TYPE_CHECKING:
    from sqlite3 import Connection

_LEGACY = -1  # sqlite3.LEGACY_TRANSACTION_CONTROL, which Python 3.11 has no name for
_READS = ("read", "search", "peek", "count")


class SqliteCaller(SyncDriver):
    """Runs plans in the transaction of an sqlite3.Connection."""

    dialect = "sqlite"
    style = "named"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _join(self) -> None:
        if not (self._connection.in_transaction or opens_by_itself(self._connection)):
            raise NotInTransaction(
                "this sqlite3 connection is in autocommit and no transaction is open: "
                'call connection.execute("BEGIN IMMEDIATE") first, and commit afterwards'
            )

    def _database(self) -> Hashable:
        files = self._query(Compiled("pragma database_list", ()), {})
        path = next((file for _, name, file in files if name == "main"), "")
        return ("sqlite3", path) if path else None

    def _before(self, statement: Statement) -> None:
        if writes(statement) and not self._connection.in_transaction:
            self._guarded(Compiled("begin immediate", ()), {})

    def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        cursor = self._connection.cursor()
        # The caller's own row and text factories are for the caller's own rows.
        cursor.row_factory = None
        factory, self._connection.text_factory = self._connection.text_factory, str
        try:
            return cursor.execute(compiled.text, parameters).fetchall()
        finally:
            self._connection.text_factory = factory
            cursor.close()


def opens_by_itself(connection: Any) -> bool:
    """Tell whether sqlite3 opens a transaction before the first write, which the caller's commit() then ends."""
    return connection.isolation_level is not None and getattr(connection, "autocommit", _LEGACY) == _LEGACY


def writes(statement: Statement) -> bool:
    """Tell whether a verb needs the write lock. sqlite3 itself would take it only when it sees the word INSERT, after
    `lock_…` has read; the transactions it opens also fail at once when another connection writes, instead of waiting.
    """
    return not statement.verb.startswith(_READS)
