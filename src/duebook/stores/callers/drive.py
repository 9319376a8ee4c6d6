"""Drives a plan with a function that executes one statement: once for synchronous callers, once for asynchronous ones.

A driver of a family says how to check the transaction, how to name the database, and how to send one SQL text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Generator, Hashable, Mapping
from contextlib import closing
from typing import Any, TypeVar

from ...ports import Plan, Rows, Statement
from .. import catalog
from ..catalog import Compiled, Dialect, Style
from . import faults, schema

R = TypeVar("R")
S = TypeVar("S")


def drive(plan: Generator[S, Rows, R], execute: Callable[[S], Rows]) -> R:
    """Run a plan to its end; what `execute` raises is raised inside the plan."""
    with closing(plan):
        try:
            asked = next(plan)
            while True:
                try:
                    rows = execute(asked)
                except Exception as error:  # noqa: BLE001 - the plan decides, and by default it comes back out
                    asked = plan.throw(error)
                else:
                    asked = plan.send(rows)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


async def drive_async(plan: Generator[S, Rows, R], execute: Callable[[S], Awaitable[Rows]]) -> R:
    """Run a plan to its end; what `execute` raises is raised inside the plan."""
    with closing(plan):
        try:
            asked = next(plan)
            while True:
                try:
                    rows = await execute(asked)
                except Exception as error:  # noqa: BLE001 - the plan decides, and by default it comes back out
                    asked = plan.throw(error)
                else:
                    asked = plan.send(rows)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


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
        compiled = catalog.compile(self.dialect, self.style, statement)
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
        compiled = catalog.compile(self.dialect, self.style, statement)
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
