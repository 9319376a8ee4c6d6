"""What a notification is about: the message it reminds of and the others it spoke for, or what its digest held."""

from __future__ import annotations

from collections.abc import Iterator

from ..domain import unread
from ..domain.digests import DigestRecord
from ..domain.notification import Notification
from ..domain.story import Story
from ..domain.unread import CoverRecord
from .wording import count, instant

OUTCOMES = {"released": "its items wait for the next one", "undelivered": "its items were never delivered"}


def subject(story: Story, n: Notification) -> Iterator[str]:
    """Yield what a story is about, in lines."""
    if unread.is_reminder(n):
        yield from _message(n)
    if story.cover is not None:
        yield _spoke_for(story.cover)
    if story.digest is not None:
        yield from digest(story.digest)


def _message(n: Notification) -> Iterator[str]:
    """Retention discards what a reminder carries, so it may be gone."""
    if (about := unread.about(n)) is not None:
        yield f"It reminds of message {about.message} of {about.conversation}, at position {about.position:,}."


def _spoke_for(cover: CoverRecord) -> str:
    named = f"{count(cover.total, 'message')} unread, {cover.fresh:,} of them in no reminder before"
    return f"It spoke for {cover.conversation} up to position {cover.to:,}, as of {instant(cover.begun_at)}: {named}."


def digest(one: DigestRecord) -> Iterator[str]:
    """Yield how much a digest held of what, and for which periods."""
    yield f"Digest {one.label}: what was ready before {instant(one.cutoff_at)}."
    late = f", {one.late:,} of them late for their own period" if one.late else ""
    outcome = f"; {OUTCOMES[one.outcome]}" if one.outcome else ""
    yield f"It held {one.selected:,} of {count(one.total, 'item')}{late}{outcome}."
    if one.periods > 1:
        yield f"It stands for {count(one.periods, 'period')}; {one.first_label} is the first of them."
