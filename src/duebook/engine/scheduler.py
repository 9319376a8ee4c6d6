"""The scheduler: turns the periods of recurring schedules that have come into notifications.

A schedule's place in time and its notifications are written in one transaction, fenced by the schedule's version. So
any number of schedulers may run, and a period that one has seen to is none for the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ..domain.draft import Draft
from ..domain.policy import Kind
from ..domain.schedules import MOST_AT_ONCE, Advance, Schedule, advance, advanced, draft, taken
from ..ports import Plan, Store
from .agent import Maker


class Scheduler(Maker):
    name = "scheduler"

    async def step(self) -> bool:
        channels, more = await self.database.run(self._advance(self.clock.now()))
        self.tell(channels)
        return more

    def _advance(self, now: datetime) -> Plan[tuple[set[str], bool]]:
        """See to a batch of schedules; answers the channels with something due, and whether there may be more."""
        found = yield from self.store.lock_due_schedules(self.registry.served(), now, self.settings.batch)
        steps = _within_reason(found, now)
        drafts = yield from see_to(self.store, self.registry.kinds, steps, now)
        if steps:
            yield from self.store.advance_schedules([advanced(schedule, step) for schedule, step in steps])
        channels = {one.channel for one in drafts if one.wake_at <= now}
        return channels, len(steps) < len(found) or len(found) >= self.settings.batch


def see_to(
    store: Store, kinds: Mapping[str, Kind], steps: Sequence[tuple[Schedule, Advance]], now: datetime
) -> Plan[list[Draft]]:
    """Write the notifications of the periods that have come, and what was missed; answers what was drafted."""
    due = [(schedule, one) for schedule, step in steps for one in step.due]
    drafts = [draft(schedule, one, kinds[schedule.kind], now) for schedule, one in due]
    ordered = sorted(drafts, key=lambda one: (one.kind, one.key))
    created = (yield from store.schedule(ordered)) if drafts else {}
    missed = [one for _, step in steps for one in step.missed]
    pairs = zip(due, drafts, strict=True)
    missed += [taken(schedule, one, now) for (schedule, one), made in pairs if (made.kind, made.key) not in created]
    if missed:
        yield from store.record_missed(missed)
    return drafts


def _within_reason(found: list[Schedule], now: datetime) -> list[tuple[Schedule, Advance]]:
    """Return what each schedule has to do, of as many as can be looked at in one go: after a long outage one schedule
    may have a hundred thousand periods behind it, and the transaction must not grow with all of them."""
    steps: list[tuple[Schedule, Advance]] = []
    looked_at = 0
    for schedule in found:
        step = advance(schedule, now)
        steps.append((schedule, step))
        looked_at += step.looked_at
        if looked_at >= MOST_AT_ONCE:
            break
    return steps
