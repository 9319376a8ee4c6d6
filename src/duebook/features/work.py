"""A verb at work: its plan, and what to do once it is stored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Generic

from ..ports import Plan, R


@dataclass(slots=True)
class Wakes:
    """Which channels have something due soon, and when the first of all is due, as far as the verb knows. Told to idle
    lanes and to the broker after the commit, never before: a hint about a row that nobody can see yet is worth nothing,
    and a rollback must leave no trace."""

    horizon: timedelta = timedelta(seconds=1)
    channels: dict[str, datetime] = field(default_factory=dict)
    first: datetime | None = None

    def note(self, channel: str, wake_at: datetime, now: datetime) -> None:
        if self.first is None or wake_at < self.first:
            self.first = wake_at
        if wake_at - now <= self.horizon:
            self.channels[channel] = min(wake_at, self.channels.get(channel, wake_at))


@dataclass(frozen=True, slots=True)
class Work(Generic[R]):
    """`atomic`: the plan needs a transaction of its own; otherwise its first statement is all that matters."""

    plan: Callable[[Wakes], Plan[R]]
    atomic: bool = True
