"""What arrives at the channel, and how late."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from duebook import Accepted, Duebook, Message, New, Outcome, SendContext

from .subject import KIND


class Arrivals:
    """`send` is the channel; `done` is set when `count` have come. `dues`: when each is due, by its key. `late`: by how
    many seconds each came later, by the machine's clock as the channel's first act."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.dues: dict[str, datetime] = {}
        self.late: list[float] = []
        self.done = asyncio.Event()

    async def send(self, message: Message, context: SendContext) -> Outcome:
        self.late.append((datetime.now(UTC) - self.dues[context.key]).total_seconds())
        if len(self.late) == self.count:
            self.done.set()
        return Accepted()

    async def promise(self, book: Duebook, keys: Sequence[str], lead_seconds: float, rate: int) -> None:
        """Schedule each at an instant of its own, `rate` a second."""
        # Scheduling takes a part of the lead, the worker's start another.
        first = datetime.now(UTC) + timedelta(seconds=lead_seconds + self.count / 20_000)
        self.dues.update((key, first + n * timedelta(seconds=1 / rate)) for n, key in enumerate(keys))
        await book.schedule_many([New(kind=KIND, key=key, recipient="you", at=at) for key, at in self.dues.items()])
