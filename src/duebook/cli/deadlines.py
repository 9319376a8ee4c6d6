"""Deadlines: dates people are reminded of, set, met, looked at."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

import typer

from ..domain import deadlines as rules
from ..domain.deadlines import Deadline, Step
from ..domain.missed import Missed
from ..domain.story import IdentityRecord
from ..features.deadlines import DeadlineAnswer
from . import paging, reading
from .exits import Exit
from .options import Data, KindName, KindOption, Reason, Recipient, Tenant, Told
from .output import Reply, Table, plain
from .program import group
from .session import Session
from .wording import count, first_line, instant

deadlines = group(
    "deadlines",
    "Owners",
    "Set dates that people are reminded of, move them, meet them. They need the app, which says when a kind reminds.",
    "duebook deadlines set contract c-77 --recipient ann --on 2027-01-14 --zone Europe/Berlin --app app.notify:book",
    "duebook deadlines show contract c-77 --app app.notify:book",
)

Key = Annotated[str, typer.Argument(metavar="KEY", help="The deadline's business key, such as contract-77.")]


def need_app(session: Session) -> None:
    """Raise InvalidInput where no app says when a kind reminds."""
    session.need_app("when a kind reminds")


@deadlines(
    "duebook deadlines set contract contract-77 --recipient acct-1842 --on 2027-01-14 --zone Europe/Berlin "
    "--app app.notify:book",
    "duebook deadlines set filing f-9 --recipient acct-9 --on 2027-01-14T17:00 --zone America/New_York",
    name="set",
)
async def set_deadline(
    session: Session,
    kind: KindName,
    key: Key,
    recipient: Told,
    on: Annotated[str, typer.Option("--on", help="A date, which lasts until its day is over, or a wall time.")],
    zone: Annotated[str, typer.Option("--zone", help="Whose day or clock that is, such as Europe/Berlin.")],
    data: Data = None,
    tenant: Tenant = None,
) -> Reply:
    """Set a deadline, or move the one of this name; saying the same again changes nothing.

    Pending reminders of the date before are withdrawn, those of the new one are scheduled as the kind's policy in the
    app has it.
    """
    need_app(session)
    answer = await session.verbs.deadlines.set(
        kind, key, recipient=recipient, on=reading.day("on", on), zone=zone, tenant=tenant,
        data=reading.mapping("data", data),
    )  # fmt: skip
    return Reply(plain(answer), [*_answered(answer), *_steps(answer.steps, session.book.wired.clock.now())])


@deadlines('duebook deadlines complete contract contract-77 --reason "renewed"')
async def complete(session: Session, kind: KindName, key: Key, reason: Reason = "completed") -> Reply:
    """Note that a deadline was met, and withdraw the reminders that are left. A date set later is a new one."""
    need_app(session)
    answer = await session.verbs.deadlines.complete(kind, key, reason=reason)
    if not answer:
        return _not_found(kind, key)
    return Reply(plain(answer), _answered(answer))


def _answered(answer: DeadlineAnswer) -> list[str]:
    name = f"Deadline {answer.kind}/{answer.key}"
    match answer.result:
        case "unchanged":
            lines = [f"{name} is like that already; nothing was changed."]
        case "changed":
            lines = [f"{name}: its data were changed, its date stays."]
        case "already_completed":
            lines = [f"{name} is completed already."]
        case _:
            lines = [f"{name} is {answer.result}."]
    if answer.cancelled:
        lines.append(f"{count(answer.cancelled, 'pending reminder')} withdrawn.")
    if answer.too_late:
        lines.append(f"For {answer.too_late} it was too late: on the wire, or in doubt.")
    return lines


def _steps(steps: Sequence[Step], now: datetime) -> list[str]:
    return [f"  {_days(step.days)}: {step.left_out or _due(step.promise.due_at, now)}" for step in steps]


def _due(at: datetime, now: datetime) -> str:
    return instant(at) if at > now else "now"


def _days(days: int) -> str:
    if days == 0:
        return "on the day"
    return f"{count(abs(days), 'day')} {'before' if days > 0 else 'after'}"


def _not_found(kind: str, key: str) -> Reply:
    document = {"kind": kind, "key": key, "result": "not_found"}
    return Reply(document, [f"There is no deadline {kind}/{key}."], Exit.REFUSED)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of one step: where its notification is, or why it has none."""

    days: int
    due_at: datetime
    became: str
    reason: str | None


