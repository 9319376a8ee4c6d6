"""What operators do to all of it: hold, let go, switch, discard, forget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Annotated, Any

import typer

from ..domain.control import EVERYTHING, Control
from ..domain.control import scope as scope_of
from ..domain.policy import Kind, Mode, Retention
from ..domain.story import Backlog
from ..errors import InvalidInput
from . import reading
from .exits import Exit
from .options import Channel, KindName, KindOption
from .output import Reply, plain
from .program import command
from .session import Session
from .wording import ahead, count, first_line, instant

PANEL = "Operators"


@command(
    PANEL,
    'duebook pause --channel email --reason "the provider is down"',
    "duebook pause --kind renewal",
    "duebook pause",
)
async def pause(
    session: Session,
    channel: Channel = None,
    kind: KindOption = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; others read it in status.")] = "paused",
) -> Reply:
    """Hold a channel, a kind, or everything: nothing of it begins until it is resumed.

    What is due waits; what is on the wire is settled.
    """
    scope = await _scope(session, channel, kind)
    await session.verbs.pause(channel=channel, kind=kind, reason=reason)
    return await _in_force(session, scope, f"Paused {named(scope)}.")


@command(PANEL, "duebook resume --channel email", "duebook resume")
async def resume(
    session: Session,
    channel: Channel = None,
    kind: KindOption = None,
    reason: Annotated[str, typer.Option("--reason", help="Why; stays on record.")] = "resumed",
) -> Reply:
    """End a pause, and a throttle of the channel. Of everything, it says how much is overdue and goes out now."""
    scope = await _scope(session, channel, kind)
    before = {control.scope: control for control in await session.verbs.controls()}
    now = session.book.wired.clock.now()
    if scope not in before or not holds(before[scope], now):
        return await _in_force(session, scope, f"Nothing held {named(scope)}.")
    overdue = await session.verbs.backlog() if scope == EVERYTHING else None
    await session.verbs.resume(channel=channel, kind=kind, reason=reason)
    reply = await _in_force(session, scope, f"Resumed {named(scope)}.")
    return reply if overdue is None else _with_overdue(reply, overdue, now)


def _with_overdue(reply: Reply, backlog: Backlog, now: datetime) -> Reply:
    document = {**reply.document, "overdue": backlog.due, "oldest_due_at": plain(backlog.oldest_due_at)}
    if backlog.oldest_due_at is None:
        return Reply(document, [*reply.body, "Nothing is overdue."])
    age = ahead(backlog.oldest_due_at, now)
    return Reply(
        document, [*reply.body, f"Overdue: {backlog.due:,}, the oldest was promised {age}. Workers take them now."]
    )


@command(PANEL, 'duebook mode renewal shadow --reason "comparing with the old script"', "duebook mode renewal live")
async def mode(
    session: Session,
    kind: KindName,
    mode: Annotated[Mode, typer.Argument(metavar="live|shadow|off", help="live, shadow or off.")],
    reason: Annotated[str, typer.Option("--reason", help="Why; others read it in status.")] = "",
) -> Reply:
    """Switch a kind: live sends; shadow decides and records, sends nothing; off skips, on record."""
    await session.kind(kind)
    await session.verbs.set_mode(kind, mode, reason=reason)
    return await _in_force(session, scope_of(kind=kind), f"Kind {kind} is now {mode}.")


async def _scope(session: Session, channel: str | None, kind: str | None) -> str:
    """Return the scope meant, if it exists: a typing error must not look like a pause."""
    if channel is not None and kind is not None:
        raise InvalidInput("channel", "name a channel or a kind, not both; pause twice for both")
    if kind is not None:
        await session.kind(kind)
    if channel is not None:
        await session.channel(channel)
    return scope_of(channel=channel, kind=kind)


def named(scope: str) -> str:
    """Return a scope as people say it, such as "channel email"."""
    return "everything" if scope == EVERYTHING else scope.replace(":", " ")


_THROTTLES = {
    "open": "rests until {until}",
    "waiting": "has rested until {until} and waits for one send to try it out",
    "probing": "has rested until {until} and is being tried out by one send",
}


def document(control: Control, now: datetime) -> dict[str, Any]:
    """Return a control, and how it stands if its channel is throttled."""
    return {**plain(control), "throttle": control.throttle(now)}


def holds(control: Control, now: datetime) -> bool:
    """Say whether a control keeps anything from being sent."""
    return control.paused_at is not None or control.throttle(now) is not None


def force(controls: Sequence[Control], now: datetime) -> list[str]:
    """Return what is in force, a line for each pause, throttle and mode that matters."""
    lines = []
    for control in controls:
        name, why = named(control.scope), f": {first_line(control.reason)}" if control.reason else ""
        if control.paused_at is not None:
            lines.append(f"{name} is paused since {instant(control.paused_at)} by {control.by}{why}")
        if control.paused_until is not None and (stands := control.throttle(now)) is not None:
            lines.append(f"{name} {_THROTTLES[stands].format(until=instant(control.paused_until))}{why}")
        if control.mode in ("shadow", "off"):
            lines.append(f"{name} is in mode {control.mode} since {instant(control.at)} by {control.by}{why}")
    return lines


async def _in_force(session: Session, scope: str, done: str) -> Reply:
    controls = await session.verbs.controls()
    now = session.book.wired.clock.now()
    others = force(controls, now)
    lines = [done, *(["Now in force:", *(f"  {line}" for line in others)] if others else ["Nothing is held."])]
    return Reply({"scope": scope, "controls": [document(control, now) for control in controls]}, lines)


@command(PANEL, "duebook prune --app app.notify:book", "duebook prune --older-than 90d --kind unread")
async def prune(
    session: Session,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", help="Everything closed longer ago than this, instead of each kind's policy."),
    ] = None,
    kind: KindOption = None,
) -> Reply:
    """Discard what is older than its kind keeps it, until nothing is left to discard.

    Workers do this by themselves, slowly. Identities stay, so nothing is ever sent twice. Without an app the kinds'
    retention is not known here, and --older-than has to say it.
    """
    if older_than is None and not session.knows_app:
        raise InvalidInput(
            "older_than", "the kinds' retention is in the app: give --app module:book, or --older-than 90d"
        )
    kinds = [await session.kind(kind)] if kind is not None else list(session.book.registry.kinds.values())
    if older_than is not None:
        age = reading.span("older_than", older_than)
        kinds = [replace(one, retention=_uniform(one.retention, age)) for one in kinds]
    parts: dict[str, int] = {}
    identities: dict[str, int] = {}
    with session.screen.progress("discarding", None) as advance:
        for one in kinds:
            parts[one.name], identities[one.name] = await _prune(session, one, advance)
    total, forgotten = sum(parts.values()), sum(identities.values())
    lines = [f"{name}: {count(number, 'part')} discarded" for name, number in parts.items() if number]
    lines += [
        f"{name}: {count(number, 'identity', 'identities')} forgotten" for name, number in identities.items() if number
    ]
    return Reply(
        {"parts": parts, "identities": identities}, lines if total or forgotten else ["Nothing is old enough."]
    )


def _uniform(retention: Retention, age: timedelta) -> Retention:
    memory = retention.memory if retention.memory is not None and retention.memory >= age else None
    return Retention(age, age, age, memory)


async def _prune(session: Session, kind: Kind, advance: object) -> tuple[int, int]:
    wired = session.book.wired
    now, batch = wired.clock.now(), wired.settings.batch
    parts = identities = 0
    assert callable(advance)
    while True:
        gone = await wired.database.run(wired.store.prune(kind, now, batch))
        forgotten = await wired.database.run(wired.store.prune_identities(kind, now, batch))
        parts, identities = parts + gone, identities + forgotten
        advance(gone + forgotten)
        if not gone + forgotten:
            return parts, identities


@command(PANEL, "duebook forget acct-1842")
async def forget(
    session: Session,
    recipient: Annotated[str, typer.Argument(metavar="RECIPIENT", help="By your own name for them.")],
) -> Reply:
    """Erase a person's data and cancel what is pending for them; the fact that something was sent stays.

    Keys stay as they are, so keep personal data out of them.
    """
    touched = await session.verbs.forget(recipient)
    document = {"identities": touched}
    if not touched:
        return Reply({**document, "result": "not_found"}, ["Nothing is on record about that recipient."], Exit.REFUSED)
    return Reply(document, [f"Forgotten: {count(touched, 'notification')}. What was pending is cancelled."])
