"""What the families of callers share: check the transaction, check the schema once, run the plan, explain failures.

A driver of a family says how to check the transaction, how to name the database, and how to send one SQL text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing
from typing import Any

from ...ports import Plan, R, Rows, Statement
from .. import catalog
from ..catalog import Compiled, Dialect, Style
from ..drive import drive, drive_async
from . import faults, schema


class _Caller(ABC):
    dialect: Dialect

    def after_commit(self, callback: Callable[[], object]) -> bool:
        """Have `callback` called once the transaction that is open now has committed; False where no hook exists."""
        return False


class SyncCaller(_Caller):
    """A caller's synchronous transaction."""

    @abstractmethod
    def run(self, plan: Plan[R]) -> R:
        """Run a plan in the open transaction. Raises NotInTransaction, SchemaMismatch, Busy, or the driver's error."""


class AsyncCaller(_Caller):
    """A caller's asynchronous transaction."""

    @abstractmethod
    async def run(self, plan: Plan[R]) -> R:
        """Run a plan in the open transaction. Raises NotInTransaction, SchemaMismatch, Busy, or the driver's error."""


class SyncDriver(SyncCaller):
    """The part that the synchronous families share."""

    style: Style

    def run(self, plan: Plan[R]) -> R:
        with closing(plan):
            self._join()
            database = self._database()
            if not schema.known(database):
                drive(schema.check(self.dialect), lambda sql: self._guarded(Compiled(sql, ()), {}))
                schema.remember(database)
            return drive(plan, self._execute)

    def _execute(self, statement: Statement) -> Rows:
        self._before(statement)
        compiled = catalog.prepare(self.dialect, self.style, statement)
        return self._guarded(compiled, statement.parameters)

    def _guarded(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        try:
            return self._query(compiled, parameters)
        except Exception as error:
            faults.explain(self.dialect, error)
            raise

    @abstractmethod
    def _join(self) -> None:
        """Raise NotInTransaction unless what is written now is committed by the caller later."""

    @abstractmethod
    def _database(self) -> Hashable:
        """Return what tells this database from others, or None where nothing does."""

    def _before(self, statement: Statement) -> None:
        """Prepare the transaction for a statement."""

    @abstractmethod
    def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        """Send one SQL text and return all its rows."""


class AsyncDriver(AsyncCaller):
    """The part that the asynchronous families share."""

    style: Style

    async def run(self, plan: Plan[R]) -> R:
        with closing(plan):
            self._join()
            database = self._database()
            if not schema.known(database):
                await drive_async(schema.check(self.dialect), lambda sql: self._guarded(Compiled(sql, ()), {}))
                schema.remember(database)
            return await drive_async(plan, self._execute)

    async def _execute(self, statement: Statement) -> Rows:
        compiled = catalog.prepare(self.dialect, self.style, statement)
        return await self._guarded(compiled, statement.parameters)

    async def _guarded(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        try:
            return await self._query(compiled, parameters)
        except Exception as error:
            faults.explain(self.dialect, error)
            raise

    @abstractmethod
    def _join(self) -> None:
        """Raise NotInTransaction unless what is written now is committed by the caller later."""

    @abstractmethod
    def _database(self) -> Hashable:
        """Return what tells this database from others, or None where nothing does."""

    @abstractmethod
    async def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        """Send one SQL text and return all its rows."""
