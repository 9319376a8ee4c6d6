"""Deadlines: dates people are reminded of, which move, are met, and come again."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any, Literal

from ..domain import deadlines
from ..domain.deadlines import Deadline, Step
from ..domain.lifecycle import State
from ..domain.policy import DeadlinePolicy, Kind
from ..domain.text import NAME_CHARACTERS, REASON_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..errors import InvalidInput
from ..ports import Plan
from .cancelling import GroupAnswer, cancel_groups
from .context import Context
from .drafting import dumped
from .work import Wakes, Work

CHUNK = 500
PAGE = 100
LARGEST_PAGE = 10_000
DEADLINE_CHARACTERS = 160
"""A step's key is the deadline's key, its term and the step, and must fit into a key."""

Result = Literal["created", "moved", "changed", "unchanged", "completed", "already_completed", "not_found"]
_SENT = (State.ACCEPTED, State.SENDING, State.UNCERTAIN)
_NOTHING = GroupAnswer(0, 0)

Name = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewDeadline:
    """A deadline as it is to be. `on`: a date, which lasts until its day is over, or a local datetime; `zone`: whose
    day or clock that is. `data`: handed to the handler as it is when a reminder fires, not as it was when it was set.
    """

    kind: str
    key: str
    recipient: str
    on: date | datetime
    zone: str | None = None
    tenant: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DeadlineAnswer:
    """What became of a wish about a deadline.

    `term`: which of its dates this is. `steps`: the reminders of this date, when they are due, or why they are left
    out. `cancelled`, `too_late`: reminders of the date before that were withdrawn, or were already on their way.
    """

    result: Result
    kind: str
    key: str
    term: int = 0
    steps: Sequence[Step] = ()
    cancelled: int = 0
    too_late: int = 0

    def __bool__(self) -> bool:
        return self.result != "not_found"


class Deadlines:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def set(
        self,
        kind: str,
        key: str,
        *,
        recipient: str,
        on: date | datetime,
        zone: str | None = None,
        tenant: str | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> Work[DeadlineAnswer]:
        """Set a deadline, or move the one of this name: its pending reminders are withdrawn, those of the new date are
        scheduled as the kind's policy has it. Saying the same again changes nothing.

        Raises InvalidInput naming the field, also for a date that is over with nothing left to remind of; then nothing
        is stored.
        """
        new = NewDeadline(kind=kind, key=key, recipient=recipient, on=on, zone=zone, tenant=tenant, data=data or {})
        wanted = self._wanted(new, self.context.clock.now())

        def plan(wakes: Wakes) -> Plan[DeadlineAnswer]:
            return (yield from self._set({(wanted.kind, wanted.key): wanted}, wakes))[0]

        return Work(plan)

    def set_many(self, news: Iterable[NewDeadline]) -> Work[list[DeadlineAnswer]]:
        """Do the same for many, all or none. Raises InvalidInput naming the position and the field of the first that
        cannot be stored."""
        now = self.context.clock.now()
        wanted: dict[Name, Deadline] = {}
        for position, new in enumerate(news):
            try:
                one = self._wanted(new, now)
                if (one.kind, one.key) in wanted:
                    raise InvalidInput("key", f"{one.key!r} is named twice")
            except InvalidInput as error:
                raise InvalidInput(f"[{position}].{error.field}", error.problem) from None
            wanted[one.kind, one.key] = one

        def plan(wakes: Wakes) -> Plan[list[DeadlineAnswer]]:
            answers: dict[Name, DeadlineAnswer] = {}
            for part in _parts(wanted):
                answers |= zip(part, (yield from self._set(part, wakes)), strict=True)
            return [answers[name] for name in wanted]

        return Work(plan)

    def complete(self, kind: str, key: str, *, reason: str = "completed") -> Work[DeadlineAnswer]:
        """Note that a deadline was met, and withdraw the reminders that are left. A date set later is a new one."""
        checked("reason", reason, REASON_CHARACTERS)
        self._policy(kind)
        _checked_key(key)

        def plan(wakes: Wakes) -> Plan[DeadlineAnswer]:
            one = (yield from self.context.store.lock_deadlines([(kind, key)])).get((kind, key))
            if one is None:
                return DeadlineAnswer("not_found", kind, key)
            if one.state == "completed":
                return DeadlineAnswer("already_completed", kind, key, one.term)
            now = self.context.clock.now()
            done = replace(one, state="completed", reason=reason, changed_at=now, changed_by=self.context.by)
            yield from self.context.store.change_deadlines([done])
            group = deadlines.group(kind, key)
            gone = (yield from cancel_groups(self.context, {group: reason}))[group]
            return DeadlineAnswer("completed", kind, key, one.term, (), gone.cancelled, gone.too_late)

        return Work(plan)

    def find(self, kind: str, key: str) -> Work[Deadline | None]:
        """Return the deadline of a name, or None."""
        _checked_key(key)

        def plan(wakes: Wakes) -> Plan[Deadline | None]:
            return (yield from self.context.store.read_deadlines([(kind, key)])).get((kind, key))

        return Work(plan, atomic=False)

    def search(
        self,
        *,
        kind: str | None = None,
        recipient: str | None = None,
        state: Literal["open", "completed"] | None = None,
        after: Name = ("", ""),
        limit: int = PAGE,
    ) -> Work[list[Deadline]]:
        """Return a page of deadlines in the order of kind and key, those `after` a name."""
        if not 0 < limit <= LARGEST_PAGE:
            raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")
        filters = {"kind": kind, "recipient": recipient, "state": state}
        return Work(lambda wakes: self.context.store.list_deadlines(after, filters, limit), atomic=False)

    def _set(self, wanted: Mapping[Name, Deadline], wakes: Wakes) -> Plan[list[DeadlineAnswer]]:
        """The deadline's row is locked first, so that two callers who move one date take turns."""
        store, now = self.context.store, self.context.clock.now()
        yield from store.put_deadlines([wanted[name] for name in sorted(wanted)])
        locked = yield from store.lock_deadlines(wanted)
        moved = {name: _next_term(one, wanted[name], now) for name, one in locked.items() if _moves(one, wanted[name])}
        edited = {
            name: _with_data(one, wanted[name], now)
            for name, one in locked.items()
            if name not in moved and _edits(one, wanted[name])
        }
        # What is withdrawn first cannot be begun between the look at what was sent and the end of the transaction.
        gone = yield from self._withdraw([one for name, one in moved.items() if locked[name].term > 0])
        sent = yield from self._sent([locked[name] for name in moved if moved[name].first_term <= locked[name].term])
        steps = {
            name: deadlines.steps(one, self._policy(one.kind), sent.get(name, ()), now) for name, one in moved.items()
        }
        yield from self._promise(moved, steps, now, wakes)
        if moved or edited:
            yield from store.change_deadlines([*moved.values(), *edited.values()])
        return [_answer(locked[name], moved, edited, steps, gone) for name in wanted]

    def _sent(self, before: Sequence[Deadline]) -> Plan[dict[Name, Collection[int]]]:
        """Answer which steps were sent in the cycles so far, of deadlines whose policy repeats none."""
        keys = {
            (one.kind, key): ((one.kind, one.key), days)
            for one in before
            if not (policy := self._policy(one.kind)).repeat
            for key, days in deadlines.keys_of_cycle(one, policy).items()
        }
        if not keys:
            return {}
        found = yield from self.context.store.read_identities(sorted(keys))
        sent: dict[Name, set[int]] = {}
        for name, identity in found.items():
            if identity.state in _SENT:
                deadline, days = keys[name]
                sent.setdefault(deadline, set()).add(days)
        return {**sent}

    def _withdraw(self, moved: Sequence[Deadline]) -> Plan[dict[str, GroupAnswer]]:
        if not moved:
            return {}
        reasons = {deadlines.group(one.kind, one.key): f"the deadline has moved to {one.wall}" for one in moved}
        return (yield from cancel_groups(self.context, reasons))

    def _promise(
        self, moved: Mapping[Name, Deadline], steps: Mapping[Name, Sequence[Step]], now: datetime, wakes: Wakes
    ) -> Plan[None]:
        pairs = [(one, step) for name, one in moved.items() for step in steps[name]]
        wanted = [(one, step) for one, step in pairs if step.left_out is None]
        drafts = [deadlines.draft(one, step, self.context.kind(one.kind), now) for one, step in wanted]
        if drafts:
            yield from self.context.store.schedule(sorted(drafts, key=lambda one: (one.kind, one.key)))
        missed = [deadlines.left_out(one, step, now) for one, step in pairs if step.left_out is not None]
        if missed:
            yield from self.context.store.record_missed(missed)
        for one in drafts:
            wakes.note(one.channel, one.wake_at, now)

    def _wanted(self, new: NewDeadline, now: datetime) -> Deadline:
        kind, policy = self.context.kind(new.kind), self._policy(new.kind)
        wall, zone, ends_at = deadlines.ending(new.on, new.zone, now)
        one = Deadline(
            kind.name, _checked_key(new.key), checked("recipient", new.recipient, RECIPIENT_CHARACTERS),
            new.tenant if new.tenant is None else checked("tenant", new.tenant, NAME_CHARACTERS),
            self.context.namespace, dumped(new.data), wall, zone, ends_at, 0, 0, "open", None, now, now,
            self.context.by,
        )  # fmt: skip
        deadlines.check_ahead(one, policy, now)
        return one

    def _policy(self, kind: str) -> DeadlinePolicy:
        found: Kind = self.context.kind(kind)
        if found.deadline is None:
            problem = f"{kind!r} declares no deadlines; give it deadline=DeadlinePolicy(days=(30, 7, 1))"
            raise InvalidInput("kind", problem)
        return found.deadline


