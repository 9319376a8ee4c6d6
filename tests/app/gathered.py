"""A book with a kind for unread messages and kinds for digests, each of whose mails says what its handler was told."""

import json
from collections.abc import Iterable
from datetime import time, timedelta
from typing import Any

from duebook import DigestPolicy, Due, Duebook, Email, UnreadPolicy
from duebook.testing import Sent, Timeline
from tests.app.places import Place

LOS_ANGELES = "America/Los_Angeles"
CHAT = ("chat", "room")
HOURLY = DigestPolicy(limit=3)
FOUND = DigestPolicy(daily_at=time(9), zone=LOS_ANGELES, unread_of="channel")


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    declare(book)
    return book


def declare(book: Duebook) -> None:
    """Register "chat", which reminds after a quarter of an hour; "channel", which never does in a test; "found", the
    daily digest of that; and "news", an hourly digest of three items."""
    book.kind("chat", channel="mail", unread=UnreadPolicy())(reminding)
    book.kind("channel", channel="mail", unread=UnreadPolicy(after=timedelta(days=900)))(reminding)
    book.kind("found", channel="mail", digest=FOUND)(gathering)
    book.kind("news", channel="mail", digest=HOURLY)(gathering)


def reminding(due: Due) -> Email:
    assert due.unread is not None
    subject = f"{due.unread.total} unread, {due.unread.new} new"
    return Email(to=f"{due.recipient}@example.org", subject=subject, text=due.unread.message)


def gathering(due: Due) -> Email:
    assert due.digest is not None
    told = {
        "items": [one.item for one in due.digest.items], "more": due.digest.more, "late": due.digest.late,
        "first": due.digest.first_label, "periods": due.digest.periods,
    }  # fmt: skip
    return Email(to=f"{due.recipient}@example.org", subject=due.digest.label, text=json.dumps(told))


async def post(timeline: Timeline, *messages: str, author: str = "bob", to: Iterable[str] = ("ann",)) -> None:
    for message in messages:
        await timeline.book.unread.posted(*CHAT, message, author=author, recipients=list(to))


async def add(timeline: Timeline, *items: str, **options: Any) -> None:
    for item in items:
        await timeline.book.digests.add("news", options.pop("recipient", "ann"), item, **options)


def read_but_withdraw_nothing(place: Place, up_to: int, recipient: str = "ann") -> None:
    """Move a watermark of the room and leave what is pending as it is: the first layer is off."""
    if place.dialect == "sqlite":
        for trigger in ("duebook_read", "duebook_first_read"):
            place.ask(f"drop trigger if exists {trigger}")
    place.ask(
        "insert into @watermarks as w (kind, conversation, recipient, up_to) "
        f"values ('chat', 'room', '{recipient}', {up_to}) "
        "on conflict (kind, conversation, recipient) do update set up_to = excluded.up_to, version = w.version + 1"
    )


def told(one: Sent) -> dict[str, Any]:
    """What a digest's handler was told."""
    assert isinstance(one.message, Email)
    found: dict[str, Any] = json.loads(one.message.text)
    return found


def items(sent: Iterable[Sent]) -> list[list[str]]:
    """The items of each digest, in their order."""
    return [told(one)["items"] for one in sent]
