"""Digests: which period an item belongs to, which periods are to be closed, and what a digest stands for.

A period ends at its cutoff, an instant of its kind's recurrence. What is ready before the cutoff belongs to it; what is
ready exactly then belongs to the next. There is no lower bound: what came late, or did not fit, is in the next one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

from .decision import Digest, DigestItem
from .draft import Draft
from .lifecycle import State
from .missed import Missed
from .notification import Notification
from .policy import DigestPolicy, Kind
from .recurrence import Cron, Occurrence
from .schedules import ON_TIME
from .spreading import spread
from .text import KEY_CHARACTERS
from .walltime import Promise

MOST_PERIODS = 20_000
"""How many periods of one recipient are looked at in one go; of a longer outage the oldest are passed over."""

HAS_ONE = "the period had a digest already, under other rules; what waits goes into the next one"

RECIPIENTS_ALIKE = 256
"""Periods that are remembered: a hundred thousand recipients whose hour ends ask for the same few cutoffs."""

_MOMENT = timedelta(microseconds=1)
_HOUR = 3_600


@dataclass(frozen=True, slots=True)
class NewItem:
    """Something to be told in a digest. `expires_at`: worth nothing afterwards. `close_at`: the first cutoff it can be
    part of, as far as can be said when it is added."""

    kind: str
    recipient: str
    item: str
    ready_at: datetime
    score: float
    data: str
    expires_at: datetime | None
    added_at: datetime
    tenant: str | None
    namespace: str
    zone: str
    close_at: datetime


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a recipient's periods are closed. `open_from`: no item that waits was ready before it. `next_close_at`:
    when there is something to close; None while nothing waits."""

    kind: str
    recipient: str
    tenant: str | None
    namespace: str
    zone: str
    open_from: datetime | None
    closed_to: datetime | None
    next_close_at: datetime | None


@dataclass(frozen=True, slots=True)
class Closing:
    """A period to close. `cutoff`: its end; `previous_at`: the end of the one before. `first`: the oldest period it
    stands for, of so many `periods`. `fresh_from`: items that were ready before it are given up, by
    the catch-up policy."""

    cursor: Cursor
    policy: DigestPolicy
    cutoff: Occurrence
    first: Occurrence
    periods: int
    fresh_from: datetime | None
    previous_at: datetime

    @property
    def label(self) -> str:
        """The name of the period."""
        return label(self.policy, self.cutoff)

    def may_give_up(self, now: datetime) -> bool:
        """Say whether some item that waits may have expired, or is given up by the catch-up policy."""
        age, oldest = self.policy.expire_after, self.cursor.open_from
        return self.fresh_from is not None or (age is not None and oldest is not None and oldest + age <= now)

    @property
    def first_label(self) -> str:
        """The name of the oldest period it stands for."""
        return label(self.policy, self.first)


class Weighed(NamedTuple):
    """What a closing took and left. `late`: how many of the selected items had missed the cutoff they were ready for.
    `left`: how many did not fit. `left_from`, `later_from`: since when the oldest waits of those, and of later periods.
    """

    selected: int
    late: int
    left: int
    left_from: datetime | None
    later_from: datetime | None


NOTHING = Weighed(0, 0, 0, None, None)


@dataclass(frozen=True, slots=True)
class Closed:
    """A closed period with what it froze, and the notification that tells it."""

    closing: Closing
    weighed: Weighed
    notification_id: int


@dataclass(frozen=True, slots=True)
class DigestRecord:
    """A digest as it is listed. `outcome`: what was done about its items where it ended unsent. `state`, `reason`: of
    its notification, while that is on record."""

    kind: str
    recipient: str
    label: str
    first_label: str
    periods: int
    cutoff_at: datetime
    total: int
    selected: int
    late: int
    notification_id: int
    outcome: str | None
    state: State | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ItemRecord:
    """An item as it is on record. `label`: the digest that holds it. `outcome`: why none does, or, beside a label, that
    the digest was never delivered."""

    kind: str
    recipient: str
    item: str
    ready_at: datetime
    score: float
    data: Mapping[str, Any]
    expires_at: datetime | None
    added_at: datetime
    label: str | None
    outcome: Literal["dropped", "expired", "read", "undelivered"] | None


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipient's next digest would hold if nothing were added: `selected` of `total` eligible items."""

    kind: str
    recipient: str
    label: str
    first_label: str
    periods: int
    cutoff_at: datetime
    total: int
    selected: int


