"""A recurring schedule: where it stands in time, and what to do about the periods that have come.

Everything before the cursor has been seen to, for good. So an edit never fires a finished period again, a clock that
steps back finds nothing, and what a restart has to catch up with is what lies between the cursor and now.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice, takewhile
from typing import Any, Literal

from . import zones
from .draft import Draft
from .missed import Missed
from .policy import Kind
from .recurrence import Occurrence, Recurrence
from .spreading import spread
from .walltime import Promise

CatchUp = Literal["all", "latest", "combine", "skip"]

ON_TIME = timedelta(minutes=1)
"""A period that is seen to within this of its instant has not been missed: a worker takes a moment to restart."""

_A_MOMENT = timedelta(microseconds=1)

MOST_AT_ONCE = 100_000
"""How many periods of one schedule are looked at in one go. Of a longer outage the oldest are skipped, on record."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One recurring promise: this recipient is told this, again and again.

    `cursor_at`: what comes before it has been seen to. `next_at`: the next instant it is due; None while it is paused
    and when it has ended. `most`: how many missed periods `catch_up="all"` makes up for, the newest ones.
    """

    name: str
    kind: str
    recipient: str
    tenant: str | None
    namespace: str
    data: str
    recurrence: Recurrence
    zone: str
    catch_up: CatchUp
    max_lateness: timedelta | None
    most: int
    until_at: datetime | None
    version: int
    cursor_at: datetime
    next_at: datetime | None
    paused_at: datetime | None
    reason: str | None
    created_at: datetime
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, slots=True)
class Period:
    """One notification of a schedule: the period it is for, and the older ones it stands for too."""

    occurrence: Occurrence
    first: Occurrence
    periods: int = 1


@dataclass(frozen=True, slots=True)
class Advance:
    """What the periods that have come amount to, and where the schedule stands afterwards."""

    due: Sequence[Period]
    missed: Sequence[Missed]
    cursor_at: datetime
    next_at: datetime | None
    looked_at: int


def following(schedule: Schedule, start: datetime) -> datetime | None:
    """Return the first instant from `start` on at which a schedule is due, if there is one."""
    found = next(schedule.recurrence.occurrences(schedule.zone, start, schedule.until_at), None)
    return found.at if found else None


def advance(schedule: Schedule, now: datetime) -> Advance:
    """Return what to do about the periods from the cursor up to now, as the schedule's policy has it."""
    start = schedule.cursor_at
    coming = schedule.recurrence.occurrences(schedule.zone, start, schedule.until_at)
    come: list[Occurrence] = []
    following_at: datetime | None = None
    for occurrence in islice(coming, MOST_AT_ONCE + 1):
        if occurrence.at > now or len(come) == MOST_AT_ONCE:
            following_at = occurrence.at
            break
        come.append(occurrence)
    if following_at is not None and following_at <= now:
        reason = f"too many periods were missed: more than {MOST_AT_ONCE:,}"
        return Advance((), _missed(schedule, come, reason, now), following_at, following_at, len(come))
    due, missed = _caught_up(schedule, come, now)
    return Advance(due, missed, _past(come[-1], start) if come else start, following_at, len(come))


def _past(seen: Occurrence, start: datetime) -> datetime:
    # Two periods never share an instant, so the moment after one is free.
    return max(start, seen.at + _A_MOMENT)


def _caught_up(
    schedule: Schedule, come: Sequence[Occurrence], now: datetime
) -> tuple[Sequence[Period], Sequence[Missed]]:
    late, fresh = _parted(come, None if schedule.max_lateness is None else now - schedule.max_lateness)
    missed = _missed(schedule, late, f"more than {schedule.max_lateness} late", now)
    if not fresh:
        return (), missed
    last = fresh[-1]
    match schedule.catch_up:
        case "all":
            over, kept = fresh[: -schedule.most], fresh[-schedule.most :]
            reason = f"more than {schedule.most} periods were missed"
            return [Period(one, one) for one in kept], [*missed, *_missed(schedule, over, reason, now)]
        case "latest":
            reason = f"missed; {last.label} came after it"
            return [Period(last, last)], [*missed, *_missed(schedule, fresh[:-1], reason, now)]
        case "combine":
            combined = _missed(schedule, fresh[:-1], "missed", now, into=last.label)
            return [Period(last, fresh[0], len(fresh))], [*missed, *combined]
        case "skip":
            over, kept = _parted(fresh, now - ON_TIME)
            reason = "missed; the schedule skips what it missed"
            return [Period(one, one) for one in kept], [*missed, *_missed(schedule, over, reason, now)]


