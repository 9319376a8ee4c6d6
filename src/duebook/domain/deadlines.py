"""A deadline: a date somebody is reminded of, and what becomes of its steps when it moves.

Each date is a *term*. A moved date is a new term, so that its steps are new notifications: moving it to and fro, or
setting next year's date, reminds again. Terms that follow each other without an end between them are one cycle.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

from ..errors import InvalidInput
from . import zones
from .decision import DeadlineStep
from .draft import Draft
from .missed import Missed
from .notification import Notification
from .policy import DeadlinePolicy, Kind
from .spreading import spread
from .text import NAME_CHARACTERS, checked
from .walltime import Promise, local, resolve

FARTHEST_YEARS = 100

_A_DAY = timedelta(days=1)
_STEP = re.compile(r"(.+)/(\d+)/-?\d+d")


@dataclass(frozen=True, slots=True)
class Deadline:
    """A date on record. `wall`: the date, or the date and time, in its zone. `ends_at`: from when on it is over.

    `term`: which of its dates this is. `first_term`: the first date of the cycle it belongs to.
    """

    kind: str
    key: str
    recipient: str
    tenant: str | None
    namespace: str
    data: str
    wall: str
    zone: str
    ends_at: datetime
    term: int
    first_term: int
    state: Literal["open", "completed"]
    reason: str | None
    created_at: datetime
    changed_at: datetime
    changed_by: str

    @property
    def day(self) -> date:
        """The date, in the deadline's zone."""
        return datetime.fromisoformat(self.wall).date()


@dataclass(frozen=True, slots=True)
class Step:
    """One reminder of a term: `days` before the date, and the promise; or why it is left out."""

    days: int
    promise: Promise
    left_out: str | None = None


def ending(on: object, zone: str | None, now: datetime) -> tuple[str, str, datetime]:
    """Return the wall time, the zone and the end of a deadline given as a date or as a local time to the minute.

    A date lasts until its day is over. Raises InvalidInput naming `on`, UnknownName for an unknown zone.
    """
    if not isinstance(on, date):
        raise InvalidInput("on", f"must be a date or a local datetime, not {type(on).__name__}")
    if abs(on.year - now.year) > FARTHEST_YEARS:
        raise InvalidInput("on", f"is more than {FARTHEST_YEARS} years away; is the year right?")
    if isinstance(on, datetime) and on.tzinfo is not None:
        key = getattr(on.tzinfo, "key", None)
        if key is None or zone not in (None, key):
            raise InvalidInput("on", f"{on.isoformat()} carries an offset; give the local time, and its zone")
        on, zone = on.replace(tzinfo=None), key
    if zone is None:
        raise InvalidInput("zone", "a date needs the zone it is meant in, such as zone='Europe/Berlin'")
    checked("zone", zone, NAME_CHARACTERS)
    if not isinstance(on, datetime):
        return on.isoformat(), zone, resolve(datetime.combine(on + _A_DAY, time()), zone)
    if on.second or on.microsecond:
        raise InvalidInput("on", f"{on.isoformat(sep=' ')} is finer than a minute; leave out the seconds")
    at = local(on.replace(fold=0), zone)
    return at.wall.isoformat(timespec="minutes"), zone, resolve(at.wall, zone)


def steps(deadline: Deadline, policy: DeadlinePolicy, sent: Collection[int], now: datetime) -> Sequence[Step]:
    """Return every step of a deadline's term: what is promised, and what is left out and why.

    `sent`: the steps that were sent for an earlier date of the same cycle and are not to be repeated.
    """
    found = [_step(deadline, policy, days, now) for days in sorted(policy.days, reverse=True)]
    passed = [step for step in found if step.left_out is None and step.promise.due_at <= now]
    newest = passed[-1] if passed and policy.passed == "newest" else None
    return [_judged(step, newest, passed, sent, now) for step in found]


def check_ahead(deadline: Deadline, policy: DeadlinePolicy, now: datetime) -> None:
    """Raise InvalidInput for a date that is over, unless a step after it is still to come."""
    if deadline.ends_at > now:
        return
    found = (_step(deadline, policy, days, now) for days in policy.days)
    if not any(step.left_out is None and step.promise.due_at > now for step in found):
        raise InvalidInput("on", f"{deadline.wall} is over in {deadline.zone}, and no step comes after it")