@dataclass(frozen=True, slots=True)
class Selection:
    """A digest on record, with its items in their order."""

    kind: str
    recipient: str
    label: str
    first_label: str
    periods: int
    cutoff_at: datetime
    total: int
    late: int
    items: Sequence[DigestItem]
    read: int


@cache
def recurrence(policy: DigestPolicy) -> Cron:
    """Return when a kind's periods end; made once for each kind, because every recipient's cursor asks for it."""
    at = policy.daily_at
    return Cron("0 * * * *" if at is None else f"{at.minute} {at.hour} * * *")


def label(policy: DigestPolicy, cutoff: Occurrence) -> str:
    """Return the name of the period that ends at a cutoff: an hour by the second it begins, counted from 1970 in UTC; a
    day by the local date of its end."""
    if policy.daily_at is None:
        return str(int(cutoff.at.timestamp()) - _HOUR)
    return cutoff.label[:10]


@lru_cache(maxsize=RECIPIENTS_ALIKE)
def cutoff_after(policy: DigestPolicy, zone: str, at: datetime) -> datetime:
    """Return the first cutoff after an instant: the end of the period of what is ready then."""
    return next(recurrence(policy).occurrences(zone, at + _MOMENT)).at


def come(cursor: Cursor, policy: DigestPolicy, now: datetime) -> Sequence[Occurrence]:
    """Return the cutoffs that have come since there was something to close."""
    assert cursor.next_close_at is not None
    start = cursor.next_close_at
    if cursor.closed_to is not None:
        start = max(start, cursor.closed_to + _MOMENT)
    return _cutoffs(policy, cursor.zone, start, now)


@lru_cache(maxsize=RECIPIENTS_ALIKE)
def _cutoffs(policy: DigestPolicy, zone: str, start: datetime, now: datetime) -> Sequence[Occurrence]:
    return tuple(islice(recurrence(policy).occurrences(zone, start, now + _MOMENT), MOST_PERIODS))


def closing(cursor: Cursor, policy: DigestPolicy, cutoffs: Sequence[Occurrence], now: datetime) -> Closing | None:
    """Return the period to close now, by the kind's catch-up policy, or None if there is none."""
    if not cutoffs or (policy.catch_up == "skip" and now - cutoffs[-1].at > ON_TIME):
        return None
    last = cutoffs[-1]
    previous_at = _before(policy, cursor.zone, last.at)
    kept = cutoffs[-policy.most :] if policy.catch_up == "combine" else cutoffs[-1:]
    gives_up = len(kept) < len(cutoffs) and policy.catch_up != "skip"
    fresh_from = _before(policy, cursor.zone, kept[0].at) if gives_up else None
    return Closing(cursor, policy, last, kept[0], len(kept), fresh_from, previous_at)


@lru_cache(maxsize=RECIPIENTS_ALIKE)
def _before(policy: DigestPolicy, zone: str, cutoff: datetime) -> datetime:
    """Return the cutoff before one: looked for far enough back that no change of the clocks is an obstacle."""
    back = timedelta(hours=2) if policy.daily_at is None else timedelta(days=2, hours=3)
    *_, last = recurrence(policy).occurrences(zone, cutoff - back, cutoff)
    return last.at


def passed_over(
    cursor: Cursor, policy: DigestPolicy, cutoffs: Sequence[Occurrence], done: Closing | None, now: datetime
) -> Sequence[Missed]:
    """Return the record of the periods that have come and got no digest of their own."""
    reasons = {
        "skip": "missed; what waits goes into the next digest",
        "latest": "missed; only the latest period is made up for",
        "combine": f"more than {policy.most} periods were missed",
    }
    first = done.first.at if done is not None else now + _MOMENT
    reason = reasons[policy.catch_up] if done is not None or policy.catch_up == "skip" else HAS_ONE
    older = [one for one in cutoffs if one.at < first]
    combined = [one for one in cutoffs if done is not None and first <= one.at < done.cutoff.at]
    into = done.label if done is not None else None
    return [
        *_missed(cursor, policy, older, reason, None, now),
        *_missed(cursor, policy, combined, "missed", into, now),
    ]


