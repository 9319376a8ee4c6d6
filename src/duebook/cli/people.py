"""People: where and how they want to be reached, and what they do not want."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import typer

from ..domain.people import Person, quiet_until
from . import reading
from .exits import Exit
from .operating import named
from .options import Channel, KindOption, Reason
from .output import Reply, plain
from .program import group
from .session import Session
from .wording import instant

people = group(
    "people",
    "Owners",
    "Note where and how people want to be reached, and what they do not want. It holds for whatever has not begun.",
    "duebook people set ann --zone America/New_York --quiet 22:00-07:00 --address email=ann@example.com",
    "duebook people opt-out ann --kind news",
)

Whom = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Who it is, by your own name for them.")]


@people("duebook people show ann")
async def show(session: Session, recipient: Whom) -> Reply:
    """Show what is known about somebody, what they opted out of, and whether it is quiet for them now."""
    person = await session.verbs.people.find(recipient)
    if person is None:
        document = {"recipient": recipient, "result": "not_found"}
        return Reply(document, [f"Nothing is known about {recipient}."], Exit.REFUSED)
    return _described(session, person)


@people(
    "duebook people set ann --zone America/New_York --locale en --quiet 22:00-07:00",
    "duebook people set ann --address email=ann@example.com --address push=device-7 --preferred push",
    name="set",
)
async def set_person(
    session: Session,
    recipient: Whom,
    zone: Annotated[str | None, typer.Option("--zone", help="Whose clock they live by.")] = None,
    locale: Annotated[str | None, typer.Option("--locale", help="How the handler should speak to them.")] = None,
    address: Annotated[
        list[str] | None, typer.Option("--address", metavar="CHANNEL=ADDRESS", help="Once for each channel.")
    ] = None,
    preferred: Annotated[
        str | None, typer.Option("--preferred", metavar="CHANNEL", help="The channel they would rather have.")
    ] = None,
    quiet: Annotated[
        str | None, typer.Option("--quiet", metavar="FROM-UNTIL", help="When nothing comes, such as 22:00-07:00.")
    ] = None,
) -> Reply:
    """Note what is known about somebody, in the place of what was; what is left out is forgotten.

    What they opted out of stays as it is.
    """
    await session.verbs.people.set(
        recipient,
        zone=zone,
        locale=locale,
        addresses=reading.pairs("addresses", address or ()),
        preferred=preferred,
        quiet=None if quiet is None else reading.times_of_day("quiet", quiet),
    )
    noted = await session.verbs.people.find(recipient)
    assert noted is not None
    return _described(session, noted)


@people(
    "duebook people opt-out ann --kind news", 'duebook people opt-out ann --reason "she wrote to us"', name="opt-out"
)
async def opt_out(
    session: Session, recipient: Whom, kind: KindOption = None, channel: Channel = None, reason: Reason = "opted out"
) -> Reply:
    """Note that somebody wants nothing of a kind, over a channel, or at all. Essential kinds are sent all the same."""
    await _check_scope(session, kind, channel)
    new = await session.verbs.people.opt_out(recipient, kind=kind, channel=channel, reason=reason)
    what = named(session.context.scope(channel, kind))
    said = f"{recipient} has opted out of {what}." if new else f"{recipient} had opted out of {what} before."
    return Reply({"recipient": recipient, "kind": kind, "channel": channel, "new": new}, [said])


@people("duebook people opt-in ann --kind news", name="opt-in")
async def opt_in(session: Session, recipient: Whom, kind: KindOption = None, channel: Channel = None) -> Reply:
    """Note that somebody wants it again: what they opted out of by the same words."""
    await _check_scope(session, kind, channel)
    done = await session.verbs.people.opt_in(recipient, kind=kind, channel=channel)
    what = named(session.context.scope(channel, kind))
    document = {"recipient": recipient, "kind": kind, "channel": channel, "done": done}
    if done:
        return Reply(document, [f"{recipient} gets {what} again."])
    return Reply(document, [f"{recipient} has not opted out of {what}: duebook people show {recipient}"], Exit.REFUSED)


async def _check_scope(session: Session, kind: str | None, channel: str | None) -> None:
    """Raise UnknownName for what nobody has ever heard of: a typing error must not look like a wish."""
    if kind is not None:
        await session.kind(kind)
    if channel is not None:
        await session.channel(channel)


def _described(session: Session, person: Person) -> Reply:
    now = session.book.wired.clock.now()
    document = {**plain(person), "quiet_until": plain(quiet_until(person, now))}
    if person.quiet is not None:
        document["quiet"] = [person.quiet.start.isoformat("minutes"), person.quiet.end.isoformat("minutes")]
    return Reply(document, list(_lines(person, now)))


def _lines(person: Person, now: datetime) -> Iterator[str]:
    where = [f"{name} {value}" for name, value in (("zone", person.zone), ("locale", person.locale)) if value]
    yield ": ".join([person.recipient, *([", ".join(where)] if where else [])])
    for channel, address in sorted(person.addresses.items()):
        yield f"Over {channel}: {address}"
    if person.preferred is not None:
        yield f"Would rather have {person.preferred}, where a kind can use it."
    if person.quiet is not None:
        until = quiet_until(person, now)
        ending = f"; it is quiet now, until {instant(until)}" if until else ""
        yield f"Quiet from {person.quiet.start:%H:%M} to {person.quiet.end:%H:%M}{ending}."
    for scope in sorted(person.opted_out):
        yield f"Has opted out of {named(scope)}."
    if person.changed_at is not None:
        yield f"Noted at {instant(person.changed_at)}."
