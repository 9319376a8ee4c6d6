"""The matcher: finds the message of receipts that came before what they are about was on record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from ..domain.receipt import Receipt
from ..ports import Clock, Database, Plan, Store
from .settings import EngineSettings

PATIENCE = timedelta(days=3)
"""A receipt about nothing known by then is about something else; it stays on record."""

Match = Callable[[Store, Sequence[Receipt], str, datetime], Plan[tuple[int, int]]]


class Matcher:
    name = "matcher"
    pace_seconds = 60.0

    def __init__(
        self, database: Database, store: Store, clock: Clock, settings: EngineSettings, by: str, match: Match
    ) -> None:
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.by = by
        self.match = match

    async def step(self) -> bool:
        now = self.clock.now()

        def plan() -> Plan[None]:
            waiting = yield from self.store.lock_unmatched_receipts(now - PATIENCE, self.settings.batch)
            yield from self.match(self.store, waiting, self.by, now)

        await self.database.run(plan())
        return False
