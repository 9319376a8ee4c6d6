"""All batches of a retiming, one after the other, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from ..domain.retiming import Retimed
from ..features.context import Context
from ..features.retiming import Retiming
from .twins import AsyncRunner


@dataclass(slots=True)
class Retimings:
    """What newer zone rules moved. `schedules`: by name, when it was due next, and when it is."""

    notifications: list[Retimed] = field(default_factory=list)
    schedules: list[tuple[str, datetime | None, datetime | None]] = field(default_factory=list)
    looked_at: int = 0


async def retime(
    context: Context,
    runner: AsyncRunner,
    *,
    dry_run: bool = False,
    watch: Callable[[int], None] = lambda number: None,
) -> Retimings:
    """Go through everything that is still to come; `watch` hears how many were looked at since it was last called."""
    room, done = Retiming(context), Retimings()
    after: int | None = 0
    while after is not None:
        batch = await runner.do(room.notifications(after, dry_run=dry_run))
        done.notifications += batch.moved
        done.looked_at += batch.looked_at
        watch(batch.looked_at)
        after = batch.last
    name: str | None = ""
    while name is not None:
        page = await runner.do(room.schedules(name, dry_run=dry_run))
        done.schedules += page.moved
        done.looked_at += page.looked_at
        watch(page.looked_at)
        name = page.last
    return done
