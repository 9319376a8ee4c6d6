"""What an audit judges: records, each as a single statement saw it, and what explains that something waits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from .control import EVERYTHING, Control
from .lifecycle import State


class AttemptEntry(NamedTuple):
    """What an audit reads of an attempt."""

    number: int
    outcome: str
    resolution: str | None


class MoveEntry(NamedTuple):
    """What an audit reads of a row of the history."""

    version: int
    event: str
    state: str
    next: str


class Record(NamedTuple):
    """A notification as an audit reads it, with what belongs to it.

    States and events are text, because a damaged database may hold any. `bare`: its data is empty. `identities`: what
    the identity of its name points to, and whose it is; one, where all is well. `vouched`: evidence, of whatever
    attempt, says that it was accepted.
    """

    id: int
    kind: str
    key: str
    recipient: str
    channel: str
    state: str
    event: str
    version: int
    wake_at: datetime | None
    lease_until: datetime | None
    attention_at: datetime | None
    review_at: datetime | None
    closed_at: datetime | None
    holder: str | None
    number: int
    doubt: int
    wanted: str | None
    has_reason: bool
    basis: str | None
    has_message: bool
    begun_at: datetime | None
    bare: bool
    pruned: int
    vouched: bool
    identities: Sequence[tuple[int, str]]
    attempts: Sequence[AttemptEntry]
    history: Sequence[MoveEntry]

    @property
    def subject(self) -> str:
        return f"{self.kind}/{self.key}"

    @property
    def ended(self) -> range:
        """The numbers of its attempts that have ended: all but the one on the wire."""
        return range(1, self.number + (self.state != State.SENDING))

    @property
    def is_gapless(self) -> bool:
        return [attempt.number for attempt in self.attempts] == list(self.ended)


class RememberedName(NamedTuple):
    """An identity as an audit reads it, and the name of the notification it points to, where that is still there."""

    kind: str
    key: str
    notification_id: int
    state: str | None
    closed_at: datetime | None
    kind_there: str | None
    key_there: str | None

    @property
    def subject(self) -> str:
        return f"{self.kind}/{self.key}"


class LedgerOwner(NamedTuple):
    """An id that rows of attempts, history or evidence name, and whether there is such a notification."""

    id: int
    exists: bool
    attempts: int
    history: int
    evidence: int

    @property
    def subject(self) -> str:
        return f"notification {self.id}"


@dataclass(frozen=True, slots=True)
class Patience:
    """How long after its time something may still be on its way: due ones, and held ones after lease and grace."""

    overdue: timedelta = timedelta(minutes=15)
    rescue: timedelta = timedelta(minutes=1)


SERVED = timedelta(minutes=15)
"""A worker says every five minutes which kinds it serves."""

DRAINING = timedelta(seconds=5)
"""A channel whose next free send lies no further back than this is working at its rate."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What explains that something waits. `rates`: when the next send of a channel with a shared rate is free."""

    now: datetime
    lease: timedelta
    patience: Patience = field(default_factory=Patience)
    controls: Mapping[str, Control] = field(default_factory=dict)
    seen: Mapping[str, datetime] = field(default_factory=dict)
    rates: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def due_before(self) -> datetime:
        return self.now - self.patience.overdue

    @property
    def leased_before(self) -> datetime:
        return self.now - self.lease - self.patience.rescue


def explained(n: Record, around: Surroundings) -> str | None:
    """Return why something overdue is no violation, in words that are the same for all it holds up."""
    return held_up(n, around) if is_overdue(n, around) else None


def is_overdue(n: Record, around: Surroundings) -> bool:
    """Say whether it should have been looked at long ago."""
    return n.state == State.SCHEDULED and n.wake_at is not None and n.wake_at < around.due_before


def held_up(n: Record, around: Surroundings) -> str | None:
    """Return what keeps this and its like from being looked at, if anything does."""
    scopes = (EVERYTHING, f"channel:{n.channel}", f"kind:{n.kind}")
    for control in filter(None, map(around.controls.get, scopes)):
        name = control.scope.replace(":", " ")
        if control.paused_at is not None:
            return f"{name} is paused since {said(control.paused_at)}"
        if control.paused_until is not None and control.paused_until > around.due_before:
            return f"{name} is throttled by its provider until {said(control.paused_until)}"
        if control.mode == "off":
            return f"{name} is off since {said(control.at)}"
        if control.at > around.due_before:
            return f"{name} was switched at {said(control.at)}"
    if reason := unserved(n.kind, around):
        return reason
    if n.channel in around.rates and around.rates[n.channel] > around.now - DRAINING:
        return f"channel {n.channel} sends as fast as its rate allows"
    return None


def unserved(kind: str, around: Surroundings) -> str | None:
    """Return since when no worker has served a kind, if none does."""
    seen = around.seen.get(kind)
    if seen is None:
        return f"no worker has ever served kind {kind}"
    if seen < around.now - max(SERVED, around.patience.overdue):
        return f"no worker has served kind {kind} since {said(seen)}"
    return None


def said(at: datetime | None) -> str:
    """Return an instant to the second, for people."""
    return at.isoformat(sep=" ", timespec="seconds").replace("+00:00", " UTC") if at else "no time"
