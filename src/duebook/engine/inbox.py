"""The inbox of a lane: what the broker has delivered and nobody has claimed yet."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from ..domain.fairness import class_shares
from ..domain.policy import ChannelPolicy, Priority
from ..domain.publication import queue_name
from ..ports import Delivery, Queue
from .settings import EngineSettings


class Parcel(NamedTuple):
    """A delivery, and the class of the queue it came from."""

    priority: Priority
    delivery: Delivery


class Inbox:
    """What the broker has delivered to one lane and the lane has not claimed yet, by class.

    Of what is due it holds so much of a class that the channel is never idle while more is fetched, and no more: others
    may be idle. Of what is early it holds a batch. `relieved`: told of a queue when there is room for more of it.
    `has_news`: told when the broker is to hear what became of its messages.
    """

    def __init__(self, policy: ChannelPolicy, queue: Queue, settings: EngineSettings) -> None:
        self.channel = policy.name
        self.queue = queue
        self.relieved: Callable[[str], None] = lambda name: None
        self.has_news: Callable[[], None] = lambda: None
        self._most = min(2 * policy.concurrency, settings.batch)
        self._most_early = settings.batch
        self._waiting: dict[Priority, deque[Delivery]] = {priority: deque() for priority in Priority}
        self._early: list[tuple[datetime, int, Parcel]] = []
        self._order = count()
        self._silent: set[Priority] = set()
        self._done: list[Parcel] = []
        self._for_others: list[Parcel] = []

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))

    @property
    def silent(self) -> bool:
        """Whether a class cannot be received at present, so that the store has to be asked."""
        return bool(self._silent)

    @property
    def next_at(self) -> datetime | None:
        """When the next of the early ones is due."""
        return self._early[0][0] if self._early else None

    def name(self, priority: Priority) -> str:
        return queue_name(self.channel, priority)

    def room(self, priority: Priority) -> int:
        return min(self._most - len(self._waiting[priority]), self._most_early - len(self._early))

    def put(self, priority: Priority, deliveries: Sequence[Delivery]) -> None:
        self._silent.discard(priority)
        self._waiting[priority].extend(deliveries)

    def lose(self, priority: Priority) -> None:
        """The broker cannot be asked for this class."""
        self._silent.add(priority)

    def take(self, room: int) -> list[Parcel]:
        """Take up to `room` and the lower classes' shares: urgent overtakes, and nobody starves."""
        taken: list[Parcel] = []
        for priority, share in zip(Priority, class_shares(room), strict=True):
            waiting = self._waiting[priority]
            most = min(max(share, room - len(taken)), len(waiting))
            taken += [Parcel(priority, waiting.popleft()) for _ in range(most)]
            if most:
                self.relieved(self.name(priority))
        return taken

    def put_back(self, taken: Sequence[Parcel]) -> None:
        """Put what could not be claimed where it was."""
        for priority, delivery in reversed(taken):
            self._waiting[priority].appendleft(delivery)

    def keep(self, parcel: Parcel, until: datetime) -> None:
        """Keep one that came before its time."""
        heappush(self._early, (until, next(self._order), parcel))

    def ripen(self, now: datetime) -> None:
        """Have at hand what was early and is due by now, and leave to others what is too much."""
        while self._early and self._early[0][0] <= now:
            priority, delivery = heappop(self._early)[2]
            self._waiting[priority].append(delivery)
        for priority, waiting in self._waiting.items():
            if len(waiting) > self._most:
                self._for_others += [Parcel(priority, waiting.pop()) for _ in range(len(waiting) - self._most)]
                self.has_news()

    def finish(self, parcels: Iterable[Parcel]) -> None:
        """Be done with messages, whatever became of their ids: what is left of them is in the store."""
        self._done += parcels
        self.has_news()

    def leave(self) -> None:
        """Let others have everything."""
        self._for_others += [Parcel(priority, one) for priority, waiting in self._waiting.items() for one in waiting]
        self._for_others += [parcel for _, _, parcel in self._early]
        self._early.clear()
        for waiting in self._waiting.values():
            waiting.clear()

    async def tell_broker(self) -> None:
        """Acknowledge what is done with, and give back what others shall have.

        Raises QueueUnavailable. What was not told then comes again, when its hold is over, and does no harm.
        """
        done, self._done = self._done, []
        for_others, self._for_others = self._for_others, []
        for name, deliveries in self._by_queue(done):
            await self.queue.ack(name, deliveries)
        for name, deliveries in self._by_queue(for_others):
            await self.queue.nack(name, deliveries)

    def _by_queue(self, parcels: Iterable[Parcel]) -> Iterable[tuple[str, list[Delivery]]]:
        found: dict[str, list[Delivery]] = defaultdict(list)
        for priority, delivery in parcels:
            found[self.name(priority)].append(delivery)
        return found.items()
