"""The inbox of a lane: what the broker has delivered and nobody has claimed yet."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..domain.fairness import class_shares
from ..domain.policy import Priority
from ..domain.publication import queue_name
from ..ports import Delivery, Queue


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
