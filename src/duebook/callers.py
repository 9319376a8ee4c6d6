"""The verbs on a connection that belongs to the caller.

Lanes of this process are woken after the caller's commit, where the connection tells when that is. No wake-up leaves
the process: a NOTIFY inside the caller's transaction would make its commits wait for each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from .app.rooms import AsyncVerbs, SyncVerbs
from .features.context import Context
from .features.work import Wakes, Work
from .stores.callers import AsyncCaller, SyncCaller, caller

R = TypeVar("R")
Wake = Callable[[str], None]


class _AsyncRunner:
    def __init__(self, found: AsyncCaller, wake: Wake) -> None:
        self._caller = found
        self._wake = wake

    async def do(self, work: Work[R]) -> R:
        wakes = Wakes()
        result = await self._caller.run(work.plan(wakes))
        _after_commit(self._caller, wakes, self._wake)
        return result


class _SyncRunner:
    def __init__(self, found: SyncCaller, wake: Wake) -> None:
        self._caller = found
        self._wake = wake

    def do(self, work: Work[R]) -> R:
        wakes = Wakes()
        result = self._caller.run(work.plan(wakes))
        _after_commit(self._caller, wakes, self._wake)
        return result


def verbs(connection: object, context: Context, wake: Wake) -> AsyncVerbs | SyncVerbs:
    """Return the verbs inside the transaction of `connection`, awaited if the connection is."""
    found = caller(connection)
    if isinstance(found, AsyncCaller):
        return AsyncVerbs(context, _AsyncRunner(found, wake))
    return SyncVerbs(context, _SyncRunner(found, wake))


def _after_commit(found: AsyncCaller | SyncCaller, wakes: Wakes, wake: Wake) -> None:
    def committed() -> None:
        for channel in wakes.channels:
            wake(channel)

    if wakes.channels:
        found.after_commit(committed)
