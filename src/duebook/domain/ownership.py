"""What owners and reviewers may do with a notification, and the true answer when it is too late."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from .lifecycle import CLOSED, Event, State
from .notification import Movable, Move, Notification, move
from .walltime import Promise

Result = Literal["done", "too_late", "already_closed", "not_found", "not_in_review", "not_uncertain", "refused"]
Ruling = Literal["sent", "resend", "drop"]
IfExists = Literal["keep", "reschedule", "rearm", "raise"]


@dataclass(frozen=True, slots=True)
class Answer:
    """The truth about an owner's wish. `state` is where the notification is after it; truthy when it was done."""

    result: Result
    state: State | None = None
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.result == "done"


@dataclass(frozen=True, slots=True)
class Scheduled:
    """The answer to schedule: `created`, or the one that exists, with its state and time. Never silence."""

    id: int | None
    kind: str
    key: str
    created: bool
    state: State
    due_at: datetime
    changed: bool = field(default=False, compare=False)

    @property
    def existing(self) -> bool:
        return not self.created


NOT_FOUND = Answer("not_found")


def refusal(n: Notification) -> Answer:
    """Return why the owner's wish comes too late."""
    if n.state in CLOSED:
        return Answer("already_closed", n.state, n.reason)
    return Answer("too_late", n.state, n.reason)


def cancel(n: Notification, reason: str, now: datetime, by: str) -> Move | Answer:
    """Owners win until begin. Afterwards the answer is too_late and the wish is kept for every way back."""
    if n.state in (State.SCHEDULED, State.CLAIMED, State.REVIEW):
        return move(n, Event.CANCEL, now, by, reason=reason)
    return refusal(n)


def reschedule(
    n: Notification, promise: Promise, expires_at: datetime | None, now: datetime, by: str, data: str | None = None
) -> Move | Answer:
    if n.state in (State.SCHEDULED, State.CLAIMED):
        return _anew(n, Event.RESCHEDULE, promise, expires_at, now, by, "rescheduled by its owner", data)
    return refusal(n)


def rearm(
    n: Notification, promise: Promise, expires_at: datetime | None, data: str | None, now: datetime, by: str
) -> Move | Answer:
    """A cancelled notification may be scheduled again, with new data, where nothing ever reached the wire."""
    if n.state is State.CANCELLED and n.number == 0:
        return _anew(n, Event.REARM, promise, expires_at, now, by, "scheduled again by its owner", data)
    return reschedule(n, promise, expires_at, now, by, data)


def _anew(
    n: Notification,
    event: Event,
    promise: Promise,
    expires_at: datetime | None,
    now: datetime,
    by: str,
    reason: str,
    data: str | None,
) -> Move:
    wake_at = max(promise.due_at, now)
    return move(
        n, event, now, by, reason=reason, wake_at=wake_at, promise=promise, expires_at=expires_at,
        budget_used=0, data=data,
    )  # fmt: skip


def send_now(n: Notification, now: datetime, by: str) -> Move | Answer:
    """Bring the next look forward to now; the promised instant stays on record."""
    if n.state is State.SCHEDULED:
        return move(n, Event.RESCHEDULE, now, by, reason="sent now on its owner's wish", wake_at=now)
    return refusal(n)


def redrive(
    n: Notification,
    reason: str,
    now: datetime,
    by: str,
    *,
    data: str | None = None,
    force: bool = False,
    recipient_changed_at: datetime | None = None,
) -> Move | Answer:
    """Send one from review back: the same identity and idempotency key, a fresh budget.

    What was refused would be refused again, so something has to be new since: its data, its recipient's record, or
    else whoever sends it back says that they know better.
    """
    if n.state is not State.REVIEW:
        return Answer("not_in_review", n.state, n.reason)
    corrected = recipient_changed_at is not None and recipient_changed_at > n.moved_at
    if is_refused(n) and data is None and not corrected and not force:
        fix = "change its data, its recipient's record, or force it"
        return Answer("refused", n.state, f"it was refused as it is: {n.reason}; {fix}")
    return move(n, Event.REDRIVE, now, by, reason=reason, wake_at=now, budget_used=0, data=data)


def is_refused(n: Notification) -> bool:
    """Say whether one in review was refused after it had been tried."""
    return n.state is State.REVIEW and n.event is Event.REJECT and n.number > 0


def drop(n: Notification, reason: str, now: datetime, by: str) -> Move | Answer:
    if n.state is State.REVIEW:
        return move(n, Event.DROP, now, by, reason=reason)
    return Answer("not_in_review", n.state, n.reason)


def rule(n: Notification, ruling: Ruling, reason: str, now: datetime, by: str) -> Move | Answer:
    """Apply a person's ruling to an uncertain one. It permits or ends; it proves nothing, so the doubt stays."""
    if n.state is not State.UNCERTAIN:
        return Answer("not_uncertain", n.state, n.reason)
    if ruling == "sent":
        return move(n, Event.RESOLVE_SENT, now, by, reason=reason, basis="ruled")
    if ruling == "resend" and n.cancel_request is not None:
        return Answer("refused", n.state, f"its owner has withdrawn it: {n.cancel_request}")
    if ruling == "resend":
        return move(n, Event.RESOLVE_RESEND, now, by, reason=reason, wake_at=now, permit="ruled", budget_used=0)
    return move(n, Event.RESOLVE_DROP, now, by, reason=reason)


class Withdrawn(Movable, Protocol):
    """A notification whose owner may have asked to cancel it when it was too late."""

    @property
    def cancel_request(self) -> str | None: ...


def honour(n: Withdrawn, now: datetime) -> Move | None:
    """Return the cancel that was asked for while it was too late, now that the notification is back in hand."""
    if n.state in (State.SCHEDULED, State.REVIEW) and n.cancel_request is not None:
        return move(n, Event.CANCEL, now, "owner", reason=n.cancel_request)
    return None
