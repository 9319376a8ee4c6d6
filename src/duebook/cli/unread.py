"""Unread messages: posted, read, deleted, and how a conversation stands for somebody."""

from __future__ import annotations

from typing import Annotated

import typer

from ..errors import InvalidInput
from .options import KindName, Tenant
from .output import Reply, plain
from .program import group
from .session import Session
from .wording import count

unread = group("unread", "Owners", "Remind of messages that nobody has read: post them, read them, look at them.")

Conversation = Annotated[str, typer.Argument(metavar="CONVERSATION", help="The conversation, such as room-7.")]
Message = Annotated[str, typer.Argument(metavar="MESSAGE", help="The message, by your own name for it.")]
Reader = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Who reads, by your own name for them.")]


def _need_app(session: Session) -> None:
    session.need_app("how long a message may stay unread")


@unread("duebook unread show chat room-7 ann --app app.notify:book")
async def show(session: Session, kind: KindName, conversation: Conversation, recipient: Reader) -> Reply:
    """Show how far somebody has read a conversation, and how much is unread.

    By the tables of duebook: an app that counts messages itself may say otherwise when a reminder is due.
    """
    _need_app(session)
    state = await session.verbs.unread.state(kind, conversation, recipient)
    document = {"kind": kind, "conversation": conversation, "recipient": recipient, **plain(state)}
    lines = [
        f"{recipient} has read {_extent(conversation, state.up_to)}.",
        f"Unread: {count(state.total, 'message')}, {state.new:,} of them in no reminder yet.",
    ]
    if state.covered_to > state.up_to:
        lines.append(f"Reminders have told of it up to position {state.covered_to:,}.")
    return Reply(document, lines)


def _extent(conversation: str, up_to: int) -> str:
    return f"{conversation} up to position {up_to:,}" if up_to else f"nothing of {conversation}"


@unread(
    "duebook unread mark-read chat room-7 ann --app app.notify:book",
    "duebook unread mark-read chat room-7 ann --up-to m-4711",
)
async def mark_read(
    session: Session,
    kind: KindName,
    conversation: Conversation,
    recipient: Reader,
    up_to: Annotated[str | None, typer.Option("--up-to", metavar="MESSAGE", help="Up to this message.")] = None,
    position: Annotated[int | None, typer.Option("--position", min=1, help="Up to this place.")] = None,
) -> Reply:
    """Note that somebody has read a conversation: all of it, or up to a message or a place.

    Pending reminders of it are withdrawn. What has been read never becomes unread again.
    """
    _need_app(session)
    if up_to is not None and position is not None:
        raise InvalidInput("position", "says the same as --up-to; give one of them")
    answer = await session.verbs.unread.mark_read(
        kind, conversation, recipient, up_to=up_to if up_to is not None else position
    )
    if answer.up_to is None:
        return Reply(plain(answer), ["Nothing changed: it was read before, or there is no such message."])
    return Reply(plain(answer), [f"{recipient} has read {_extent(conversation, answer.up_to)}."])


@unread(
    "duebook unread posted chat room-7 m-4711 --author bob --recipient ann --recipient cid --app app.notify:book",
)
async def posted(
    session: Session,
    kind: KindName,
    conversation: Conversation,
    message: Message,
    author: Annotated[str, typer.Option("--author", help="Who wrote it: never reminded of it.")],
    recipient: Annotated[list[str], typer.Option("--recipient", help="Who is reminded; give it for each of them.")],
    position: Annotated[
        int | None, typer.Option("--position", min=1, help="Its place, if your program counts them.")
    ] = None,
    tenant: Tenant = None,
) -> Reply:
    """Note that a message was posted: whoever has not read it in time is reminded.

    Saying it again changes nothing. A kind whose delay depends on the class of a recipient needs the verb in your
    program.
    """
    _need_app(session)
    answer = await session.verbs.unread.posted(
        kind, conversation, message, author=author, recipients=recipient, position=position, tenant=tenant
    )
    if not answer.created:
        return Reply(plain(answer), [f"Message {message} is known already; nothing was changed."])
    reminders = count(answer.reminders, "reminder")
    return Reply(plain(answer), [f"Message {message} has position {answer.position} in {conversation}; {reminders}."])


@unread("duebook unread deleted chat room-7 m-4711 --app app.notify:book")
async def deleted(session: Session, kind: KindName, conversation: Conversation, message: Message) -> Reply:
    """Note that a message was deleted: it counts for nobody any more."""
    _need_app(session)
    known = await session.verbs.unread.deleted(kind, conversation, message)
    said = "is deleted and counts for nobody" if known else "is unknown"
    return Reply({"message": message, "deleted": known}, [f"Message {message} {said}."])
