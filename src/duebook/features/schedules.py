"""Recurring schedules: named, stored, editable, pausable."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from ..domain import zones
from ..domain.missed import Missed, Source
from ..domain.policy import checked_choice, checked_span
from ..domain.recurrence import Cron, Every, Recurrence, Rrule
from ..domain.schedules import CatchUp, Schedule, advance, advanced, following, group, pass_over
from ..domain.text import NAME_CHARACTERS, REASON_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..engine.scheduler import see_to
from ..errors import InvalidInput
from ..ports import Plan
from .cancelling import cancel_groups
from .context import Context
from .drafting import dumped
from .work import Wakes, Work

CHUNK = 500
PAGE = 100
LARGEST_PAGE = 10_000
MOST = 100
LARGEST_MOST = 10_000
SCHEDULE_CHARACTERS = 160
"""A period's key is the schedule's name and its label, and must fit into a key."""

_A_SECOND = timedelta(seconds=1)

Result = Literal["created", "changed", "unchanged", "paused", "resumed", "removed", "not_found"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSchedule:
    """A recurring schedule as it is to be. `recurrence`: Cron, Rrule or Every; a text is a cron expression.

    `zone`: whose wall clock it follows. `catch_up`: what becomes of periods that came while nobody ran: "latest" sends
    the newest of them, "all" each, "combine" one that stands for all, "skip" none. `max_lateness`: a period later than
    this is skipped whatever the policy. `most`: how many "all" makes up for, the newest ones. `until`: the end.
    """

    name: str
    kind: str
    recipient: str
    recurrence: Recurrence | str
    zone: str
    data: Mapping[str, Any] = field(default_factory=dict)
    tenant: str | None = None
    catch_up: CatchUp = "latest"
    max_lateness: timedelta | None = None
    most: int = MOST
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ScheduleAnswer:
    """What became of a wish about a schedule. `next_at`: when it is due next; None if it is paused or has ended."""

    result: Result
    name: str
    next_at: datetime | None = None

    def __bool__(self) -> bool:
        return self.result != "not_found"


class Schedules:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def set(
        self,
        name: str,
        *,
        kind: str,
        recipient: str,
        recurrence: Recurrence | str,
        zone: str,
        data: Mapping[str, Any] | None = None,
        tenant: str | None = None,
        catch_up: CatchUp = "latest",
        max_lateness: timedelta | None = None,
        most: int = MOST,
        until: datetime | None = None,
    ) -> Work[ScheduleAnswer]:
        """Create a schedule, or make the one of this name what is said here; see NewSchedule for the arguments.

        A change holds from now on: what has come is seen to as the schedule was, and no earlier period is added.
        Raises InvalidInput naming the field; then nothing is stored.
        """
        new = NewSchedule(
            name=name, kind=kind, recipient=recipient, recurrence=recurrence, zone=zone, data=data or {},
            tenant=tenant, catch_up=catch_up, max_lateness=max_lateness, most=most, until=until,
        )  # fmt: skip
        wanted = [self._schedule(new, self.context.clock.now())]

        def plan(wakes: Wakes) -> Plan[ScheduleAnswer]:
            return (yield from self._set(wanted, wakes))[0]

        return Work(plan)

    def set_many(self, news: Iterable[NewSchedule]) -> Work[list[ScheduleAnswer]]:
        """Do the same for many, all or none. Raises InvalidInput naming the position and the field of the first that
        cannot be stored."""
        now = self.context.clock.now()
        wanted: dict[str, Schedule] = {}
        for position, new in enumerate(news):
            try:
                one = self._schedule(new, now)
                if one.name in wanted:
                    raise InvalidInput("name", f"{one.name!r} is named twice")
            except InvalidInput as error:
                raise InvalidInput(f"[{position}].{error.field}", error.problem) from None
            wanted[one.name] = one
        # In the order of their names, so that two callers with many never wait for each other.
        ordered = [wanted[name] for name in sorted(wanted)]

        def plan(wakes: Wakes) -> Plan[list[ScheduleAnswer]]:
            answers: dict[str, ScheduleAnswer] = {}
            for start in range(0, len(ordered), CHUNK):
                part = yield from self._set(ordered[start : start + CHUNK], wakes)
                answers |= {answer.name: answer for answer in part}
            return [answers[name] for name in wanted]

        return Work(plan)

    def pause(self, name: str, *, reason: str) -> Work[ScheduleAnswer]:
        """Let a schedule rest. What has come by now is still seen to; what comes meanwhile is skipped, on record."""
        checked("reason", reason, REASON_CHARACTERS)

        def plan(wakes: Wakes) -> Plan[ScheduleAnswer]:
            one = yield from self._locked(name)
            if one is None:
                return ScheduleAnswer("not_found", name)
            if one.paused_at is not None:
                return ScheduleAnswer("unchanged", name)
            now = self.context.clock.now()
            (one,) = yield from self._brought_up([one], now, wakes)
            yield from self._write([replace(one, next_at=None, paused_at=now, reason=reason)], now)
            return ScheduleAnswer("paused", name)

        return Work(plan)

    def resume(self, name: str) -> Work[ScheduleAnswer]:
        """Let a paused schedule go on with the next period from now; those that came meanwhile stay skipped."""

        def plan(wakes: Wakes) -> Plan[ScheduleAnswer]:
            one = yield from self._locked(name)
            if one is None:
                return ScheduleAnswer("not_found", name)
            if one.paused_at is None:
                return ScheduleAnswer("unchanged", name, one.next_at)
            now = self.context.clock.now()
            (one,) = yield from self._brought_up([one], now, wakes)
            changed = replace(one, paused_at=None, reason=None, next_at=following(one, one.cursor_at))
            yield from self._write([changed], now)
            return ScheduleAnswer("resumed", name, changed.next_at)

        return Work(plan)

    def remove(self, name: str, *, reason: str = "its schedule was removed") -> Work[ScheduleAnswer]:
        """Remove a schedule. What it has made and nobody has begun is cancelled; a later one of the same name never
        repeats a period of this one."""
        checked("reason", reason, REASON_CHARACTERS)

        def plan(wakes: Wakes) -> Plan[ScheduleAnswer]:
            if (yield from self._locked(name)) is None:
                return ScheduleAnswer("not_found", name)
            yield from self.context.store.delete_schedule(name)
            yield from cancel_groups(self.context, {group(name): reason})
            return ScheduleAnswer("removed", name)

        return Work(plan)

    def find(self, name: str) -> Work[Schedule | None]:
        """Return the schedule of a name, or None."""
        checked("name", name, SCHEDULE_CHARACTERS)
        return Work(lambda wakes: self.context.store.read_schedule(name), atomic=False)

    def search(
        self, *, kind: str | None = None, recipient: str | None = None, after: str = "", limit: int = PAGE
    ) -> Work[list[Schedule]]:
        """Return a page of schedules in the order of their names, those `after` a name."""
        if not 0 < limit <= LARGEST_PAGE:
            raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")
        return Work(lambda wakes: self.context.store.read_schedules(after, kind, recipient, limit), atomic=False)

    def missed(
        self,
        *,
        recipient: str | None = None,
        source: Source | None = None,
        name: str | None = None,
        before: int = 2**62,
        limit: int = PAGE,
    ) -> Work[Sequence[tuple[int, Missed]]]:
        """Return what got no notification of its own, and why, newest first: of a recipient, a source or a name.

        Each comes with its place; ask for those `before` the last one's place to get the next page.
        """
        if source is not None:
            checked_choice("source", source, get_args(Source))
        if not 0 < limit <= LARGEST_PAGE:
            raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")
        filters = {"recipient": recipient, "source": source, "name": name}
        return Work(lambda wakes: self.context.store.read_missed(filters, before, limit), atomic=False)

    def _locked(self, name: str) -> Plan[Schedule | None]:
        checked("name", name, SCHEDULE_CHARACTERS)
        return (yield from self.context.store.lock_schedules([name])).get(name)

    def _set(self, wanted: Sequence[Schedule], wakes: Wakes) -> Plan[Sequence[ScheduleAnswer]]:
        store, now = self.context.store, self.context.clock.now()
        locked = yield from store.lock_schedules([one.name for one in wanted])
        new = sorted((one for one in wanted if one.name not in locked), key=lambda one: one.name)
        for one in new:
            if one.until_at is not None and one.until_at <= now:
                raise InvalidInput("until", f"has passed already; {one.name!r} would never be due")
        created = (yield from store.put_schedules(new)) if new else set()
        if len(created) < len(new):
            # Somebody else created them in this moment.
            locked |= yield from store.lock_schedules([one.name for one in new if one.name not in created])
        pairs = [(locked[one.name], one) for one in wanted if one.name in locked]
        differing = [(one, to) for one, to in pairs if _differs(one, to)]
        current = yield from self._brought_up([one for one, _ in differing], now, wakes)
        changed = [_edited(one, to, now) for one, (_, to) in zip(current, differing, strict=True)]
        yield from self._write(changed, now)
        answers = {one.name: ScheduleAnswer("created", one.name, one.next_at) for one in new}
        answers |= {name: ScheduleAnswer("unchanged", name, one.next_at) for name, one in locked.items()}
        answers |= {one.name: ScheduleAnswer("changed", one.name, one.next_at) for one in changed}
        return [answers[one.name] for one in wanted]

    def _brought_up(self, schedules: Sequence[Schedule], now: datetime, wakes: Wakes) -> Plan[list[Schedule]]:
        """See to what has come by now, by the schedules as they are, and answer them as they then stand. What has come
        while one was paused is skipped. Raises UnknownName where a kind is not declared here."""
        for schedule in schedules:
            self.context.kind(schedule.kind)
        steps = [
            (one, advance(one, now) if one.paused_at is None else pass_over(one, now, f"paused: {one.reason}"))
            for one in schedules
        ]
        kinds = {one.kind: self.context.kind(one.kind) for one, step in steps if step.due}
        for one in (yield from see_to(self.context.store, kinds, steps, now)):
            wakes.note(one.channel, one.wake_at, now)
        return [advanced(one, step) for one, step in steps]

    def _write(self, changed: Sequence[Schedule], now: datetime) -> Plan[None]:
        if changed:
            by = self.context.by
            yield from self.context.store.change_schedules(
                [replace(one, changed_at=now, changed_by=by) for one in changed]
            )

    def _schedule(self, new: NewSchedule, now: datetime) -> Schedule:
        recurrence = Cron(new.recurrence) if isinstance(new.recurrence, str) else new.recurrence
        if not isinstance(recurrence, (Cron, Rrule, Every)):
            raise InvalidInput("recurrence", "must be Cron(…), Rrule(…), Every(…) or a cron expression")
        zones.zone(checked("zone", new.zone, NAME_CHARACTERS))
        checked_choice("catch_up", new.catch_up, get_args(CatchUp))
        if new.max_lateness is not None:
            checked_span("max_lateness", new.max_lateness)
            if new.max_lateness % _A_SECOND:
                raise InvalidInput("max_lateness", "must be whole seconds")
        if type(new.most) is not int or not 1 <= new.most <= LARGEST_MOST:
            raise InvalidInput("most", f"must be a whole number from 1 to {LARGEST_MOST:,}")
        data = dumped(new.data)
        if "period" in new.data:
            raise InvalidInput("data", "holds the name 'period', which is where the period itself is told")
        one = Schedule(
            checked("name", new.name, SCHEDULE_CHARACTERS), self.context.kind(new.kind).name,
            checked("recipient", new.recipient, RECIPIENT_CHARACTERS),
            new.tenant if new.tenant is None else checked("tenant", new.tenant, NAME_CHARACTERS),
            self.context.namespace, data, recurrence, new.zone, new.catch_up, new.max_lateness, new.most,
            _until(new.until), 1, now, None, None, None, now, now, self.context.by,
        )  # fmt: skip
        return replace(one, next_at=following(one, now))


def _until(until: datetime | None) -> datetime | None:
    if until is None:
        return None
    if not isinstance(until, datetime) or until.tzinfo is None:  # type: ignore[redundant-expr]
        raise InvalidInput("until", "must be a datetime with a time zone")
    try:
        return until.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("until", "is beyond the end of the calendar; is the year right?") from None


_PLACE = ("version", "cursor_at", "next_at", "paused_at", "reason", "created_at", "changed_at", "changed_by")


def _differs(one: Schedule, wanted: Schedule) -> bool:
    kept = {name: getattr(one, name) for name in (*_PLACE, "namespace", "data")}
    return replace(wanted, **kept) != one or json.loads(wanted.data) != json.loads(one.data)


def _edited(one: Schedule, wanted: Schedule, now: datetime) -> Schedule:
    """Return a schedule made into what is wanted, where the old one stands: nothing before now is due again."""
    cursor = max(one.cursor_at, now)
    place = {name: getattr(one, name) for name in _PLACE} | {"cursor_at": cursor, "next_at": None}
    changed = replace(wanted, **place)
    return changed if one.paused_at is not None else replace(changed, next_at=following(changed, cursor))
