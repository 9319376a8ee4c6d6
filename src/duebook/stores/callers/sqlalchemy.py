"""The transaction of an SQLAlchemy Session, AsyncSession, Connection or AsyncConnection.

The asynchronous ones run the synchronous caller where SQLAlchemy runs its own: in `run_sync`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import InvalidInput, NotInTransaction
from ...ports import Plan, Rows, Statement
from ..catalog import Compiled, Dialect
from . import sqlite3
from .drive import AsyncCaller, SyncDriver

if TYPE_CHECKING:
    from sqlalchemy import Connection, TextClause
    from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession
    from sqlalchemy.orm import Session, SessionTransaction

R = TypeVar("R")

_DIALECTS: dict[str, Dialect] = {"postgresql": "postgres", "sqlite": "sqlite"}
_AFTER_COMMIT = "duebook after commit"


class ConnectionCaller(SyncDriver):
    """Runs plans in the transaction of a Connection. It has no hook after a commit, only one before."""

    def __init__(self, connection: Connection) -> None:
        self._set_up(connection)
        self._given = connection

    def _set_up(self, bind: Any) -> None:
        self.dialect = _dialect(bind)
        self.style = "colon" if self.dialect == "postgres" else "named"

    def _connection(self) -> Connection:
        return self._given

    def _join(self) -> None:
        connection = self._connection()
        if not connection.in_transaction():
            # What the first statement would do; listeners that send BEGIN themselves are asked to do it now.
            connection.begin()
        if self.dialect == "sqlite":
            driver = connection.connection.driver_connection
            autocommit = not (_in_transaction(driver) or sqlite3.opens_by_itself(driver))
        else:
            autocommit = bool(getattr(connection.connection.dbapi_connection, "autocommit", False))
        if autocommit:
            raise NotInTransaction(
                "this SQLAlchemy connection is in AUTOCOMMIT: use an engine or a connection without "
                'isolation_level="AUTOCOMMIT" for this transaction. On SQLite also: where a "connect" listener sets '
                'isolation_level to None, a "begin" listener must send BEGIN IMMEDIATE'
            )

    def _database(self) -> Hashable:
        return self._connection().engine

    def _before(self, statement: Statement) -> None:
        if self.dialect == "sqlite" and sqlite3.writes(statement):
            connection = self._connection()
            if not _in_transaction(connection.connection.driver_connection):
                self._guarded(Compiled("begin immediate", ()), {})

    def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        result = self._connection().execute(
            _clause(compiled.text), dict(parameters), execution_options={"stream_results": False}
        )
        return result.all() if result.returns_rows else []


class SessionCaller(ConnectionCaller):
    """Runs plans in the transaction of a Session."""

    def __init__(self, session: Session) -> None:
        self._set_up(_bind(session))
        self._session = session

    def _connection(self) -> Connection:
        return self._session.connection()

    def after_commit(self, callback: Callable[[], object]) -> bool:
        return _after_commit(self._session, callback)


class AsyncConnectionCaller(AsyncCaller):
    """Runs plans in the transaction of an AsyncConnection. It has no hook after a commit, only one before."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.dialect = _dialect(connection)
        self._connection = connection

    async def run(self, plan: Plan[R]) -> R:
        return await self._connection.run_sync(lambda connection: ConnectionCaller(connection).run(plan))


class AsyncSessionCaller(AsyncCaller):
    """Runs plans in the transaction of an AsyncSession."""

    def __init__(self, session: AsyncSession) -> None:
        self.dialect = _dialect(_bind(session.sync_session))
        self._session = session

    async def run(self, plan: Plan[R]) -> R:
        return await self._session.run_sync(lambda session: SessionCaller(session).run(plan))

    def after_commit(self, callback: Callable[[], object]) -> bool:
        return _after_commit(self._session.sync_session, callback)


def _bind(session: Session) -> Any:
    from sqlalchemy.exc import UnboundExecutionError

    try:
        return session.get_bind()
    except UnboundExecutionError as error:
        raise InvalidInput(
            "connection",
            "this Session is not bound to one database: give it a default `bind`, or pass "
            "session.connection(bind_arguments=…) for the database that has the duebook tables",
        ) from error


def _dialect(bind: Any) -> Dialect:
    name = bind.dialect.name
    if name not in _DIALECTS:
        raise InvalidInput("connection", f"this database is {name}; duebook lives in PostgreSQL and SQLite")
    return _DIALECTS[name]


def _in_transaction(driver: Any) -> bool:
    return bool(driver.in_transaction)


@cache
def _clause(sql: str) -> TextClause:
    from sqlalchemy import text

    return text(sql)


def _after_commit(session: Session, callback: Callable[[], object]) -> bool:
    """Have `callback` called when the session's outermost transaction commits, unless a savepoint around it is undone.

    The listeners stay: SQLAlchemy cannot remove one while it is called. What waits ends with its transaction.
    """
    from sqlalchemy import event

    transaction = session.get_nested_transaction() or session.get_transaction()
    if transaction is None:
        return False
    if _AFTER_COMMIT not in session.info:
        session.info[_AFTER_COMMIT] = []
        event.listen(session, "after_commit", _committed)
        event.listen(session, "after_soft_rollback", _rolled_back)
        event.listen(session, "after_transaction_end", _ended)
    session.info[_AFTER_COMMIT].append((transaction, callback))
    return True


def _committed(session: Session) -> None:
    if not session.in_nested_transaction():
        for _, callback in tuple(session.info[_AFTER_COMMIT]):
            callback()


def _rolled_back(session: Session, undone: SessionTransaction) -> None:
    waiting = session.info[_AFTER_COMMIT]
    session.info[_AFTER_COMMIT] = [(inner, callback) for inner, callback in waiting if not _within(inner, undone)]


def _ended(session: Session, transaction: SessionTransaction) -> None:
    if transaction.parent is None:
        session.info[_AFTER_COMMIT] = []


def _within(inner: SessionTransaction | None, outer: SessionTransaction) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is outer
