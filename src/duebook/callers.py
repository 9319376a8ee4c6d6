"""The verbs on a connection that belongs to the caller.

Lanes of this process are woken, and the broker is told, after the caller's commit, where the connection tells when that
is. Other processes are not: a NOTIFY inside the caller's transaction would make its commits wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from .app.rooms import AsyncVerbs, SyncVerbs
from .features.context import Context
from .features.work import Wakes, Work
from .stores.callers import AsyncCaller, SyncCaller, caller

R = TypeVar("R")
Told = Callable[[Wakes], None]


class _AsyncRunner:
    def __init__(self, found: AsyncCaller, told: Told) -> None:
        self._caller = found
        self._told = told

    async def do(self, work: Work[R]) -> R:
        wakes = Wakes()
        result = await self._caller.run(work.plan(wakes))
        _after_commit(self._caller, wakes, self._told)
        return result


class _SyncRunner:
    def __init__(self, found: SyncCaller, told: Told) -> None:
        self._caller = found
        self._told = told

    def do(self, work: Work[R]) -> R:
        wakes = Wakes()
        result = self._caller.run(work.plan(wakes))
        _after_commit(self._caller, wakes, self._told)
        return result


def verbs(connection: object, context: Context, told: Told) -> AsyncVerbs | SyncVerbs:
    """Return the verbs inside the transaction of `connection`, awaited if the connection is."""
    found = caller(connection)
    if isinstance(found, AsyncCaller):
        return AsyncVerbs(context, _AsyncRunner(found, told))
    return SyncVerbs(context, _SyncRunner(found, told))


def _after_commit(found: AsyncCaller | SyncCaller, wakes: Wakes, told: Told) -> None:
    if wakes.first is not None:
        found.after_commit(partial(told, wakes))
