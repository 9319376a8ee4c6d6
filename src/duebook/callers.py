"""The verbs on a connection that belongs to the caller."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from .app.work import Wakes, Work
from .stores.callers import caller

if TYPE_CHECKING:
    from .wiring import Wired

R = TypeVar("R")


class CallerRunner:
    """Carries out work in the caller's transaction, and wakes lanes after its commit where the connection tells.

    No wake-up leaves the process: a NOTIFY inside the caller's transaction would serialise its commits.
    """

    def __init__(self, wired: Wired, connection: object) -> None:
        self._wired = wired
        self._caller = caller(connection)
        self.awaited: bool = self._caller.awaited

    def do(self, work: Work[R]) -> Any:
        wakes = Wakes()
        if self.awaited:
            return self._do_awaited(work, wakes)
        result = self._caller.run(work.plan(wakes))
        self._after_commit(wakes)
        return result

    async def _do_awaited(self, work: Work[R], wakes: Wakes) -> Any:
        result = await self._caller.run(work.plan(wakes))
        self._after_commit(wakes)
        return result

    def _after_commit(self, wakes: Wakes) -> None:
        if wakes.channels:
            self._caller.after_commit(lambda: [self._wired.wake(channel) for channel in wakes.channels])


