"""A notification, and the one way to change it: a Move, made from the state and version that were read.

These are named tuples because a worker makes several of each a thousand times a second.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

from .lifecycle import CLOSED, NEEDS_CERTAINTY, Event, State, step
from .text import clean
from .walltime import Promise

Basis = Literal["reported", "evidence", "ruled", "assumed"]
"""On what grounds a notification is recorded as accepted."""

Permit = Literal["key", "ruled"]
"""On what grounds a message in doubt may go out again: the provider's key window, or a person's ruling."""


class Notification(NamedTuple):
    """One promise, as its row says. Only the instants that mean something in its state are set.

    `number`: attempts begun, never falling. `budget_used` and `age_from`, the first look at it, start afresh on
    redrive. `doubt`: attempts begun that no evidence has resolved. `wanted`: the state it would be in but for that
    doubt. `alone`: a worker died holding it, so it is next claimed by itself.
    """

    id: int
    kind: str
    key: str
    recipient: str
    tenant: str | None
    namespace: str
    channel: str
    priority: int
    group: str | None
    data: str
    due_at: datetime
    wall: str | None
    zone: str | None
    rule: str | None
    tzdata: str | None
    expires_at: datetime | None
    state: State
    event: Event
    version: int
    wake_at: datetime | None
    lease_until: datetime | None
    attention_at: datetime | None
    review_at: datetime | None
    closed_at: datetime | None
    holder: str | None
    alone: bool
    number: int
    budget_used: int
    age_from: datetime | None
    doubt: int
    permit: Permit | None
    reason: str | None
    basis: Basis | None
    wanted: State | None
    cancel_request: str | None
    message: str | None
    rendered_at: datetime | None
    begun_at: datetime | None
    first_begun_at: datetime | None
    provider_id: str | None
    created_at: datetime
    moved_at: datetime


IN_DOUBT = frozenset({"uncertain", "lost"})
"""Outcomes of an attempt after which nobody knows whether the provider took it."""


class Attempt(NamedTuple):
    """The ledger entry of one attempt, written when it is settled. `outcome` "lost": its worker never reported."""

    notification_id: int
    number: int
    channel: str
    begun_at: datetime
    ended_at: datetime
    holder: str
    outcome: Literal["accepted", "rejected", "retry", "throttled", "uncertain", "lost"]
    reason: str | None = None
    phase: str | None = None
    provider_id: str | None = None
    message_hash: str | None = None


class Move(NamedTuple):
    """One legal move, fenced by the version it was made from. None means "leave as it is", except for the instants
    of a state, its reason, basis and wanted state, which each move states anew. `discard`: the message goes."""

    id: int
    version: int
    state: State
    event: Event
    next: State
    at: datetime
    by: str
    wake_at: datetime | None = None
    attention_at: datetime | None = None
    review_at: datetime | None = None
    closed_at: datetime | None = None
    reason: str | None = None
    basis: Basis | None = None
    wanted: State | None = None
    permit: Permit | None = None
    budget_used: int | None = None
    age_from: datetime | None = None
    doubt: int | None = None
    alone: bool = False
    channel: str | None = None
    provider_id: str | None = None
    promise: Promise | None = None
    expires_at: datetime | None = None
    data: str | None = None
    message: str | None = None
    discard: bool = False
    attempt: Attempt | None = None


class Covering(NamedTuple):
    """What a notification speaks for when it begins; fenced by the version of the watermark it was decided by."""

    conversation: str
    recipient: str
    version: int
    after: int
    to: int
    total: int
    fresh: int


class Taking(NamedTuple):
    """Whose attention a notification takes when it begins, and under which limit; fenced by the version it was decided
    by."""

    scope: str
    recipient: str
    version: int


class Intent(NamedTuple):
    """What is recorded before the wire is touched: this message, as this attempt.

    Recorded, it is the notification in `sending`: `version` is then the one the outcome must be fenced by.
    """

    notification: Notification
    id: int
    version: int
    number: int
    at: datetime
    message: str
    rendered_at: datetime
    first_begun_at: datetime
    holder: str
    doubt: int
    cover: Covering | None = None
    taking: Taking | None = None
    address: str | None = None
    state: State = State.SENDING


def patient_from(n: Notification, now: datetime) -> datetime:
    """Return since when retries and deferrals are counted: the first look, not the promised instant, so that an outage
    of the workers does not use up anybody's patience."""
    return n.age_from or now


class Movable(Protocol):
    """What a move must know of where it starts: a notification, or an intent on the wire."""

    @property
    def id(self) -> int: ...
    @property
    def version(self) -> int: ...
    @property
    def state(self) -> State: ...
    @property
    def doubt(self) -> int: ...


def move(n: Movable, event: Event, at: datetime, by: str, **changes: Any) -> Move:
    """Return the move `event` makes from where `n` is; raises IllegalMove where there is none.

    A move that would record "not sent" while an attempt is unresolved becomes `doubt`: the wanted end is kept
    and nothing is repeated until evidence or a person speaks.
    """
    following = step(n.state, event)
    doubt = changes.get("doubt", n.doubt)
    if doubt and following in NEEDS_CERTAINTY:
        changes = {"reason": changes.get("reason"), "doubt": doubt, "attempt": changes.get("attempt")}
        return _build(n, Event.DOUBT, at, by, attention_at=at, wanted=following, **changes)
    return _build(n, event, at, by, **changes)


def _build(n: Movable, event: Event, at: datetime, by: str, **changes: Any) -> Move:
    following = step(n.state, event)
    if following in CLOSED:
        changes.setdefault("closed_at", at)
    elif following is State.UNCERTAIN:
        changes.setdefault("attention_at", at)
    elif following is State.REVIEW:
        changes["review_at"] = at
    if reason := changes.get("reason"):
        changes["reason"] = clean(reason, 9_000)
    return Move(id=n.id, version=n.version, state=n.state, event=event, next=following, at=at, by=by, **changes)
