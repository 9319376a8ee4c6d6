"""What a broker is told, when, and in which queue.

Two horizons: what is due within the broker's reach is published, what is further away is parked in the store. An
urgent id never waits behind a bulk one, nor one channel's behind another's: each has a queue of its own.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from .policy import Priority

AHEAD = timedelta(minutes=15)
"""How far ahead a broker is told at most. What is cancelled or moved later than that leaves a message behind."""
MARGIN = timedelta(seconds=30)
"""How far a delay stays below what the broker can be asked for, lest time that passes underway makes it too long."""
LEAD = timedelta(seconds=2)
"""How long before its time an id is asked for: delays are whole seconds, rounded up, and some brokers round once more.
Whoever has it in hand can wait for the moment; whoever has not can only be late."""
EARLY = LEAD + timedelta(seconds=1)
"""How long before its time a delivered id is kept in hand. What comes earlier still is published again."""
CLAIM = timedelta(seconds=30)
"""How long a promoter that has said nothing keeps what it was going to publish."""


class Publication(NamedTuple):
    """A notification the broker is to be told of, as it stood when it was taken."""

    id: int
    version: int
    channel: str
    priority: Priority
    wake_at: datetime

    @property
    def queue(self) -> str:
        return queue_name(self.channel, self.priority)

    def delay(self, now: datetime) -> timedelta:
        return max(timedelta(0), self.wake_at - LEAD - now)


def queue_name(channel: str, priority: Priority) -> str:
    """Return the name of the queue of a channel's class, such as "email.urgent"."""
    return f"{channel}.{priority.name.lower()}"


def reach(max_delay: timedelta | None) -> timedelta:
    """Return how far ahead a broker with this cap is told."""
    if max_delay is None:
        return AHEAD
    return max(timedelta(0), min(AHEAD, max_delay - MARGIN))