def _parted(come: Sequence[Occurrence], before: datetime | None) -> tuple[Sequence[Occurrence], Sequence[Occurrence]]:
    number = 0 if before is None else sum(1 for one in come if one.at < before)
    return come[:number], come[number:]


def _missed(
    schedule: Schedule, gone: Sequence[Occurrence], reason: str, now: datetime, into: str | None = None
) -> Sequence[Missed]:
    """Return one record for periods with one fate, or none for no period."""
    return (_record(schedule, gone[0], gone[-1], len(gone), reason, now, into),) if gone else ()


def _record(
    schedule: Schedule,
    first: Occurrence,
    last: Occurrence,
    periods: int,
    reason: str,
    now: datetime,
    into: str | None = None,
) -> Missed:
    return Missed(
        "schedule", schedule.kind, schedule.name, schedule.recipient, first.label, last.label, first.at, last.at,
        periods, "skipped" if into is None else "combined", reason, into, now,
    )  # fmt: skip


def pass_over(schedule: Schedule, now: datetime, reason: str) -> Advance:
    """Return what happens to the periods from the cursor up to now when none of them is to be made up for."""
    start = max(schedule.cursor_at, now)
    coming = schedule.recurrence.occurrences(schedule.zone, schedule.cursor_at, schedule.until_at)
    gone = takewhile(lambda one: one.at <= now, coming)
    first = next(gone, None)
    if first is None:
        return Advance((), (), start, following(schedule, start), 0)
    last, periods = first, 1
    for occurrence in gone:
        last, periods = occurrence, periods + 1
    start = _past(last, start)
    missed = (_record(schedule, first, last, periods, reason, now),)
    return Advance((), missed, start, following(schedule, start), periods)


def advanced(schedule: Schedule, step: Advance) -> Schedule:
    """Return a schedule as it stands after a step; its version is for the store to raise."""
    return replace(schedule, cursor_at=step.cursor_at, next_at=step.next_at)


def taken(schedule: Schedule, period: Period, now: datetime) -> Missed:
    """Return the record of a period whose notification was there already: labels are local, so that a schedule whose
    zone or rules changed may come to one a second time."""
    reason = "there was a notification of this name already"
    return _record(schedule, period.first, period.occurrence, period.periods, reason, now)


def key(schedule: str, label: str) -> str:
    """Return the key of a period's notification: its identity is the schedule and the period, however it came to be."""
    return f"{schedule}/{label}"


def group(schedule: str) -> str:
    """Return the cancellation group of a schedule's notifications."""
    return f"schedule:{schedule}"


def draft(schedule: Schedule, period: Period, kind: Kind, now: datetime) -> Draft:
    """Return the notification of a period. Its data are the schedule's, and which period it is."""
    occurrence = period.occurrence
    data = json.loads(schedule.data) | {"period": described(schedule, period)}
    promise = spread(_promise(schedule.zone, occurrence), schedule.zone, schedule.recipient, kind)
    expires_at = promise.due_at + kind.max_lateness if kind.max_lateness is not None else None
    return Draft(
        kind=kind.name,
        key=key(schedule.name, occurrence.label),
        recipient=schedule.recipient,
        tenant=schedule.tenant,
        namespace=schedule.namespace,
        channel=kind.channel,
        priority=kind.priority,
        group=group(schedule.name),
        data=json.dumps(data, ensure_ascii=False, separators=(",", ":")),
        promise=promise,
        expires_at=expires_at,
        wake_at=max(promise.due_at, now),
        created_at=now,
    )


def described(schedule: Schedule, period: Period) -> dict[str, Any]:
    """Return what a handler reads of its period: its label and, where it stands for several, the first and how many."""
    found: dict[str, Any] = {"schedule": schedule.name, "label": period.occurrence.label}
    if period.periods > 1:
        found |= {"first": period.first.label, "periods": period.periods}
    return found


def _promise(zone: str, occurrence: Occurrence) -> Promise:
    wall = datetime.fromisoformat(occurrence.label).replace(tzinfo=None)
    rule = "later" if occurrence.reading == "second" else "compatible"
    return Promise(occurrence.at, wall.isoformat(), zone, rule, zones.version())
