"""Unread messages: whether a reminder is still wanted, and which one speaks for a burst of them.

Messages of a conversation are counted by their position in it. A recipient has read up to a position, the watermark; a
notification that begins *covers* what was unread up to another. While it may still be on its way the others wait; once
it is accepted those it covers are skipped, and if it ended otherwise the next one speaks.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from .decision import Defer, Skip, Unread
from .lifecycle import CLOSED, State
from .notification import Covering, Notification
from .text import KEY_CHARACTERS

WAIT = timedelta(seconds=5)
"""How long the others wait before they look again at the one that speaks for them."""

WAIT_IN_DOUBT = timedelta(minutes=5)
"""The same, where it may have been sent: that may take a person to decide, and each look is put on record."""


@dataclass(frozen=True, slots=True)
class Watermark:
    """How far a recipient has read a conversation. `cover_id`: the notification that spoke last. `covered_to`: how far
    those have told of it that retention has removed."""

    up_to: int
    version: int
    cover_id: int | None
    covered_to: int
    read_at: datetime | None


class Told(NamedTuple):
    """The accepted notification that has told the furthest, and up to which position."""

    to: int
    key: str


@dataclass(frozen=True, slots=True)
class Cover:
    """A notification that may tell more than accepted ones have, or may have told it. `to`: the last position it
    covers."""

    id: int
    to: int
    key: str
    state: State
    doubt: int

    @property
    def is_under_way(self) -> bool:
        """Say whether it may still come to be accepted by itself."""
        return self.state not in CLOSED


@dataclass(frozen=True, slots=True)
class CoverRecord:
    """What a notification spoke for when it last began: the messages of a conversation after one position up to
    another, of which `total` were unread and `fresh` named by no notification before."""

    conversation: str
    after: int
    to: int
    total: int
    fresh: int
    begun_at: datetime


@dataclass(frozen=True, slots=True)
class Seen:
    """What is on record about a conversation and a recipient, as a notification about it fires.

    `position`: of the notification's own message; `gone`: it was deleted. `up_to`: how far the recipient has read.
    `version`: of the watermark, which a later reading or cover raises. `told`, `covered_to`: how far accepted
    notifications have told. `open`: those beyond that are on the wire or in doubt. `total`, `fresh`: how many messages
    are unread, and how many of them no notification has named yet, or may have.
    """

    conversation: str
    message: str
    position: int
    gone: bool
    up_to: int
    version: int
    told: Told | None
    covered_to: int
    open: Sequence[Cover]
    last_position: int
    total: int
    fresh: int

    @property
    def named_to(self) -> int:
        """The last position that some notification has named, or may have."""
        named = [cover.to for cover in self.open if cover.doubt > 0]
        return max(self.covered_to, self.told.to if self.told is not None else 0, *named)


class About(NamedTuple):
    """Which message of which conversation a notification is about, and whom it reminds."""

    id: int
    kind: str
    conversation: str
    recipient: str
    position: int
    message: str


class ReadUpTo(NamedTuple):
    """That somebody has read a conversation up to a message, up to a position, or to its end."""

    kind: str
    conversation: str
    recipient: str
    message: str | None = None
    position: int | None = None


def about(n: Notification) -> About | None:
    """Return what a reminder is about; None where its data does not say so, because somebody else has written it."""
    carried = json.loads(n.data)
    if not is_reminder(n) or not carried.keys() >= {"conversation", "position", "message"}:
        return None
    return About(n.id, n.kind, carried["conversation"], n.recipient, carried["position"], carried["message"])


def group(kind: str, conversation: str, recipient: str) -> str:
    """Return the cancellation group of what one recipient is to be told about one conversation; the length keeps two
    conversations apart whatever their names hold."""
    return f"unread:{kind}:{len(conversation)}:{conversation}:{recipient}"


def key(conversation: str, message: str, recipient: str) -> str:
    """Return the key of one recipient's reminder of one message; what is too long is named by a digest."""
    whole = f"{name(conversation, message)}/{recipient}"
    return whole if len(whole) <= KEY_CHARACTERS else hashlib.sha256(whole.encode()).hexdigest()


def name(conversation: str, message: str) -> str:
    """Return the name of a message among all conversations; what is too long is named by a digest."""
    whole = f"{_apart(conversation)}/{_apart(message)}"
    return whole if len(whole) <= KEY_CHARACTERS else hashlib.sha256(whole.encode()).hexdigest()


def _apart(part: str) -> str:
    """Return a part of a key without the slash that parts are told apart by."""
    return part.replace("%", "%25").replace("/", "%2F")


def data(conversation: str, message: str, position: int) -> str:
    """Return what a reminder carries: which message of which conversation it is about."""
    return json.dumps({"conversation": conversation, "message": message, "position": position}, ensure_ascii=False)


def is_reminder(n: Notification) -> bool:
    """Say whether a notification is about an unread message, and not one of its kind scheduled otherwise."""
    return n.group is not None and n.group.startswith(f"unread:{n.kind}:")


def foregone(n: Notification, seen: Seen, now: datetime) -> Skip | Defer | None:
    """Return the decision that makes asking the handler pointless, if there is one."""
    if seen.gone:
        return Skip("the message was deleted")
    if seen.up_to >= seen.position:
        return Skip("read")
    if seen.told is not None and seen.position <= seen.told.to:
        return Skip(f"covered by {seen.told.key}")
    if seen.position <= seen.covered_to:
        return Skip("covered by an earlier one")
    if (waiting := _waits_for(n, seen, now)) is not None:
        return waiting
    if seen.total == 0:
        return Skip("nothing is unread")
    return None


def _waits_for(n: Notification, seen: Seen, now: datetime) -> Defer | None:
    """Return why it is not the turn of a notification: another one may be telling the same at this moment."""
    others = [cover for cover in seen.open if cover.id != n.id and cover.is_under_way]
    for cover in others:
        if cover.state is State.SENDING:
            return Defer(f"{cover.key} is on its way and may cover it", until=now + WAIT)
    for cover in others:
        if seen.position <= cover.to:
            return Defer(f"{cover.key} may have been sent and would cover it", until=now + WAIT_IN_DOUBT)
    return None


def unread(seen: Seen) -> Unread:
    """Return what the handler is told."""
    return Unread(seen.conversation, seen.message, seen.total, seen.fresh)


def covering(n: Notification, seen: Seen) -> Covering:
    """Return what a notification covers if it begins by what was seen."""
    to = max(seen.last_position, seen.position)
    return Covering(seen.conversation, n.recipient, seen.version, seen.up_to, to, seen.total, seen.fresh)


def counted_elsewhere(seen: Seen, up_to: int | None, total: int | None) -> Seen:
    """Return what was seen with an application's own watermark and count in the place of the built-in ones."""
    up_to = seen.up_to if up_to is None else up_to
    if total is None:
        return replace(seen, up_to=up_to)
    return replace(seen, up_to=up_to, total=total, fresh=min(total, seen.fresh))
