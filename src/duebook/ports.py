"""Everything duebook asks of the outside, on one page. Read this second, after domain/lifecycle.py.

The engine and the application await these and nothing else. A test or a simulation that implements them has
duebook whole.

The store is asked by *plans*: a verb of the store is a generator that yields statements and receives their rows, and
does no I/O. Whoever holds a connection runs it: the worker's pool, a thread with an SQLite file, or the caller's own
transaction, synchronous or not. So there is one implementation of each verb, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from .domain.attention import Attention
from .domain.audit_time import DeadlineRecord, ScheduleRecord
from .domain.audited import LedgerOwner, Record, RememberedName
from .domain.control import Control
from .domain.deadlines import Deadline
from .domain.decision import Decision, DigestItem, Due
from .domain.digests import Closed, Closing, Cursor, DigestRecord, ItemRecord, NewItem, Selection, Weighed
from .domain.draft import Draft
from .domain.lifecycle import State
from .domain.message import Message
from .domain.missed import Missed
from .domain.notification import Attempt, Intent, Move, Notification
from .domain.outcome import Outcome
from .domain.policy import AttentionLimit, ChannelPolicy, Kind
from .domain.receipt import Receipt, Referred, Suppression, SuppressionRecord
from .domain.recovery import Doubt, Evidence
from .domain.schedules import Schedule
from .domain.story import Backlog, IdentityRecord, KindRecord, Sight, Story
from .domain.unread import About, ReadUpTo, Seen, Watermark

R = TypeVar("R")


class Statement(NamedTuple):
    """A verb of the SQL folder and its parameters. Instants are text, many rows are one JSON text."""

    verb: str
    parameters: Mapping[str, str | int | None]


Rows = Sequence[Sequence[Any]]
Plan = Generator[Statement, Rows, R]


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


class NotificationStore(Protocol):
    """Promises, their ledger, and what steers the workers."""

    def schedule(self, drafts: Sequence[Draft]) -> Plan[dict[tuple[str, str], int]]: ...
    def read_identities(self, names: Sequence[tuple[str, str]]) -> Plan[dict[tuple[str, str], IdentityRecord]]: ...
    def read(self, kind: str, key: str) -> Plan[Notification | None]: ...
    def lock(self, kind: str, key: str) -> Plan[Notification | None]: ...
    def lock_groups(self, groups: Collection[str], limit: int) -> Plan[list[Notification]]: ...
    def lock_recipient(self, recipient: str) -> Plan[list[Notification]]: ...
    def search(self, filters: Mapping[str, str | None], before: int, limit: int) -> Plan[list[Notification]]: ...
    def search_recipient(
        self, recipient: str, filters: Mapping[str, str | None], before: int, limit: int
    ) -> Plan[list[Notification]]: ...
    def search_address(self, address: str, limit: int) -> Plan[list[Notification]]: ...
    def read_story(self, kind: str, key: str) -> Plan[Story | None]: ...

    def claim(
        self,
        channel: str,
        kinds: Collection[str],
        limits: Sequence[int],
        alone: int,
        floor: datetime,
        now: datetime,
        lease_until: datetime,
        holder: str,
    ) -> Plan[list[Notification]]: ...
    def peek(self, channel: str, kinds: Collection[str], floor: datetime) -> Plan[datetime | None]: ...
    def look(self, channels: Collection[str], kinds: Collection[str]) -> Plan[Sight]: ...
    def begin(self, channel: str, intents: Sequence[Intent], now: datetime) -> Plan[set[int]]: ...
    def apply(self, moves: Sequence[Move]) -> Plan[dict[int, State]]:
        """Make moves; answers the new state of each row whose version was still the one the move was made from."""
        ...

    def extend(self, held: Sequence[tuple[int, int]], now: datetime, lease_until: datetime) -> Plan[set[int]]: ...
    def request_cancel(self, wishes: Mapping[int, str]) -> Plan[None]: ...

    def lock_expired_leases(self, before: datetime, limit: int) -> Plan[list[Notification]]: ...
    def lock_worthless(self, now: datetime, limit: int) -> Plan[list[Notification]]: ...
    def lock_uncertain(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Notification]]: ...
    def lock_evidenced(self, kinds: Collection[str], limit: int) -> Plan[list[Notification]]: ...
    def read_doubtful_evidence(self, ids: Sequence[int]) -> Plan[dict[int, list[Evidence]]]: ...
    def read_doubtful_attempts(self, ids: Sequence[int]) -> Plan[list[Doubt]]: ...
    def record_evidence(self, evidence: Sequence[Evidence]) -> Plan[None]: ...
    def consider_evidence(self, ids: Sequence[int], resolved: Sequence[Evidence], now: datetime) -> Plan[None]: ...
    def postpone(self, looks: Sequence[tuple[int, int, datetime]]) -> Plan[None]: ...

    def read_controls(self) -> Plan[list[Control]]: ...
    def set_pause(self, scope: str, paused: bool, reason: str, by: str, now: datetime) -> Plan[None]: ...
    def set_mode(self, scope: str, mode: str, reason: str, by: str, now: datetime) -> Plan[None]: ...
    def throttle(self, channel: str, until: datetime, reason: str, by: str, now: datetime) -> Plan[None]: ...
    def take_probe(self, channel: str, holder: str, now: datetime, until: datetime) -> Plan[bool]:
        """Take the one send that tries out a channel whose throttle has run out; says whether this worker has it."""
        ...

    def relieve(self, channel: str, now: datetime) -> Plan[None]: ...
    def take_rate(
        self, channel: str, wanted: int, rate: float, by: str, now: datetime
    ) -> Plan[tuple[int, datetime]]: ...
    def register_kinds(self, kinds: Sequence[Kind], now: datetime) -> Plan[None]: ...
    def read_kinds(self) -> Plan[list[KindRecord]]: ...
    def read_backlog(self, now: datetime) -> Plan[Backlog]: ...
    def count_states(self) -> Plan[list[tuple[str, str, State, int, datetime]]]: ...
    def read_lateness(self, since: datetime, limit: int) -> Plan[list[timedelta]]: ...

    def audit_identities(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[RememberedName]]: ...
    def audit_ledger(self, after: int, until: int | None, limit: int) -> Plan[list[LedgerOwner]]: ...
    def audit_notifications(self, after: int, until: int | None, limit: int) -> Plan[list[Record]]: ...
    def audit_rates(self) -> Plan[dict[str, datetime]]: ...
    def audit_size(self) -> Plan[int]: ...

    def prune(self, kind: Kind, now: datetime, limit: int) -> Plan[int]: ...
    def prune_identities(self, kind: Kind, now: datetime, limit: int) -> Plan[int]: ...
    def forget(self, recipient: str, alias: str) -> Plan[int]: ...
    def notify(self, channel: str) -> Plan[None]: ...
    def read_schema(self) -> Plan[int]: ...


class ScheduleStore(Protocol):
    """Recurring schedules, and what was missed."""

    def put_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]: ...
    def lock_schedules(self, names: Collection[str]) -> Plan[dict[str, Schedule]]: ...
    def lock_due_schedules(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Schedule]]: ...
    def read_schedules(
        self, after: str, kind: str | None, recipient: str | None, limit: int
    ) -> Plan[list[Schedule]]: ...
    def change_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        """Write schedules as they are now; answers those whose version was still the one given."""
        ...

    def advance_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        """Write only where schedules stand in time, fenced in the same way."""
        ...

    def delete_schedule(self, name: str) -> Plan[bool]: ...
    def audit_schedules(self, after: str, until: str | None, limit: int) -> Plan[list[ScheduleRecord]]: ...
    def record_missed(self, missed: Sequence[Missed]) -> Plan[None]: ...
    def read_missed(self, filters: Mapping[str, str | None], before: int, limit: int) -> Plan[list[tuple[int, Missed]]]:
        """Answer a page, newest first: each with its place, which the next page is asked `before`."""
        ...


class DeadlineStore(Protocol):
    """Deadlines with their terms."""

    def put_deadlines(self, deadlines: Sequence[Deadline]) -> Plan[None]: ...
    def lock_deadlines(self, names: Collection[tuple[str, str]]) -> Plan[dict[tuple[str, str], Deadline]]: ...
    def read_deadlines(self, names: Collection[tuple[str, str]]) -> Plan[dict[tuple[str, str], Deadline]]: ...
    def list_deadlines(
        self, after: tuple[str, str], filters: Mapping[str, str | None], limit: int
    ) -> Plan[list[Deadline]]: ...
    def change_deadlines(self, deadlines: Sequence[Deadline]) -> Plan[None]: ...
    def audit_deadlines(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[DeadlineRecord]]: ...


class UnreadStore(Protocol):
    """Messages with their places, and how far each recipient has read."""

    def post_message(
        self, kind: str, conversation: str, message: str, author: str, position: int | None, now: datetime
    ) -> Plan[int | None]:
        """Give a new message the next position of its conversation, or the one stated; None where it has one."""
        ...

    def delete_message(self, kind: str, conversation: str, message: str, now: datetime) -> Plan[bool]: ...
    def mark_read(self, reading: ReadUpTo, group: str, reason: str, by: str, now: datetime) -> Plan[int | None]:
        """Move a watermark and withdraw what is pending up to there; answers where it is, or None if it was there."""
        ...

    def read_unread(self, about: Collection[About]) -> Plan[dict[int, Seen]]: ...
    def read_watermark(self, kind: str, conversation: str, recipient: str) -> Plan[Watermark | None]: ...


class DigestStore(Protocol):
    """What is gathered for digests, how far periods are closed, and what each digest froze."""

    def add_items(self, items: Sequence[NewItem]) -> Plan[set[tuple[str, str, str]]]: ...
    def lock_due_cursors(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Cursor]]: ...
    def read_cursors(
        self, until: datetime, kind: str | None, recipient: str | None, limit: int
    ) -> Plan[list[Cursor]]: ...
    def take_items(self, closings: Sequence[Closing], now: datetime) -> Plan[dict[tuple[str, str], Weighed]]:
        """Freeze what belongs to periods that close; answers by kind and recipient, where there was anything."""
        ...

    def put_digests(self, digests: Sequence[Closed], now: datetime) -> Plan[None]: ...
    def move_cursors(self, cursors: Sequence[Cursor]) -> Plan[None]: ...
    def read_selections(self, ids: Sequence[int]) -> Plan[dict[int, Selection]]: ...
    def find_digests(
        self, kind: str | None, recipient: str | None, before: int, limit: int
    ) -> Plan[list[DigestRecord]]: ...
    def read_digest(self, kind: str, recipient: str, label: str) -> Plan[DigestRecord | None]: ...
    def read_item(self, kind: str, recipient: str, item: str) -> Plan[ItemRecord | None]: ...
    def read_waiting_items(self, kind: str, recipient: str, limit: int) -> Plan[list[DigestItem]]: ...
    def count_undelivered(self) -> Plan[dict[str, tuple[int, int]]]: ...


class AttentionStore(Protocol):
    """How much each recipient gets, where kinds share a limit."""

    def read_attention(
        self, wanted: Mapping[int, tuple[str, AttentionLimit]], now: datetime
    ) -> Plan[dict[int, Attention]]: ...


class ReceiptStore(Protocol):
    """What providers say later, and addresses that are written to no more."""

    def put_receipts(self, receipts: Sequence[Receipt], now: datetime) -> Plan[set[tuple[str, str]]]: ...
    def lock_unmatched_receipts(self, since: datetime, limit: int) -> Plan[list[Receipt]]: ...
    def read_referred_attempts(self, ids: Sequence[int], provider_ids: Sequence[str]) -> Plan[list[Referred]]: ...
    def match_receipts(self, matches: Sequence[tuple[Receipt, Referred]]) -> Plan[None]: ...
    def read_receipts(self, notification_id: int) -> Plan[list[tuple[int, Receipt]]]: ...
    def suppress(self, several: Sequence[Suppression], by: str, now: datetime) -> Plan[int]: ...
    def unsuppress(self, channel: str, address: str, scope: str | None) -> Plan[int]: ...
    def read_suppressed(self, channel: str, intents: Sequence[Intent]) -> Plan[dict[int, str]]: ...
    def search_suppressions(
        self, filters: Mapping[str, str | None], after: tuple[str, str, str], limit: int
    ) -> Plan[list[SuppressionRecord]]: ...


class TimeStore(Protocol):
    """What is to come, and what new zone rules mean for it."""

    def count_upcoming(self, start: datetime, end: datetime) -> Plan[list[tuple[datetime, str, int]]]: ...
    def lock_retimable(self, tzdata: str, after: int, now: datetime, limit: int) -> Plan[list[Notification]]: ...
    def count_retimable(self, tzdata: str, now: datetime) -> Plan[int]: ...
    def confirm_rules(self, ids: Sequence[int], tzdata: str) -> Plan[None]: ...
    def read_incarnation(self) -> Plan[tuple[str, datetime] | None]: ...
    def write_incarnation(self, identity: str, now: datetime) -> Plan[None]: ...


class Store(
    NotificationStore,
    ScheduleStore,
    DeadlineStore,
    UnreadStore,
    DigestStore,
    AttentionStore,
    ReceiptStore,
    TimeStore,
    Protocol,
):
    """The verbs of the store, as plans. `lock_…` verbs hold their rows until the transaction ends."""


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
    "Attempt", "Channel", "Clock", "Database", "Draw", "Finished", "Handler", "Plan", "Rows", "SendContext",
    "Statement", "Store", "Tasks",
]  # fmt: skip
