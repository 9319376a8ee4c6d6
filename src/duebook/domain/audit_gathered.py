"""What must hold of unread reminders and digests on record, and what an audit reads of them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from .audited import Surroundings, said, unserved
from .lifecycle import CLOSED, State

FRESH = timedelta(days=1)
"""How long a digest is surely still on record once its items were added: retention lets go of it some day."""

_UNSENT = CLOSED - {State.ACCEPTED}


class CoverEntry(NamedTuple):
    """A cover as an audit reads it. `reminded`: the recipient of its notification, where that is there.
    `last_position`: of its conversation, where that is known."""

    id: int
    recipient: str
    to: int
    reminded: str | None
    last_position: int | None

    @property
    def subject(self) -> str:
        return f"cover of notification {self.id}"


class DigestEntry(NamedTuple):
    """A digest as an audit reads it. `state`: of its notification, where that is there. `held`: how many items name
    it. `has_cursor`: its recipient is known; of one that was forgotten nothing was kept."""

    kind: str
    recipient: str
    label: str
    selected: int
    outcome: str | None
    state: str | None
    held: int
    has_cursor: bool

    @property
    def subject(self) -> str:
        return f"digest {self.kind}/{self.label}/{self.recipient}"


class ItemEntry(NamedTuple):
    """An item as an audit reads it. `open_from`, `next_close_at`: of its recipient's cursor, where there is one.
    `has_digest`: there is a digest of its label."""

    kind: str
    recipient: str
    item: str
    ready_at: datetime
    added_at: datetime
    label: str | None
    outcome: str | None
    open_from: datetime | None
    next_close_at: datetime | None
    has_digest: bool

    @property
    def subject(self) -> str:
        return f"item {self.kind}/{self.recipient}/{self.item}"


class PeriodEntry(NamedTuple):
    """A recipient's cursor as an audit reads it."""

    kind: str
    recipient: str
    open_from: datetime | None
    closed_to: datetime | None
    next_close_at: datetime | None

    @property
    def subject(self) -> str:
        return f"periods of {self.kind}/{self.recipient}"


def cover_has_its_notification(cover: CoverEntry, _: Surroundings) -> str | None:
    """What a reminder speaks for goes before the reminder does."""
    if cover.reminded is None:
        return "it speaks for a notification that is not there"
    return None if cover.reminded == cover.recipient else f"it is for {cover.recipient}, its notification for another"


def cover_ends_in_its_conversation(cover: CoverEntry, _: Surroundings) -> str | None:
    """Nobody is told of more messages than there are."""
    if cover.last_position is None or cover.to <= cover.last_position:
        return None
    return f"it covers up to {cover.to}, and the conversation ends at {cover.last_position}"


def digest_holds_what_it_froze(digest: DigestEntry, _: Surroundings) -> str | None:
    """As many items name a digest as it selected, and none once they were given back."""
    expected = 0 if digest.outcome == "released" else digest.selected
    if digest.held == expected or not digest.has_cursor:
        return None
    return f"{digest.held} items are in it, and {expected} should be"


def unsent_digest_is_seen_to(digest: DigestEntry, _: Surroundings) -> str | None:
    """The items of a digest that ended without being accepted were given back, or are recorded as undelivered."""
    if digest.state in _UNSENT and digest.outcome is None:
        return f"it was {digest.state}, and nothing was done about its items"
    return None


def item_has_its_digest(item: ItemEntry, around: Surroundings) -> str | None:
    """What is said to be in a digest is in one."""
    if item.label is None or item.has_digest or item.added_at < around.now - FRESH:
        return None
    return f"it is in the digest {item.label}, which is not there"


def waiting_item_is_looked_for(item: ItemEntry, _: Surroundings) -> str | None:
    """What waits is within what the next digest looks at."""
    if item.label is not None or item.outcome is not None:
        return None
    if item.next_close_at is None or item.open_from is None:
        return "it waits, and no period is to be closed"
    return None if item.open_from <= item.ready_at else f"it waits since before {said(item.open_from)}, where one looks"


def period_is_seen_to(period: PeriodEntry, around: Surroundings) -> str | None:
    """A period that has come has been closed, or something says why not."""
    if not _is_overdue(period, around) or unserved(period.kind, around):
        return None
    return f"a period came at {said(period.next_close_at)} and nobody saw to it; workers serve its kind"


def why_it_waits(period: PeriodEntry, around: Surroundings) -> str | None:
    """Return why an overdue period is no violation, in words that are the same for all of its kind."""
    return unserved(period.kind, around) if _is_overdue(period, around) else None


def _is_overdue(period: PeriodEntry, around: Surroundings) -> bool:
    return period.next_close_at is not None and period.next_close_at < around.due_before


COVER_CHECKS = (cover_has_its_notification, cover_ends_in_its_conversation)
DIGEST_CHECKS = (digest_holds_what_it_froze, unsent_digest_is_seen_to)
ITEM_CHECKS = (item_has_its_digest, waiting_item_is_looked_for)
PERIOD_CHECKS = (period_is_seen_to,)
