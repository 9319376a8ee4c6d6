"""The ledger against the inbox: what duebook says it did, and what the mail server really has.

`matched` compares any ledger with any inbox; the rest is about the year.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from ...app.book import Duebook
from ...domain.identity import idempotency_key, message_id
from ...domain.lifecycle import CLOSED, Event, State
from ...domain.notification import Notification
from ...domain.zones import zone
from .desk import Told, told
from .inbox import accepted, subjects
from .plot import Plot

PAGE = 500

Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Verdict:
    """`copies`: how often the inbox holds the mail of each notification, by its id.

    `double`: the inbox accepted it more than once. `lost`: on record as accepted and not in the inbox, or neither
    closed nor waiting for a person. `stray`: in the inbox, and on record as not sent; or on no record at all. `told`:
    what became of the burst, of what was read in time, and of the digest.
    """

    notifications: list[Notification]
    copies: dict[int, int]
    strangers: int
    told: Sequence[Told] = ()

    def being(self, *states: State) -> list[Notification]:
        return [n for n in self.notifications if n.state in states]

    @property
    def double(self) -> list[Notification]:
        return [n for n in self.notifications if self.copies[n.id] > 1]

    @property
    def lost(self) -> list[Notification]:
        known = CLOSED | {State.UNCERTAIN, State.REVIEW}
        return [
            n
            for n in self.notifications
            if n.state not in known or (n.state is State.ACCEPTED and not self.copies[n.id])
        ]

    @property
    def stray(self) -> int:
        not_sent = self.being(State.SKIPPED, State.CANCELLED, State.SCHEDULED, State.CLAIMED)
        # What is dropped from review was never taken. What was uncertain and then dropped may have been.
        not_sent += [n for n in self.being(State.DROPPED) if n.event is Event.DROP]
        return self.strangers + sum(1 for n in not_sent if self.copies[n.id])

    @property
    def sound(self) -> bool:
        return not (self.double or self.lost or self.stray) and all(one.sound for one in self.told)

    @property
    def punctual(self) -> int:
        """How many accepted ones were begun in the promised minute, by the clock on the recipient's wall if that was
        promised."""
        return sum(_is_punctual(n) for n in self.being(State.ACCEPTED))

    @property
    def lateness(self) -> list[timedelta]:
        """How long after its promised time each accepted one was first begun."""
        return [n.first_begun_at - n.due_at for n in self.being(State.ACCEPTED) if n.first_begun_at is not None]


def _is_punctual(n: Notification) -> bool:
    if n.first_begun_at is None:
        return False
    if n.zone is None:
        return n.first_begun_at - n.due_at < timedelta(minutes=1)
    wall = n.first_begun_at.astimezone(zone(n.zone)).replace(second=0, microsecond=0, tzinfo=None)
    return wall.isoformat() == n.wall


async def judge(book: Duebook, inbox: Path, plot: Plot) -> Verdict:
    """Read both, and compare."""
    verdict = compare(await everything(book), accepted(inbox), book.message_domain)
    stories = told(plot, verdict.notifications, subjects(inbox), book.message_domain)
    return replace(verdict, told=stories)


async def everything(book: Duebook) -> list[Notification]:
    """Return all that was ever promised."""
    found: list[Notification] = []
    while page := await book.search(before=found[-1].id if found else 2**62, limit=PAGE):
        found += page
    return found


def compare(notifications: list[Notification], letters: Counter[str], domain: str) -> Verdict:
    """Compare by Message-ID."""
    return matched(notifications, letters, lambda n: message_id(idempotency_key(n.namespace, n.kind, n.key), domain))


def matched(
    notifications: Sequence[Notification], arrived: Counter[Name], name: Callable[[Notification], Name]
) -> Verdict:
    """Compare by the name under which a notification arrives."""
    left = Counter(arrived)
    copies = {n.id: left.pop(name(n), 0) for n in notifications}
    return Verdict(sorted(notifications, key=lambda n: n.due_at), copies, left.total())
