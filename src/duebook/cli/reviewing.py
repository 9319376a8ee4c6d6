"""What reviewers do: send back, drop, and rule on what nobody knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..domain.lifecycle import State
from ..domain.notification import Notification
from ..domain.ownership import NOT_FOUND, Answer, Ruling
from ..errors import InvalidInput
from . import documents, reading
from .exits import Exit
from .finding import OptionalKey, OptionalKind
from .options import Channel, Data, Key, KindName, KindOption
from .output import Reply
from .owning import told
from .program import command
from .session import Session
from .wording import count

PANEL = "Reviewers"
MOST = 100_000

Why = Annotated[str, typer.Option("--reason", help="Why. It stays on record, with your name.")]

_CONSEQUENCES: dict[Ruling, str] = {
    "sent": "it would close as accepted, on your word; if it did not arrive, nobody is told",
    "resend": "the same message would go out again; if the first did arrive, a second copy arrives",
    "drop": "it would close as dropped; if it did not arrive, nobody is told",
}
_DONE: dict[Ruling, str] = {
    "sent": "closed as accepted, on your word",
    "resend": "goes out again, with the same message and idempotency key",
    "drop": "dropped",
}


@command(
    PANEL,
    'duebook redrive renewal sub-1842/2027 --reason "the template was mended"',
    'duebook redrive renewal sub-1842/2027 --reason "another account" --data \'{"account": 7}\' --app app.notify:book',
    'duebook redrive renewal sub-1842/2027 --reason "the provider lifted the block" --force',
)
async def redrive(
    session: Session,
    kind: KindName,
    key: Key,
    reason: Why,
    data: Data = None,
    force: Annotated[bool, typer.Option("--force", help="Although nothing about it has changed.")] = False,
) -> Reply:
    """Send one back from review: the same identity and idempotency key, a fresh budget of attempts.

    What a provider refused goes out again with new --data (which needs the app), after its recipient's record was
    changed, or with --force.
    """
    await session.kind(kind, key)
    if data is not None:
        session.need_app("whether a kind carries data of its own")
    content = None if data is None else reading.mapping("data", data)
    answer = await session.verbs.redrive(kind, key, reason=reason, data=content, force=force)
    return told(kind, key, "goes out again, now", answer)


@command(PANEL, 'duebook drop renewal sub-1842/2027 --reason "the customer left"')
async def drop(session: Session, kind: KindName, key: Key, reason: Why) -> Reply:
    """Close one in review for good."""
    await session.kind(kind, key)
    return told(kind, key, "dropped", await session.verbs.drop(kind, key, reason=reason))


@command(
    PANEL,
    'duebook resolve renewal sub-1842/2027 --as sent --reason "seen in the provider\'s log"',
    "duebook resolve renewal sub-1842/2027 --as resend --reason … --dry-run",
    'duebook resolve --all-uncertain --kind renewal --as sent --reason "provider confirmed the batch" --yes',
)
async def resolve(
    session: Session,
    ruling: Annotated[Ruling, typer.Option("--as", help="It was sent; send it again; or drop it.")],
    reason: Why,
    kind_name: OptionalKind = None,
    key: OptionalKey = None,
    all_uncertain: Annotated[bool, typer.Option("--all-uncertain", help="Every uncertain one of --kind.")] = False,
    kind: KindOption = None,
    channel: Channel = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would do; change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --all-uncertain: do it, after a dry run.")] = False,
) -> Reply:
    """Rule on a notification of which nobody knows whether it was sent, or on all of a kind.

    A ruling proves nothing: the doubt stays on record. In bulk it is a dry run unless you say --yes.
    """
    if all_uncertain:
        if kind is None or kind_name is not None:
            raise InvalidInput("kind", "--all-uncertain needs --kind, and no KIND KEY: a ruling is about one kind")
        await session.kind(kind)
        found = await session.search(kind=kind, state=State.UNCERTAIN, channel=channel, limit=MOST)
        if dry_run or not yes:
            ending = "Nothing was changed. To do it, add --yes."
            return _foreseen(found, ruling, ending if not dry_run else "Nothing was changed.")
        return await _in_bulk(session, found, ruling, reason)
    if kind_name is None or key is None or kind is not None:
        raise InvalidInput("key", "say which one: KIND KEY, or --all-uncertain --kind KIND")
    await session.kind(kind_name, key)
    if dry_run:
        n = await session.verbs.find(kind_name, key)
        if n is None or n.state is not State.UNCERTAIN:
            refusal = NOT_FOUND if n is None else Answer("not_uncertain", n.state, n.reason)
            return told(kind_name, key, "", refusal)
        return _foreseen([n], ruling, "Nothing was changed.")
    answer = await session.verbs.resolve(kind_name, key, ruling, reason=reason)
    return told(kind_name, key, _DONE[ruling], answer)


def _foreseen(found: Sequence[Notification], ruling: Ruling, ending: str) -> Reply:
    document = {
        "dry_run": True,
        "ruling": ruling,
        "would": [documents.notification(n, bodies=False) for n in found],
        "consequence": _CONSEQUENCES[ruling],
    }
    if not found:
        return Reply(document, ["None is uncertain.", ending])
    what = f"{count(len(found), 'notification is', 'notifications are')} uncertain. Of each: {_CONSEQUENCES[ruling]}."
    return Reply(document, [documents.notifications(list(found)), what, ending])


async def _in_bulk(session: Session, found: Sequence[Notification], ruling: Ruling, reason: str) -> Reply:
    refused = []
    with session.screen.progress("ruling", len(found)) as advance:
        for n in found:
            answer = await session.verbs.resolve(n.kind, n.key, ruling, reason=reason)
            advance(1)
            if not answer:
                refused.append(documents.answer(n.kind, n.key, answer))
    done = len(found) - len(refused)
    document = {"dry_run": False, "ruling": ruling, "resolved": done, "refused": refused}
    lines = [f"Ruled on {count(done, 'notification')}: {_DONE[ruling]}."]
    lines += [f"{item['kind']}/{item['key']}: {item['result']}, it is {item['state']}" for item in refused]
    return Reply(document, lines, Exit.REFUSED if refused else Exit.DONE)