def _missed(
    cursor: Cursor, policy: DigestPolicy, gone: Sequence[Occurrence], reason: str, into: str | None, now: datetime
) -> Sequence[Missed]:
    if not gone:
        return ()
    first, last = label(policy, gone[0]), label(policy, gone[-1])
    found = Missed(
        "digest", cursor.kind, cursor.recipient, cursor.recipient, first, last, gone[0].at, gone[-1].at, len(gone),
        "skipped" if into is None else "combined", reason, into, now,
    )  # fmt: skip
    return (found,)


def moved_on(
    cursor: Cursor, policy: DigestPolicy, cutoffs: Sequence[Occurrence], weighed: Weighed | None, now: datetime
) -> Cursor:
    """Return a cursor after what has come was seen to; `weighed`: what the closing took and left, if one was closed."""
    closed_to = cutoffs[-1].at if cutoffs else cursor.closed_to
    if weighed is None:
        # Nothing was closed: what waits, waits for the next cutoff.
        after = now if closed_to is None else max(now, closed_to)
        return replace(cursor, closed_to=closed_to, next_close_at=cutoff_after(policy, cursor.zone, after))
    assert closed_to is not None
    left_from = weighed.left_from if policy.overflow == "carry" else None
    waiting = [at for at in (left_from, weighed.later_from) if at is not None]
    if not waiting:
        return replace(cursor, open_from=None, closed_to=closed_to, next_close_at=None)
    after = max(closed_to, min(waiting))
    return replace(
        cursor, open_from=min(waiting), closed_to=closed_to, next_close_at=cutoff_after(policy, cursor.zone, after)
    )


def preview(cursor: Cursor, policy: DigestPolicy, items: Sequence[DigestItem], now: datetime) -> Preview | None:
    """Return what is closed next of what waits, at once or when the period ends; None if that is nothing."""
    assert cursor.next_close_at is not None
    at = max(now, cursor.next_close_at)
    found = closing(cursor, policy, come(cursor, policy, at), at)
    total = 0 if found is None else sum(_is_eligible(one.ready_at, found, at) for one in items)
    if found is None or not total:
        return None
    return Preview(
        cursor.kind, cursor.recipient, found.label, found.first_label, found.periods, found.cutoff.at, total,
        min(total, policy.limit),
    )  # fmt: skip


def _is_eligible(ready_at: datetime, closing: Closing, at: datetime) -> bool:
    if ready_at >= closing.cutoff.at or (closing.fresh_from is not None and ready_at < closing.fresh_from):
        return False
    return closing.policy.expire_after is None or ready_at + closing.policy.expire_after > at


def key(label: str, recipient: str) -> str:
    """Return the key of a digest's notification: its identity is the kind, the period and the recipient."""
    whole = f"{label}/{recipient}"
    return whole if len(whole) <= KEY_CHARACTERS else f"{label}/{hashlib.sha256(recipient.encode()).hexdigest()}"


def label_of(key: str) -> str:
    """Return the label of the period in the key of a digest's notification."""
    return key.partition("/")[0]


def group(kind: str, recipient: str) -> str:
    """Return the cancellation group of a recipient's digests."""
    return f"digest:{kind}:{recipient}"


def is_digest(n: Notification) -> bool:
    """Say whether a notification is a digest, and not one of its kind scheduled otherwise."""
    return n.group is not None and n.group.startswith(f"digest:{n.kind}:")


def draft(closing: Closing, kind: Kind, now: datetime) -> Draft:
    """Return the notification of a closed period. It carries no items: its handler is given those on record."""
    cursor = closing.cursor
    promise = spread(Promise(closing.cutoff.at), cursor.zone, cursor.recipient, kind)
    return Draft(
        kind=kind.name,
        key=key(closing.label, cursor.recipient),
        recipient=cursor.recipient,
        tenant=cursor.tenant,
        namespace=cursor.namespace,
        channel=kind.channel,
        priority=kind.priority,
        group=group(kind.name, cursor.recipient),
        data=json.dumps({"label": closing.label}),
        promise=promise,
        expires_at=promise.due_at + kind.max_lateness if kind.max_lateness is not None else None,
        wake_at=max(promise.due_at, now),
        created_at=now,
    )


def digest(selection: Selection) -> Digest:
    """Return what the handler is told."""
    return Digest(
        selection.label, selection.first_label, selection.periods, selection.cutoff_at, selection.items,
        selection.total, selection.late,
    )  # fmt: skip
