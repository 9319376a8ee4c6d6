"""What owners do with their notifications: schedule, cancel, reschedule, send now."""

from __future__ import annotations

from typing import Annotated

import typer

from ..domain.ownership import Answer, IfExists, Scheduled
from . import documents, reading
from .exits import Exit
from .options import After, At, Data, ExpiresAt, Key, KindName, Reason, Rule, Tenant, Told, Zone
from .output import Reply
from .program import command
from .session import Session
from .wording import count, first_line, instant

PANEL = "Owners"

NO_APP = (
    "Note: without --app the kind's max_lateness is not known here, so this never expires by itself. "
    "Give --expires-at, or --app module:book."
)

_ANSWERS = {
    "too_late": "Too late: {name} is {state}.",
    "already_closed": "{name} is closed already, as {state}.",
    "not_found": "There is no {name}, or retention removed it.",
    "not_in_review": "{name} is not in review; it is {state}.",
    "refused": "{name} stays {state}.",
    "not_uncertain": "{name} is not uncertain; it is {state}.",
}


def told(kind: str, key: str, done: str, answer: Answer, beside: str = "") -> Reply:
    """Return the reply to a wish about one notification: `done` if it was granted, the truth if not."""
    name = f"{kind}/{key}"
    if answer:
        return Reply(documents.answer(kind, key, answer), [f"{name}: {done}."])
    state = answer.state.value if answer.state else ""
    text = _ANSWERS[answer.result].format(name=name, state=state)
    if answer.reason:
        text += f" Reason: {first_line(answer.reason)}"
    beside = beside if answer.result == "too_late" else ""
    return Reply(documents.answer(kind, key, answer), [part for part in (text, beside) if part], Exit.REFUSED)


@command(
    PANEL,
    'duebook schedule renewal sub-1842/2027 --recipient acct-1842 --at "2027-01-14 09:00" --zone America/New_York',
    "duebook schedule unread m-77 --recipient ann --after 15m --group unread:42:ann --data '{\"conversation\": 42}'",
)
async def schedule(
    session: Session,
    kind: KindName,
    key: Key,
    recipient: Told,
    at: At = None,
    zone: Zone = None,
    rule: Rule = "compatible",
    after: After = None,
    data: Data = None,
    group: Annotated[str | None, typer.Option("--group", help="A cancellation key.")] = None,
    tenant: Tenant = None,
    expires_at: ExpiresAt = None,
    if_exists: Annotated[IfExists, typer.Option("--if-exists", help="What to do with one that exists.")] = "keep",
) -> Reply:
    """Promise one notification: this recipient is told this, at this time.

    KIND and KEY are its identity for ever: a second call does not send a second message, it says what exists.
    """
    declared = await session.kind(kind, key)
    due, later = reading.when(at, after, zone, rule)
    until = reading.instant("expires_at", expires_at, zone)
    content = reading.mapping("data", data)
    answer = await session.verbs.schedule(
        kind, key, recipient=recipient, at=due, after=later, data=content, group=group, tenant=tenant,
        expires_at=until, if_exists=if_exists,
    )  # fmt: skip
    if not session.knows_app and until is None and declared.max_lateness is None:
        session.screen.note(NO_APP)
    local = f" ({at} in {zone})" if at and zone else ""
    return Reply(documents.scheduled(answer), [_scheduled(answer, local)])


def _scheduled(answer: Scheduled, local: str) -> str:
    name, due = f"{answer.kind}/{answer.key}", instant(answer.due_at)
    if answer.created:
        return f"Scheduled {name} for {due}{local}."
    if answer.changed:
        return f"{name} existed and is now scheduled for {due}{local}."
    return f"{name} exists already: it is {answer.state.value}, due {due}. Nothing was changed (see --if-exists)."


@command(PANEL, 'duebook cancel renewal sub-1842/2027 --reason "the account was closed"')
async def cancel(session: Session, kind: KindName, key: Key, reason: Reason = "cancelled by its owner") -> Reply:
    """Withdraw one notification, unless it is too late.

    Once its message is on the wire the answer is too_late; should it come back to be sent again, it ends cancelled.
    """
    await session.kind(kind, key)
    answer = await session.verbs.cancel(kind, key, reason=reason)
    beside = "The wish is kept: if it comes back to be sent again, it ends cancelled."
    return told(kind, key, "cancelled", answer, beside)


@command(PANEL, 'duebook cancel-group unread:42:ann --reason "read"')
async def cancel_group(
    session: Session,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="The group given when they were scheduled.")],
    reason: Reason = "cancelled by its owner",
) -> Reply:
    """Withdraw every open notification of a group, in one transaction."""
    answer = await session.verbs.cancel_group(group, reason=reason)
    lines = [f"Cancelled {count(answer.cancelled, 'notification')} of group {group}."]
    if answer.too_late:
        lines.append(f"For {answer.too_late} it was too late: on the wire or in doubt. duebook find --state uncertain")
    code = Exit.REFUSED if answer.too_late else Exit.DONE
    document = {"group": group, "cancelled": answer.cancelled, "too_late": answer.too_late}
    return Reply(document, lines, code)


@command(
    PANEL,
    'duebook reschedule renewal sub-1842/2027 --at "2027-01-21 09:00" --zone America/New_York',
    "duebook reschedule unread m-77 --after 30m",
)
async def reschedule(
    session: Session,
    kind: KindName,
    key: Key,
    at: At = None,
    zone: Zone = None,
    rule: Rule = "compatible",
    after: After = None,
    expires_at: ExpiresAt = None,
) -> Reply:
    """Give a notification that has not begun another time."""
    declared = await session.kind(kind, key)
    due, later = reading.when(at, after, zone, rule)
    until = reading.instant("expires_at", expires_at, zone)
    answer = await session.verbs.reschedule(kind, key, at=due, after=later, expires_at=until)
    if answer and not session.knows_app and until is None and declared.max_lateness is None:
        session.screen.note(NO_APP)
    return told(
        kind, key, f"rescheduled, {f'for {at}' if at else f'in {after}'}{f' in {zone}' if zone else ''}", answer
    )


@command(PANEL, "duebook send-now renewal sub-1842/2027")
async def send_now(session: Session, kind: KindName, key: Key) -> Reply:
    """Look at a scheduled notification now instead of when it is due.

    Its handler still decides, and the promised time stays on record.
    """
    await session.kind(kind, key)
    answer = await session.verbs.send_now(kind, key)
    return told(kind, key, "brought forward to now; the next worker that looks takes it", answer)
