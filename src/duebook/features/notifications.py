"""The verbs of duebook, each written once, as work that any connection can carry out.

Owners schedule, cancel, reschedule and ask; reviewers redrive, drop and resolve; operators pause. The answers are the
truth at the moment of the transaction, never "probably".
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, get_args

from ..domain import control, ownership
from ..domain.draft import Draft
from ..domain.lifecycle import Event, State
from ..domain.notification import Move, Notification
from ..domain.ownership import Answer, IfExists, Ruling, Scheduled
from ..domain.policy import Mode, checked_choice
from ..domain.story import Backlog, Story
from ..domain.text import KEY_CHARACTERS, NAME_CHARACTERS, REASON_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..domain.walltime import LocalTime
from ..errors import AlreadyScheduled, InvalidInput
from ..ports import Plan
from . import moving_in
from .cancelling import GroupAnswer, cancel_groups
from .context import Context
from .drafting import New, draft, dumped, when, worthless_from
from .work import Wakes, Work

CHUNK = 1_000
PAGE = 100
LARGEST_PAGE = 1_000_000


class Notifications:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def schedule(
        self,
        kind: str,
        key: str,
        *,
        recipient: str,
        at: datetime | LocalTime | None = None,
        after: timedelta | None = None,
        data: Mapping[str, Any] | None = None,
        group: str | None = None,
        tenant: str | None = None,
        expires_at: datetime | None = None,
        if_exists: IfExists = "keep",
    ) -> Work[Scheduled]:
        """Promise one notification. Its identity is (kind, key), for ever: a second call answers `existing`.

        `at`: a ZoneInfo or local() time is a local promise, any other aware time an instant. `after`: from now.
        `data`: at most 64 KiB of JSON; keep ids in it, the handler reads the rest when it fires. `if_exists`: "keep"
        the one that exists, "reschedule" it, "rearm" a cancelled one, or "raise" AlreadyScheduled.
        Raises InvalidInput naming the field; then nothing is stored.
        """
        checked_choice("if_exists", if_exists, get_args(IfExists))
        new = New(
            kind=kind, key=key, recipient=recipient, at=at, after=after, data={} if data is None else data,
            group=group, tenant=tenant, expires_at=expires_at,
        )  # fmt: skip
        now = self.context.clock.now()
        one = draft(new, self.context.kind(kind), self.context.namespace, now)

        def plan(wakes: Wakes) -> Plan[Scheduled]:
            return (yield from self._schedule([one], if_exists, now, wakes))[0]

        return Work(plan, atomic=if_exists in ("reschedule", "rearm"))

    def schedule_many(self, news: Iterable[New], *, if_exists: IfExists = "keep") -> Work[list[Scheduled]]:
        """Promise many at once, all or none; the answers are in the order of the arguments.

        Raises InvalidInput naming the position and the field of the first that cannot be stored.
        """
        checked_choice("if_exists", if_exists, get_args(IfExists))
        now = self.context.clock.now()
        drafts = self._drafts(news, now)

        def plan(wakes: Wakes) -> Plan[list[Scheduled]]:
            answers: list[Scheduled] = []
            for start in range(0, len(drafts), CHUNK):
                answers += yield from self._schedule(drafts[start : start + CHUNK], if_exists, now, wakes)
            return answers

        return Work(plan, atomic=len(drafts) > CHUNK or if_exists != "keep")

    def record_sent(self, news: Iterable[New], *, reason: str = moving_in.REASON) -> Work[list[Scheduled]]:
        """Put on record what another program has sent, so that it is never sent from here, all or none: each identity
        is closed as accepted, on your word. What exists already stays as it is; its answer says so.

        Raises InvalidInput naming the position and the field of the first that cannot be stored.
        """
        checked("reason", reason, REASON_CHARACTERS)
        now = self.context.clock.now()
        drafts = self._drafts(news, now)
        return Work(lambda wakes: moving_in.record_sent(self.context, drafts, reason, now))

    def _drafts(self, news: Iterable[New], now: datetime) -> list[Draft]:
        drafts = []
        for position, new in enumerate(news):
            try:
                drafts.append(draft(new, self.context.kind(new.kind), self.context.namespace, now))
            except InvalidInput as error:
                raise InvalidInput(f"[{position}].{error.field}", error.problem) from None
        return drafts

    def _schedule(self, drafts: list[Draft], if_exists: IfExists, now: datetime, wakes: Wakes) -> Plan[list[Scheduled]]:
        """Everything in identity order, so that two callers with overlapping sets wait for each other and never
        deadlock. The second of two drafts with one identity meets the first."""
        store = self.context.store
        names = [(one.kind, one.key) for one in drafts]
        first = {name: position for position, name in reversed(list(enumerate(names)))}
        created = yield from store.schedule([drafts[first[name]] for name in sorted(first)])
        answers: dict[int, Scheduled] = {}
        met: list[int] = []
        for position, (one, name) in enumerate(zip(drafts, names, strict=True)):
            if name in created and first[name] == position:
                wakes.note(one.channel, one.wake_at, now)
                answers[position] = _created(one, created[name])
            else:
                met.append(position)
        existing = (yield from store.read_identities(sorted({names[position] for position in met}))) if met else {}
        for position in sorted(met, key=lambda position: (names[position], position)):
            found = existing.get(names[position])
            if found is None:
                # Its memory ended between the two statements; now it can be made.
                made = yield from store.schedule([drafts[position]])
                answers[position] = _created(drafts[position], made[names[position]])
            else:
                kept = Scheduled(found.notification_id, *names[position], False, found.state, found.due_at)
                answers[position] = yield from self._meet(kept, drafts[position], if_exists, now, wakes)
        return [answers[position] for position in range(len(drafts))]

    def _meet(self, kept: Scheduled, one: Draft, if_exists: IfExists, now: datetime, wakes: Wakes) -> Plan[Scheduled]:
        """Do what the caller wants with an identity that exists."""
        if if_exists == "raise":
            raise AlreadyScheduled(kept.kind, kept.key, kept.state)
        if if_exists == "keep":
            return kept
        n = yield from self.context.store.lock(kept.kind, kept.key)
        if n is None:
            return kept
        wanted = ownership.rearm if if_exists == "rearm" else _rescheduled
        verdict = wanted(n, one.promise, one.expires_at, one.data, now, self.context.by)
        answer = yield from self._carry_out(n, verdict)
        if not answer:
            return Scheduled(n.id, n.kind, n.key, False, n.state, n.due_at)
        wakes.note(n.channel, one.wake_at, now)
        return Scheduled(n.id, n.kind, n.key, False, State.SCHEDULED, one.promise.due_at, changed=True)

    def cancel(self, kind: str, key: str, *, reason: str = "cancelled by its owner") -> Work[Answer]:
        """Withdraw a notification. Until it begins, its owner wins; afterwards the answer is `too_late`, and should it
        ever come back to be sent again it ends cancelled."""
        checked("reason", reason, REASON_CHARACTERS)

        def wish(n: Notification, now: datetime) -> Move | Answer:
            return ownership.cancel(n, reason, now, self.context.by)

        def plan(wakes: Wakes) -> Plan[Answer]:
            n = yield from self._locked(kind, key)
            if n is None:
                return ownership.NOT_FOUND
            answer = yield from self._carry_out(n, wish(n, self.context.clock.now()))
            if answer.result == "too_late":
                yield from self.context.store.request_cancel({n.id: reason})
            return answer

        return Work(plan)

    def cancel_group(self, group: str, *, reason: str) -> Work[GroupAnswer]:
        """Withdraw every open notification of a group, in one transaction."""
        checked("group", group, KEY_CHARACTERS)
        checked("reason", reason, REASON_CHARACTERS)

        def plan(wakes: Wakes) -> Plan[GroupAnswer]:
            return (yield from cancel_groups(self.context, {group: reason}))[group]

        return Work(plan)

    def reschedule(
        self,
        kind: str,
        key: str,
        *,
        at: datetime | LocalTime | None = None,
        after: timedelta | None = None,
        expires_at: datetime | None = None,
    ) -> Work[Answer]:
        """Give a notification that has not begun another time."""
        now = self.context.clock.now()
        due = when(at, after, now)
        until = worthless_from(self.context.kind(kind), expires_at, due.due_at)

        def plan(wakes: Wakes) -> Plan[Answer]:
            n = yield from self._locked(kind, key)
            if n is None:
                return ownership.NOT_FOUND
            wakes.note(n.channel, due.due_at, now)
            return (yield from self._carry_out(n, ownership.reschedule(n, due, until, now, self.context.by)))

        return Work(plan)

    def send_now(self, kind: str, key: str) -> Work[Answer]:
        """Look at a scheduled notification now instead of when it is due; its handler still decides."""
        return self._wish(kind, key, lambda n, now: ownership.send_now(n, now, self.context.by))

    def redrive(
        self, kind: str, key: str, *, reason: str, data: Mapping[str, Any] | None = None, force: bool = False
    ) -> Work[Answer]:
        """Send one back from review: the same identity and idempotency key, a fresh budget of attempts.

        `data`: in the place of what it carries. What a provider refused is `refused` again, unless it has new data, its
        recipient's record was changed since, or you `force` it.
        """
        checked("reason", reason, REASON_CHARACTERS)
        if data is not None and self.context.kind(kind).reads_facts:
            raise InvalidInput("data", f"what a {kind} says is read when it is sent; change that, or use force")
        text = None if data is None else dumped(data)

        def plan(wakes: Wakes) -> Plan[Answer]:
            n = yield from self._locked(kind, key)
            if n is None:
                return ownership.NOT_FOUND
            now, changed_at = self.context.clock.now(), None
            if ownership.is_refused(n):
                known = yield from self.context.store.read_people([n.recipient])
                changed_at = known[n.recipient].changed_at if n.recipient in known else None
            verdict = ownership.redrive(
                n, reason, now, self.context.by, data=text, force=force, recipient_changed_at=changed_at
            )
            return (yield from self._grant(n, verdict, now, wakes))

        return Work(plan)

    def drop(self, kind: str, key: str, *, reason: str) -> Work[Answer]:
        """Close one in review for good."""
        checked("reason", reason, REASON_CHARACTERS)
        return self._wish(kind, key, lambda n, now: ownership.drop(n, reason, now, self.context.by))

    def resolve(self, kind: str, key: str, ruling: Ruling, *, reason: str) -> Work[Answer]:
        """Rule on an uncertain one: it was "sent", "resend" it at the risk of a second copy, or "drop" it."""
        checked_choice("ruling", ruling, get_args(Ruling))
        checked("reason", reason, REASON_CHARACTERS)
        return self._wish(kind, key, lambda n, now: ownership.rule(n, ruling, reason, now, self.context.by))

    def find(self, kind: str, key: str) -> Work[Notification | None]:
        """Return the notification behind an identity, or None if there is none or retention removed it."""
        checked("key", key, KEY_CHARACTERS)
        return Work(lambda wakes: self.context.store.read(checked("kind", kind, NAME_CHARACTERS), key), atomic=False)

    def search(
        self,
        *,
        kind: str | None = None,
        state: str | None = None,
        channel: str | None = None,
        tenant: str | None = None,
        recipient: str | None = None,
        before: int = 2**62,
        limit: int = PAGE,
    ) -> Work[list[Notification]]:
        """Return a page of notifications, newest first; `before` is the last id of the page before."""
        if state is not None:
            checked_choice("state", state, tuple(State))
        _checked_page(limit)
        for name, value in (("kind", kind), ("channel", channel), ("tenant", tenant), ("recipient", recipient)):
            if value is not None:
                checked(name, value, RECIPIENT_CHARACTERS)
        filters = {"kind": kind, "state": state, "channel": channel, "tenant": tenant}
        if recipient is not None:
            plan = self.context.store.search_recipient
            return Work(lambda wakes: plan(recipient, filters, before, limit), atomic=False)
        return Work(lambda wakes: self.context.store.search(filters, before, limit), atomic=False)

    def search_address(self, address: str, *, limit: int = PAGE) -> Work[list[Notification]]:
        """Return notifications whose stored message names an address. Reads everything: for people, not programs."""
        checked("address", address, RECIPIENT_CHARACTERS)
        _checked_page(limit)
        return Work(lambda wakes: self.context.store.search_address(address, limit), atomic=False)

    def explain(self, kind: str, key: str) -> Work[Story | None]:
        """Return everything on record about one identity: why she got it, did not get it, or got it twice."""
        checked("kind", kind, NAME_CHARACTERS)
        checked("key", key, KEY_CHARACTERS)
        return Work(lambda wakes: self.context.store.read_story(kind, key))

    def pause(self, *, channel: str | None = None, kind: str | None = None, reason: str = "paused") -> Work[None]:
        """Hold a channel, a kind, or everything: nothing of it begins until it is resumed. What is due waits."""
        return self._pause(self.context.scope(channel, kind), True, reason)

    def resume(self, *, channel: str | None = None, kind: str | None = None, reason: str = "resumed") -> Work[None]:
        """End a pause, and a throttle of the channel."""
        return self._pause(self.context.scope(channel, kind), False, reason)

    def set_mode(self, kind: str, mode: Mode, *, reason: str = "") -> Work[None]:
        """Switch a kind between "live", "shadow" (decides and records, sends nothing) and "off" (skips, on record)."""
        checked_choice("mode", mode, get_args(Mode))
        checked("reason", reason, REASON_CHARACTERS, empty=True)
        scope, now = control.scope(kind=self.context.kind(kind).name), self.context.clock.now()
        return Work(lambda wakes: self.context.store.set_mode(scope, mode, reason, self.context.by, now))

    def controls(self) -> Work[list[control.Control]]:
        """Return every pause, throttle and mode on record."""
        return Work(lambda wakes: self.context.store.read_controls(), atomic=False)

    def backlog(self) -> Work[Backlog]:
        """Return what is due, in flight, uncertain and in review, and how old the oldest of each is."""
        return Work(lambda wakes: self.context.store.read_backlog(self.context.clock.now()), atomic=False)

    def forget(self, recipient: str) -> Work[int]:
        """Cancel what is pending for a person and erase their data; the fact that something was sent stays.

        Keys stay as they are, so keep personal data out of them. Answers how many identities were touched.
        """
        checked("recipient", recipient, RECIPIENT_CHARACTERS)
        alias = f"forgotten-{secrets.token_hex(8)}"

        def plan(wakes: Wakes) -> Plan[int]:
            yield from self._withdraw(recipient)
            touched = yield from self.context.store.forget(recipient, alias)
            # To erase a schedule or a deadline is to wait for whoever holds it; what they added is there only now.
            yield from self._withdraw(alias)
            return touched

        return Work(plan)

    def _withdraw(self, recipient: str) -> Plan[None]:
        now, reason = self.context.clock.now(), "its recipient was forgotten"
        found = yield from self.context.store.lock_recipient(recipient)
        verdicts = [ownership.cancel(n, reason, now, self.context.by) for n in found]
        moves = [verdict for verdict in verdicts if isinstance(verdict, Move)]
        if moves:
            yield from self.context.store.apply(moves)
        late = {n.id: reason for n, verdict in zip(found, verdicts, strict=True) if not isinstance(verdict, Move)}
        if late:
            yield from self.context.store.request_cancel(late)

    def _pause(self, scope: str, paused: bool, reason: str) -> Work[None]:
        checked("reason", reason, REASON_CHARACTERS)
        now = self.context.clock.now()
        return Work(lambda wakes: self.context.store.set_pause(scope, paused, reason, self.context.by, now))

    def _wish(self, kind: str, key: str, verdict: Callable[[Notification, datetime], Move | Answer]) -> Work[Answer]:
        def plan(wakes: Wakes) -> Plan[Answer]:
            n = yield from self._locked(kind, key)
            if n is None:
                return ownership.NOT_FOUND
            now = self.context.clock.now()
            return (yield from self._grant(n, verdict(n, now), now, wakes))

        return Work(plan)

    def _grant(self, n: Notification, verdict: Move | Answer, now: datetime, wakes: Wakes) -> Plan[Answer]:
        """Carry out a wish, and wake who sends what is to go out now."""
        answer = yield from self._carry_out(n, verdict)
        if answer and answer.state is State.SCHEDULED:
            wakes.note(n.channel, now, now)
        return answer

    def _locked(self, kind: str, key: str) -> Plan[Notification | None]:
        checked("key", key, KEY_CHARACTERS)
        return (yield from self.context.store.lock(self.context.kind(kind).name, key))

    def _carry_out(self, n: Notification, verdict: Move | Answer) -> Plan[Answer]:
        if isinstance(verdict, Answer):
            return verdict
        applied = yield from self.context.store.apply([verdict])
        if n.id not in applied:
            return Answer("too_late", n.state, "somebody else moved it in this moment")
        if verdict.event is Event.DOUBT:
            return Answer("too_late", State.UNCERTAIN, "an earlier attempt may have been sent")
        return Answer("done", applied[n.id], verdict.reason)


def _rescheduled(
    n: Notification, due: Any, expires_at: datetime | None, data: str | None, now: datetime, by: str
) -> Move | Answer:
    return ownership.reschedule(n, due, expires_at, now, by, data)


def _created(one: Draft, id: int) -> Scheduled:
    return Scheduled(id, one.kind, one.key, True, State.SCHEDULED, one.promise.due_at)


def _checked_page(limit: int) -> None:
    if not 0 < limit <= LARGEST_PAGE:
        raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")
