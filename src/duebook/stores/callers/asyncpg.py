"""The transaction of an asyncpg Connection, from a pool or not."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from ...errors import NotInTransaction
from ...ports import Rows
from ..catalog import Compiled
from .drive import AsyncDriver


class _Connection(Protocol):
    def is_in_transaction(self) -> bool: ...
    async def fetch(self, query: str, /, *args: Any, record_class: Any) -> list[Any]: ...


class AsyncpgCaller(AsyncDriver):
    """Runs plans in the transaction of an asyncpg Connection."""

    dialect = "postgres"
    style = "numeric"

    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def _join(self) -> None:
        if not self._connection.is_in_transaction():
            raise NotInTransaction(
                "this asyncpg connection has no open transaction: write `async with connection.transaction():`"
            )

    def _database(self) -> Hashable:
        # asyncpg has no public name for where a connection leads; without one, the check is made every time.
        address, parameters = (getattr(self._connection, name, None) for name in ("_addr", "_params"))
        name = getattr(parameters, "database", None)
        return ("asyncpg", address, name) if address and name else None

    async def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        from asyncpg import Record

        return await self._connection.fetch(compiled.text, *compiled.positional(parameters), record_class=Record)
