"""What must hold of schedules and deadlines on record, and what an audit reads of them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from ..errors import InvalidInput
from .audited import Surroundings, said, unserved
from .deadlines import term_of
from .recurrence import load

FRESH = timedelta(days=1)
"""How long what was left out of a deadline is surely still on record: retention lets go of it some day."""


class ScheduleRecord(NamedTuple):
    """A schedule as an audit reads it. `recurrence` is text, because a damaged database may hold any."""

    name: str
    kind: str
    recurrence: str
    zone: str
    until_at: datetime | None
    cursor_at: datetime
    next_at: datetime | None
    paused_at: datetime | None

    @property
    def subject(self) -> str:
        return f"schedule {self.name}"


class DeadlineRecord(NamedTuple):
    """A deadline as an audit reads it. `pending`: the keys of its reminders that nobody has begun. `has_steps`: a
    reminder of its term is on record, or that one was left out."""

    kind: str
    key: str
    term: int
    state: str
    ends_at: datetime
    changed_at: datetime
    has_steps: bool
    pending: Sequence[str]

    @property
    def subject(self) -> str:
        return f"deadline {self.kind}/{self.key}"


def schedule_waits_for_its_next_period(schedule: ScheduleRecord, _: Surroundings) -> str | None:
    """A schedule is due next when its recurrence says so, from where it stands; a paused one never."""
    if schedule.paused_at is not None:
        return None if schedule.next_at is None else f"it is paused, and due next at {said(schedule.next_at)}"
    try:
        coming = load(schedule.recurrence).occurrences(schedule.zone, schedule.cursor_at, schedule.until_at)
        found = next(coming, None)
    except InvalidInput as error:
        return f"when it is due cannot be said: {error}"
    next_at = found.at if found else None
    if next_at == schedule.next_at:
        return None
    return (
        f"it is due next at {said(schedule.next_at)}, and by its recurrence and today's zone rules at {said(next_at)}"
    )


def schedule_is_seen_to(schedule: ScheduleRecord, around: Surroundings) -> str | None:
    """A period that has come has been seen to, or something says why not."""
    if not _is_overdue(schedule, around) or unserved(schedule.kind, around):
        return None
    return f"a period came at {said(schedule.next_at)} and nobody saw to it; workers serve its kind"


def why_it_waits(schedule: ScheduleRecord, around: Surroundings) -> str | None:
    """Return why an overdue schedule is no violation, in words that are the same for all of its kind."""
    return unserved(schedule.kind, around) if _is_overdue(schedule, around) else None


def reminders_are_of_the_term(deadline: DeadlineRecord, _: Surroundings) -> str | None:
    """No reminder waits for a date that was met or has moved."""
    if deadline.state == "completed":
        stale: Sequence[str] = deadline.pending
    else:
        stale = [key for key in deadline.pending if term_of(key) not in (None, deadline.term)]
    if not stale:
        return None
    return f"it is {deadline.state} in term {deadline.term}, and still to be reminded of by {', '.join(stale)}"


def open_deadline_has_its_steps(deadline: DeadlineRecord, around: Surroundings) -> str | None:
    """What became of the steps of a date that is still ahead is on record."""
    ahead = deadline.state == "open" and deadline.ends_at > around.now
    if not ahead or deadline.has_steps or deadline.changed_at < around.now - FRESH:
        return None
    return f"nothing is on record of the reminders of term {deadline.term}, which ends at {said(deadline.ends_at)}"


def _is_overdue(schedule: ScheduleRecord, around: Surroundings) -> bool:
    return schedule.next_at is not None and schedule.next_at < around.due_before


SCHEDULE_CHECKS = (schedule_waits_for_its_next_period, schedule_is_seen_to)
DEADLINE_CHECKS = (reminders_are_of_the_term, open_deadline_has_its_steps)
