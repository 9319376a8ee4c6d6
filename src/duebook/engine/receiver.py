"""The receiver: takes what the broker delivers of one class of one channel and lays it into the lane's inbox.

A delivery is a hint. What is lost before it is claimed is delivered again, or found by the lane's sweep of the store.
"""

from __future__ import annotations

from collections.abc import Callable

from ..domain.policy import Priority
from ..errors import QueueUnavailable
from .inbox import Inbox

WAIT_SECONDS = 10.0


def receiver_name(queue: str) -> str:
    return f"receiver of {queue}"


class Receiver:
    def __init__(self, inbox: Inbox, priority: Priority, expect: Callable[[float, bool], None]) -> None:
        self.name = receiver_name(inbox.name(priority))
        # It is roused when there is room again.
        self.pace_seconds = 1.0
        self.inbox = inbox
        self.priority = priority
        self._expect = expect

    async def step(self) -> bool:
        room = self.inbox.room(self.priority)
        if room <= 0:
            return False
        try:
            found = await self.inbox.queue.receive(self.inbox.name(self.priority), room, WAIT_SECONDS)
        except QueueUnavailable:
            self.inbox.lose(self.priority)
            self._expect(0.0, False)
            raise
        self.inbox.put(self.priority, found)
        if found:
            self._expect(0.0, False)
        return True