def _parts(wanted: Mapping[Name, Deadline]) -> Iterator[Mapping[Name, Deadline]]:
    """In the order of their names, so that two callers with many never wait for each other."""
    names = sorted(wanted)
    for start in range(0, len(names), CHUNK):
        yield {name: wanted[name] for name in names[start : start + CHUNK]}


def _checked_key(key: str) -> str:
    return checked("key", key, DEADLINE_CHARACTERS)


def _moves(one: Deadline, wanted: Deadline) -> bool:
    """Say whether this is another date: a new one, a moved one, one for somebody else, or one set after completion."""
    same = (one.wall, one.zone, one.recipient) == (wanted.wall, wanted.zone, wanted.recipient)
    return one.term == 0 or one.state == "completed" or not same


def _edits(one: Deadline, wanted: Deadline) -> bool:
    return one.tenant != wanted.tenant or json.loads(one.data) != json.loads(wanted.data)


def _with_data(one: Deadline, wanted: Deadline, now: datetime) -> Deadline:
    return replace(one, tenant=wanted.tenant, data=wanted.data, changed_at=now, changed_by=wanted.changed_by)


def _next_term(one: Deadline, wanted: Deadline, now: datetime) -> Deadline:
    """Return the deadline with its new date. The cycle begins anew where the date before was met or is over, and for
    another recipient, who has not been told of anything."""
    term = one.term + 1
    over = one.state == "completed" or one.ends_at <= now
    anew = one.term == 0 or over or one.recipient != wanted.recipient
    first = term if anew else one.first_term
    return replace(wanted, namespace=one.namespace, term=term, first_term=first, created_at=one.created_at)


def _answer(
    one: Deadline,
    moved: Mapping[Name, Deadline],
    edited: Mapping[Name, Deadline],
    steps: Mapping[Name, Sequence[Step]],
    gone: Mapping[str, GroupAnswer],
) -> DeadlineAnswer:
    name = (one.kind, one.key)
    if name not in moved:
        return DeadlineAnswer("changed" if name in edited else "unchanged", *name, one.term)
    withdrawn = gone.get(deadlines.group(*name), _NOTHING)
    result: Result = "created" if one.term == 0 else "moved"
    return DeadlineAnswer(result, *name, moved[name].term, steps[name], withdrawn.cancelled, withdrawn.too_late)
