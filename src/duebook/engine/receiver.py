"""The receiver: takes what the broker delivers of one class of one channel and lays it before the lane.

A delivery is a hint. It is acknowledged when the store has the claim, for from then on the lease protects the
notification; what is lost before that is delivered again, or found by the lane's sweep of the store.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from ..domain.fairness import class_shares
from ..domain.policy import Priority
from ..domain.publication import queue_name
from ..errors import QueueUnavailable
from ..ports import Delivery, Queue

WAIT_SECONDS = 10.0


class Inbox:
    """What the broker has delivered to one lane and the lane has not claimed yet, by class."""

    def __init__(self, channel: str, queue: Queue, most: int) -> None:
        self.channel = channel
        self.queue = queue
        self._most = most
        self._waiting: dict[Priority, deque[Delivery]] = {priority: deque() for priority in Priority}
        self._silent: set[Priority] = set()

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def silent(self) -> bool:
        """Whether a class cannot be received at present, so that the store has to be asked."""
        return bool(self._silent)

    def name(self, priority: Priority) -> str:
        return queue_name(self.channel, priority)

    def room(self, priority: Priority) -> int:
        return self._most - len(self._waiting[priority])

    def put(self, priority: Priority, deliveries: Sequence[Delivery]) -> None:
        self._silent.discard(priority)
        self._waiting[priority].extend(deliveries)

    def lose(self, priority: Priority) -> None:
        """The broker cannot be asked for this class."""
        self._silent.add(priority)

    def take(self, room: int) -> list[tuple[Priority, Delivery]]:
        """Take up to `room` and the lower classes' shares: urgent overtakes, and nobody starves."""
        taken: list[tuple[Priority, Delivery]] = []
        for priority, share in zip(Priority, class_shares(room), strict=True):
            waiting = self._waiting[priority]
            most = max(share, room - len(taken))
            taken += [(priority, waiting.popleft()) for _ in range(min(most, len(waiting)))]
        return taken

    def give_back(self, taken: Sequence[tuple[Priority, Delivery]]) -> None:
        """Put what could not be claimed where it was."""
        for priority, delivery in reversed(taken):
            self._waiting[priority].appendleft(delivery)


class Receiver:
    def __init__(self, inbox: Inbox, priority: Priority, expect: Callable[[float, bool], None]) -> None:
        self.name = f"receiver of {inbox.name(priority)}"
        self.pace_seconds = 0.05
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
