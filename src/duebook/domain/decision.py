"""What a handler is given when a notification is due, and what it may answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ..errors import InvalidInput
from .message import Message

if TYPE_CHECKING:
    from .people import Person


@dataclass(frozen=True, slots=True)
class DeadlineStep:
    """Which reminder of which deadline this is. `day`, `wall`, `zone`: the date as it stands now, not as it was when
    the reminder was scheduled. `days`: how many before the date; negative for one after it."""

    deadline: str
    day: date
    wall: str
    zone: str
    days: int


@dataclass(frozen=True, slots=True)
class Unread:
    """What somebody has not read when the reminder fires. `message`: the one the reminder is about. `total`: how many
    messages of the conversation are unread; `new`: how many of them no earlier reminder has named."""

    conversation: str
    message: str
    total: int
    new: int


@dataclass(frozen=True, slots=True)
class DigestItem:
    """One item of a digest. `read`: of an unread message, that it has been read since the digest was closed."""

    item: str
    ready_at: datetime
    score: float
    data: Mapping[str, Any]
    read: bool = False


@dataclass(frozen=True, slots=True)
class Digest:
    """What a digest tells: its items in their order, the same on every attempt.

    `label`: its period; `first_label`, `periods`: where it stands for several, the oldest and how many. `cutoff_at`:
    the end of the period. `total`: how many items were eligible. `late`: how many of its items had missed their own
    period.
    """

    label: str
    first_label: str
    periods: int
    cutoff_at: datetime
    items: Sequence[DigestItem]
    total: int
    late: int

    @property
    def more(self) -> int:
        """How many eligible items did not fit."""
        return self.total - len(self.items)


@dataclass(frozen=True, slots=True)
class Due:
    """A notification whose time has come. Read current facts with it; it carries only what was scheduled.

    `number` is the attempt about to be made. `wall` and `zone` are those of a local promise. `in_doubt`: an
    earlier attempt may have reached the recipient, so a message answered now is not used; the earlier bytes are.
    `step`: of a deadline's reminder, the deadline as it stands now; `data` is then the deadline's.
    `unread`: of a reminder of an unread message, how much is unread now.
    `digest`: of a digest, what it froze. `channel`: over which channel the message would go. `person`: what is known
    about the recipient, if anything.
    """

    kind: str
    key: str
    recipient: str
    data: Mapping[str, Any]
    due_at: datetime
    now: datetime
    number: int
    tenant: str | None = None
    wall: datetime | None = None
    zone: str | None = None
    in_doubt: bool = False
    step: DeadlineStep | None = None
    unread: Unread | None = None
    digest: Digest | None = None
    channel: str = ""
    person: Person | None = None

    @property
    def lateness(self) -> timedelta:
        """How long after its promised instant this is."""
        return self.now - self.due_at


@dataclass(frozen=True, slots=True)
class Skip:
    """Not needed any more; closes the notification as skipped, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Defer:
    """Not now. Without `until` it is asked again after a minute; `uses_attempt` counts it against the budget."""

    reason: str
    until: datetime | None = None
    uses_attempt: bool = False

    def __post_init__(self) -> None:
        if self.until is not None and self.until.tzinfo is None:
            raise InvalidInput("until", "has no time zone; use an aware datetime")


@dataclass(frozen=True, slots=True)
class Cancel:
    """Never; closes the notification as cancelled, with the reason."""

    reason: str


@dataclass(frozen=True, slots=True)
class Reject:
    """It can never be sent as it is; goes to review, where a person may change the facts and redrive it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Over another channel; the notification goes to that channel's lane, uses no attempt, and is asked about there."""

    channel: str
    reason: str


Decision = Message | Skip | Defer | Cancel | Reject | Elsewhere
