"""Everything duebook asks of the outside. Read this second, after domain/lifecycle.py; the store has a page of its own.

The engine and the application await these and nothing else. A test or a simulation that implements them has
duebook whole.

The store is asked by *plans*: a verb of the store is a generator that yields statements and receives their rows, and
does no I/O. Whoever holds a connection runs it: the worker's pool, a thread with an SQLite file, or the caller's own
transaction, synchronous or not. So there is one implementation of each verb, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from ..domain.decision import Decision, Due
from ..domain.message import Message
from ..domain.outcome import Outcome
from ..domain.policy import ChannelPolicy
from .plan import Plan, R, Rows, Statement
from .queue import Delivery, Queue, QueueHealth
from .store import Store


class Database(Protocol):
    """Runs plans."""

    async def run(self, plan: Plan[R]) -> R:
        """Run a plan in one transaction. Raises Busy, StoreUnavailable or SchemaMismatch; then nothing is stored,
        except that after StoreUnavailable the last commit may have happened."""
        ...

    async def ask(self, plan: Plan[R]) -> R:
        """Run a plan of one statement, or of statements that need not be atomic."""
        ...

    async def time(self) -> datetime:
        """Return the database's own time. Only leases of the dead are judged by it."""
        ...


@dataclass(slots=True)
class Incarnation:
    """Which database this is. `known`: what it may call itself, unless it was restored or another server took over.
    `identity`: what it is called from now on, once it was `adopted`."""

    known: frozenset[str]
    identity: str
    adopted: bool = False


@dataclass(frozen=True, slots=True)
class SendContext:
    """What a channel may know about an attempt besides the message.

    `now`: when the attempt begins. `deadline_seconds`: how long it may take. `rendered_at`: when the message was
    frozen; the same for every repeat of the same bytes, so a Date header built from it repeats too. `reference`: short
    and opaque, for the metadata a provider sends back with its receipts; the same on every attempt.
    """

    kind: str
    key: str
    recipient: str
    number: int
    idempotency_key: str
    message_id: str
    now: datetime
    deadline_seconds: float
    rendered_at: datetime
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Sought:
    """An attempt nobody knows the end of, as a provider is asked about it. `message`: the very one that was sent."""

    message: Message
    number: int
    idempotency_key: str
    message_id: str
    reference: str
    provider_id: str | None
    begun_at: datetime
    now: datetime


@dataclass(frozen=True, slots=True)
class Found:
    """What a look-up answered. "absent" is said only by a provider whose look-up would show a message it has taken."""

    says: Literal["accepted", "absent", "unknown"]
    provider_id: str | None = None
    detail: str = ""


@runtime_checkable
class LooksUp(Protocol):
    """A channel whose provider can be asked afterwards. It only reads, and raises nothing that it can name."""

    def look_up(self, sought: Sought) -> Awaitable[Found]: ...


class Channel(Protocol):
    """One way to reach people.

    `send` makes one attempt for one recipient and answers what is known about it. It never retries by itself.
    It may raise: an exception is recorded as Uncertain, so raise only where that is the truth.
    """

    policy: ChannelPolicy

    def send(self, message: Message, context: SendContext) -> Awaitable[Outcome]: ...

    async def close(self) -> None: ...


Handler = Callable[[Due], Awaitable[Decision]]


class Clock(Protocol):
    """Time, as an argument to everything else."""

    def now(self) -> datetime:
        """Return the present in UTC; on PostgreSQL, corrected by the database's clock so that skewed hosts agree."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never step back. Leases are watched by it."""
        ...


class Overran(TimeoutError):
    """A piece of work was given up on because its time was over; not a timeout of its own."""


class Finished(NamedTuple):
    """A piece of work that ended: its result, or the exception it raised (Overran when its time was over)."""

    ticket: Any
    result: Any
    error: BaseException | None


class Tasks(Protocol):
    """Runs pieces of work beside an agent, and lets it wait for the first that ends."""

    def start(self, ticket: Any, work: Coroutine[Any, Any, Any], seconds: float) -> None:
        """Start `work`; after `seconds` it is cancelled and ends with Overran."""
        ...

    async def wait(self, seconds: float) -> list[Finished]:
        """Return what has ended as soon as anything has, or after `seconds`, or when somebody wakes the agent."""
        ...

    @property
    def stopping(self) -> bool:
        """Whether the agent has been asked to finish."""
        ...


Draw = Callable[[], float]
"""A draw from 0 to 1, for jitter."""

__all__ = [
    "Channel", "Clock", "Database", "Delivery", "Draw", "Finished", "Found", "Handler", "Incarnation", "LooksUp",
    "Overran", "Plan", "Queue", "QueueHealth", "R", "Rows", "SendContext", "Sought", "Statement", "Store", "Tasks",
]  # fmt: skip