@deadlines("duebook deadlines show contract contract-77 --app app.notify:book")
async def show(session: Session, kind: KindName, key: Key) -> Reply:
    """Show a deadline, and what became of each reminder of its present date."""
    need_app(session)
    one = await session.verbs.deadlines.find(kind, key)
    if one is None:
        return _not_found(kind, key)
    fates = await _fates(session, one)
    return Reply({"deadline": _document(one), "steps": plain(fates)}, [*_described(one), "", *_told(fates)])


async def _fates(session: Session, one: Deadline) -> list[Fate]:
    """Return the steps of the present term, the earliest first."""
    policy = (await session.kind(one.kind)).deadline
    keys = {rules.key(one.key, one.term, days): days for days in (policy.days if policy else ())}
    store = session.book.wired.store
    known = await session.ask(store.read_identities([(one.kind, key) for key in sorted(keys)])) if keys else {}
    missed = await session.verbs.schedules.missed(source="deadline", name=f"{one.key}/{one.term}")
    fates = {keys[key]: _sent(keys[key], identity) for (_, key), identity in known.items()}
    for _, each in missed:
        if each.kind == one.kind:
            fates.setdefault(rules.days_of(each.first_label), _left_out(each))
    return sorted(fates.values(), key=lambda fate: -fate.days)


def _sent(days: int, identity: IdentityRecord) -> Fate:
    return Fate(days, identity.due_at, identity.state.value, identity.reason)


def _left_out(one: Missed) -> Fate:
    return Fate(rules.days_of(one.first_label), one.first_at, "left out", one.reason)


def _described(one: Deadline) -> list[str]:
    why = f": {one.reason}" if one.reason else ""
    return [
        f"{one.kind}/{one.key}: {one.wall} in {one.zone}, over at {instant(one.ends_at)}",
        f"To {one.recipient}{f', tenant {one.tenant}' if one.tenant else ''}. Date number {one.term} of this deadline.",
        f"It is {one.state}{why}. Changed {instant(one.changed_at)} by {one.changed_by}.",
    ]


def _told(fates: Sequence[Fate]) -> list[str | Table]:
    if not fates:
        return ["Nothing is on record about its reminders."]
    rows = [[_days(fate.days), instant(fate.due_at), fate.became, first_line(fate.reason or "", 80)] for fate in fates]
    return [Table(["step", "due", "it is", "reason"], rows)]


def _document(one: Deadline) -> dict[str, Any]:
    document: dict[str, Any] = plain(one)
    return document | {"data": json.loads(one.data)}


@deadlines("duebook deadlines list --state open --kind contract", name="list")
async def list_deadlines(
    session: Session,
    kind: KindOption = None,
    recipient: Recipient = None,
    state: Annotated[Literal["open", "completed"] | None, typer.Option("--state", help="Open, or met.")] = None,
) -> Reply:
    """List all deadlines, in the order of their names."""

    async def read(after: tuple[str, str]) -> Sequence[Deadline]:
        return await session.verbs.deadlines.search(
            kind=kind, recipient=recipient, state=state, after=after, limit=paging.PAGE
        )

    found = paging.pages(read, ("", ""), lambda one: (one.kind, one.key))
    return await paging.told(session.screen, "deadlines", found, _document, _table)


def _table(page: Sequence[Deadline]) -> Table:
    rows = [[f"{one.kind}/{one.key}", one.wall, one.zone, one.recipient, one.state, str(one.term)] for one in page]
    return Table(["deadline", "date", "zone", "recipient", "state", "term"], rows)
