"""The promoter: tells the broker of what is due soon.

Three steps, each able to fail by itself: a claim on the rows that runs out, the messages, the mark that they were
published. A promoter that dies between them costs a message too many, later; one that cannot reach the broker marks
nothing. No cursor outlives a pass, so it may be stopped for hours and be run by as many workers as there are.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from math import ceil

from ..domain.publication import CLAIM, Publication, reach
from ..ports import Clock, Database, Queue, Store
from .settings import EngineSettings


class Promoter:
    """`published`: how many messages it has handed over so far."""

    name = "promoter"
    pace_seconds = 0.25

    def __init__(self, queue: Queue, database: Database, store: Store, clock: Clock, settings: EngineSettings) -> None:
        self.queue = queue
        self.database = database
        self.store = store
        self.clock = clock
        self.settings = settings
        self.published = 0

    async def step(self) -> bool:
        now = self.clock.now()
        horizon = now + reach(self.queue.max_delay)
        plan = self.store.take_publications(horizon, self.settings.batch, now, now + CLAIM)
        taken = await self.database.ask(plan)
        groups: dict[tuple[str, int], list[Publication]] = defaultdict(list)
        for one in sorted(taken, key=lambda one: (one.wake_at, one.id)):
            groups[one.queue, ceil(one.delay(now).total_seconds())].append(one)
        for (name, seconds), group in groups.items():
            await self.queue.publish(name, [one.id for one in group], timedelta(seconds=seconds))
            await self.database.ask(self.store.mark_published(group))
            self.published += len(group)
        return len(taken) >= self.settings.batch
