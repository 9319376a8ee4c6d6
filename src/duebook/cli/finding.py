"""Looking: which notifications there are, and the whole story of one."""

from __future__ import annotations

from typing import Annotated

import typer

from ..domain.lifecycle import State
from ..domain.story import Story
from ..errors import InvalidInput
from . import documents
from .exits import Exit
from .options import Channel, KindOption, Recipient
from .output import Reply
from .program import command
from .session import Session
from .telling import tell
from .wording import count

PANEL = "Owners"

OptionalKind = Annotated[str | None, typer.Argument(metavar="KIND", help="With KEY: one notification.")]
OptionalKey = Annotated[str | None, typer.Argument(metavar="KEY", help="Its business key.")]


def _pair(kind: str | None, key: str | None) -> tuple[str, str] | None:
    if kind is not None and key is None:
        raise InvalidInput("key", f"is missing: give KIND and KEY, or --kind {kind}")
    return None if kind is None or key is None else (kind, key)


@command(
    PANEL,
    "duebook find renewal sub-1842/2027",
    "duebook find --state review --kind renewal",
)
async def find(
    session: Session,
    kind_name: OptionalKind = None,
    key: OptionalKey = None,
    state: Annotated[State | None, typer.Option("--state", help="Where they are.")] = None,
    kind: KindOption = None,
    channel: Channel = None,
    recipient: Recipient = None,
    tenant: Annotated[str | None, typer.Option("--tenant", help="A tenant label.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=100_000, help="At most this many.")] = 50,
) -> Reply:
    """List notifications, newest first; or show the one behind KIND and KEY."""
    if pair := _pair(kind_name, key):
        n = await session.verbs.find(*pair)
        if n is None:
            return await _not_found(session, *pair)
        return Reply({"notifications": [documents.notification(n)], "more": False}, [documents.notifications([n])])
    if kind is not None:
        await session.kind(kind)
    found = await session.search(
        kind=kind, state=state, channel=channel, tenant=tenant, recipient=recipient, limit=limit + 1
    )
    shown, more = found[:limit], len(found) > limit
    document = {"notifications": [documents.notification(n, bodies=False) for n in shown], "more": more}
    if not shown:
        return Reply(document, ["None found."])
    ending = [f"There are more; these are the newest {limit} (--limit)."] if more else []
    return Reply(document, [documents.notifications(shown), *ending])


async def _not_found(session: Session, kind: str, key: str) -> Reply:
    await session.kind(kind, key)
    document = {"notifications": [], "more": False, "kind": kind, "key": key, "result": "not_found"}
    return Reply(
        document, [f"There is no {kind}/{key}, or retention removed it: duebook explain {kind} {key}"], Exit.REFUSED
    )


@command(
    PANEL,
    "duebook explain renewal sub-1842/2027",
    "duebook explain --recipient acct-1842",
    "duebook explain --address ann@example.com",
)
async def explain(
    session: Session,
    kind: OptionalKind = None,
    key: OptionalKey = None,
    recipient: Recipient = None,
    address: Annotated[
        str | None, typer.Option("--address", help="An address in a stored message. Reads everything: slow.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1_000, help="At most this many stories.")] = 20,
    full: Annotated[bool, typer.Option("--full", help="With whole tracebacks and the message on record.")] = False,
) -> Reply:
    """Tell why somebody got a message, did not get it, or got it twice.

    What was promised, each attempt and what came of it, what is at risk, and what retention has discarded.
    """
    pair = _pair(kind, key)
    if sum(item is not None for item in (pair, recipient, address)) != 1:
        raise InvalidInput("key", "say of whom: KIND KEY, or --recipient, or --address")
    if pair is not None:
        names, more = [pair], False
    else:
        names, more = await _names(session, recipient, address, limit)
    stories = [story for name in names if (story := await session.verbs.explain(*name)) is not None]
    if not stories:
        if pair is not None:
            await session.kind(*pair)
        said = f"Nothing is on record about {recipient or address or '/'.join(pair or ())}."
        return Reply({"stories": [], "more": False, "result": "not_found"}, [said], Exit.REFUSED)
    return _explained(session, stories, more, full)


async def _names(
    session: Session, recipient: str | None, address: str | None, limit: int
) -> tuple[list[tuple[str, str]], bool]:
    if recipient is not None:
        found = await session.search(recipient=recipient, limit=limit + 1)
    else:
        found = await session.verbs.search_address(address or "", limit=limit + 1)
    return [(n.kind, n.key) for n in found[:limit]], len(found) > limit


def _explained(session: Session, stories: list[Story], more: bool, full: bool) -> Reply:
    now = session.book.wired.clock.now()
    told = [tell(story, now, full=full) for story in stories]
    document = {
        "stories": [documents.story(story, lines) for story, lines in zip(stories, told, strict=True)],
        "more": more,
    }
    body: list[str] = []
    for lines in told:
        body += [*([""] if body else []), *lines]
    if len(stories) > 1 or more:
        ending = "; there are more (--limit)" if more else ""
        body += ["", f"{count(len(stories), 'story', 'stories')}, newest first{ending}."]
    return Reply(document, body)
