"""How a clause of the contract becomes a test: it is tried in an empty store, once for each of its cases."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ....ports import Database, Store
from ...clock import SimClock
from .life import Life

PATIENCE_SECONDS = 60.0

Check = Callable[..., Coroutine[Any, Any, None]]


@dataclass(kw_only=True)
class Trial(Life):
    """A life in an empty store, whose time passes when the clause says so."""

    clock: SimClock = field(default_factory=SimClock)

    def advance(self, seconds: float) -> datetime:
        """Let time pass; answers the new present."""
        return self.clock.advance(timedelta(seconds=seconds))


class Contract(ABC):
    """Gives each trial a store."""

    @abstractmethod
    def empty(self) -> AbstractAsyncContextManager[tuple[Database, Store]]:
        """Return a database in which nothing is scheduled, and its store. Each clause enters it in its own loop."""


def clause(*cases: Any) -> Callable[[Check], Callable[[Contract], None]]:
    """Make a plain test method of a check that is awaited. A case is what the check takes besides the trial: a tuple of
    values, or one value. Without cases it is tried once."""

    def made(check: Check) -> Callable[[Contract], None]:
        def test(contract: Contract) -> None:
            for case in cases or ((),):
                values = case if isinstance(case, tuple) else (case,)
                asyncio.run(_tried(contract, check, values))

        test.__name__, test.__qualname__, test.__doc__ = check.__name__, check.__qualname__, check.__doc__
        return test

    return made


async def _tried(contract: Contract, check: Check, values: tuple[Any, ...]) -> None:
    async with contract.empty() as (database, store), asyncio.timeout(PATIENCE_SECONDS):
        try:
            await check(contract, Trial(database=database, store=store), *values)
        except AssertionError as error:
            if values:
                error.add_note(f"in the case {values!r}")
            raise
