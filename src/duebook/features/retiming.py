"""Local promises under newer zone rules: what was promised for nine o'clock stays at nine o'clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..domain import zones
from ..domain.notification import Notification
from ..domain.retiming import Retimed, retimed
from ..domain.schedules import following
from ..ports import Plan
from .context import Context
from .work import Wakes, Work

BATCH = 500


@dataclass(frozen=True, slots=True)
class RetimeBatch:
    """What newer rules mean for one batch. `moved`: what is due at another instant now. `looked_at`: how many were
    compared. `last`: where the next batch starts; None after the last one."""

    moved: Sequence[Retimed]
    looked_at: int
    last: int | None


@dataclass(frozen=True, slots=True)
class ScheduleBatch:
    """The same for recurring schedules. `moved`: by name, when it was due next, and when it is."""

    moved: Sequence[tuple[str, datetime | None, datetime | None]]
    looked_at: int
    last: str | None


class Retiming:
    """Each method returns Work for one bounded batch; `retime` in app/ goes through all of them."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def notifications(self, after: int = 0, *, dry_run: bool = False) -> Work[RetimeBatch]:
        """Resolve a batch of local promises that are still to come anew, where they were made under other rules.

        What nobody has begun moves with its wall time; with `dry_run` it is only told. What is unchanged is noted as
        such, so that the next run has less to compare.
        """

        def plan(wakes: Wakes) -> Plan[RetimeBatch]:
            store, now, tzdata = self.context.store, self.context.clock.now(), zones.version()
            found = yield from store.lock_retimable(tzdata, after, now, BATCH)
            moved = [one for n in found if (one := retimed(n, now, self.context.by)) is not None]
            if not dry_run:
                yield from self._store(found, moved, tzdata)
            return RetimeBatch(moved, len(found), found[-1].id if len(found) == BATCH else None)

        return Work(plan)

    def schedules(self, after: str = "", *, dry_run: bool = False) -> Work[ScheduleBatch]:
        """Compute the next instant of a batch of schedules anew; none is due again for a period that is over."""

        def plan(wakes: Wakes) -> Plan[ScheduleBatch]:
            store = self.context.store
            page = yield from store.read_schedules(after, None, None, BATCH)
            locked = (yield from store.lock_schedules([one.name for one in page])) if page else {}
            waiting = [one for one in locked.values() if one.next_at is not None]
            fresh = [(one, following(one, one.cursor_at)) for one in waiting]
            moved = [(one, next_at) for one, next_at in fresh if next_at != one.next_at]
            if moved and not dry_run:
                yield from store.advance_schedules([replace(one, next_at=next_at) for one, next_at in moved])
            told = [(one.name, one.next_at, next_at) for one, next_at in moved]
            return ScheduleBatch(told, len(page), page[-1].name if len(page) == BATCH else None)

        return Work(plan)

    def _store(self, found: Sequence[Notification], moved: Sequence[Retimed], tzdata: str) -> Plan[None]:
        if moved:
            yield from self.context.store.apply([one.move for one in moved])
        elsewhere = {one.move.id for one in moved}
        same = [n.id for n in found if n.id not in elsewhere]
        if same:
            yield from self.context.store.confirm_rules(same, tzdata)