def _step(deadline: Deadline, policy: DeadlinePolicy, days: int, now: datetime) -> Step:
    wall = datetime.combine(deadline.day - timedelta(days=days), policy.at)
    promise = Promise(resolve(wall, deadline.zone), wall.isoformat(), deadline.zone, "compatible", zones.version())
    if days >= 0 and promise.due_at >= deadline.ends_at:
        return Step(days, promise, "its time is not before the end of the deadline")
    if days >= 0 and deadline.ends_at <= now:
        return Step(days, promise, "the deadline was over when it was set")
    return Step(days, promise)


def _judged(step: Step, newest: Step | None, passed: Sequence[Step], sent: Collection[int], now: datetime) -> Step:
    if step.left_out is not None:
        return step
    if step.days in sent:
        return Step(step.days, step.promise, "sent already, for the date before")
    if step is newest:
        return Step(step.days, Promise(now))
    if step in passed:
        return Step(step.days, step.promise, "its time had passed when the date was set")
    return step


def key(deadline: str, term: int, days: int) -> str:
    """Return the key of a step's notification: its identity is the deadline, the term and the step."""
    return f"{deadline}/{term}/{days}d"


def group(kind: str, deadline: str) -> str:
    """Return the cancellation group of a deadline's steps."""
    return f"deadline:{kind}:{deadline}"


def keys_of_cycle(deadline: Deadline, policy: DeadlinePolicy) -> Mapping[str, int]:
    """Return the keys of every step that may have been sent in the cycle so far, and the step each is of."""
    terms = range(deadline.first_term, deadline.term + 1)
    return {key(deadline.key, term, days): days for term in terms for days in policy.days}


def draft(deadline: Deadline, step: Step, kind: Kind, now: datetime) -> Draft:
    """Return the notification of a step. It carries no data: its handler is given the deadline's, as they are then."""
    promise = step.promise
    ends = [deadline.ends_at] if step.days >= 0 else []
    if promise.due_at > now:
        apart = spread(promise, deadline.zone, deadline.recipient, kind)
        promise = promise if ends and apart.due_at >= deadline.ends_at else apart
    if kind.max_lateness is not None:
        ends.append(promise.due_at + kind.max_lateness)
    return Draft(
        kind=kind.name,
        key=key(deadline.key, deadline.term, step.days),
        recipient=deadline.recipient,
        tenant=deadline.tenant,
        namespace=deadline.namespace,
        channel=kind.channel,
        priority=kind.priority,
        group=group(kind.name, deadline.key),
        data="{}",
        promise=promise,
        expires_at=min(ends, default=None),
        wake_at=max(promise.due_at, now),
        created_at=now,
    )


def left_out(deadline: Deadline, step: Step, now: datetime) -> Missed:
    """Return the record of a step that gets no notification."""
    name, label, at = f"{deadline.key}/{deadline.term}", f"{step.days}d", step.promise.due_at.astimezone(UTC)
    reason = step.left_out or ""
    return Missed(
        "deadline", deadline.kind, name, deadline.recipient, label, label, at, at, 1, "skipped", reason, None, now
    )


def overtaken(n: Notification, deadline: Deadline) -> str | None:
    """Return why a step is not wanted any more, if it is not: its deadline was completed, or has moved on."""
    if deadline.state == "completed":
        return f"completed: {deadline.reason}" if deadline.reason else "completed"
    if n.key != key(deadline.key, deadline.term, days_of(n.key)):
        return f"the deadline has moved to {deadline.wall}"
    return None


def step(n: Notification, deadline: Deadline) -> DeadlineStep:
    """Return what the handler is told about the deadline a notification is a step of."""
    return DeadlineStep(deadline.key, deadline.day, deadline.wall, deadline.zone, days_of(n.key))


def name_of(n: Notification) -> str | None:
    """Return the key of the deadline a notification is a step of, or None if it is none."""
    found = _STEP.fullmatch(n.key)
    return found[1] if found and n.group == group(n.kind, found[1]) else None


def term_of(key: str) -> int | None:
    """Return which term of its deadline a key names, or None if it is no step's."""
    found = _STEP.fullmatch(key)
    return int(found[2]) if found else None


def days_of(key: str) -> int:
    """Return which step a key names."""
    return int(key.rpartition("/")[2].removesuffix("d"))
