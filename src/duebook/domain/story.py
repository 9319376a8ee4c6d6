"""What is known about a notification, told to people; and what is known about all of them, in numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from .digests import DigestRecord
from .lifecycle import State
from .notification import IN_DOUBT, Attempt, Notification
from .receipt import Receipt
from .recovery import Evidence
from .unread import CoverRecord


@dataclass(frozen=True, slots=True)
class IdentityRecord:
    """What is remembered of an identity, also after retention removed its notification."""

    kind: str
    key: str
    notification_id: int
    recipient: str
    state: State
    due_at: datetime
    created_at: datetime
    closed_at: datetime | None = None
    reason: str | None = None
    provider_id: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One move that was no attempt."""

    version: int
    at: datetime
    by: str
    event: str
    state: str
    next: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Story:
    """Everything on record about one identity. `pruned`: 0 whole, 1 without bodies, 2 without ledger. `cover`: what a
    reminder of unread messages spoke for. `digest`: what it is the digest of. `receipts`: what was said later, with the
    numbers of its attempts."""

    identity: IdentityRecord
    notification: Notification | None
    attempts: Sequence[Attempt] = ()
    history: Sequence[Entry] = ()
    evidence: Sequence[Evidence] = ()
    resolutions: Sequence[str | None] = ()
    pruned: int = 0
    cover: CoverRecord | None = None
    digest: DigestRecord | None = None
    receipts: Sequence[tuple[int, Receipt]] = ()

    @property
    def doubtful(self) -> Sequence[Attempt]:
        """The attempts that nobody can vouch for."""
        told = zip(self.attempts, self.resolutions, strict=True)
        return [attempt for attempt, resolution in told if resolution is None and attempt.outcome in IN_DOUBT]


@dataclass(frozen=True, slots=True)
class KindRecord:
    """A kind that some worker has served, and when it last said so."""

    kind: str
    channel: str
    priority: int
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class Backlog:
    """What an operator looks at. Instants are those of the oldest of each."""

    due: int
    oldest_due_at: datetime | None
    in_flight: int
    expired_leases: int
    uncertain: int
    oldest_uncertain_at: datetime | None
    review: int
    oldest_review_at: datetime | None
    next_wake_at: datetime | None


@dataclass(frozen=True, slots=True)
class Sight:
    """What a worker's lookout saw: when each channel and each housekeeping agent has something to do next."""

    wakes: Mapping[str, datetime | None]
    suspects: Mapping[str, datetime | None]
    lease: datetime | None
    expiry: datetime | None
    attention: datetime | None
    schedule: datetime | None
    digest: datetime | None
    evidence: datetime | None
