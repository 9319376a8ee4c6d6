"""The school's ledger against its outbox: what duebook says it did, and what the three providers really took.

A line of the outbox does not name its prompt, but no two prompts of a term say the same to the same address. So they
are compared word for word: what the ledger says was sent, over which channel and to whom, has to be there once.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ...app.book import Duebook
from ...domain.message import Email, Push, Sms, thaw
from ...domain.notification import Notification
from .term_told import told
from .timetable import Timetable
from .verdict import Verdict, everything, matched

Line = tuple[str, str, str]
"""Over which channel, to whom, and what it says."""


@dataclass(frozen=True, slots=True)
class TermVerdict:
    """`channels`: the same for each channel alone."""

    whole: Verdict
    channels: Mapping[str, Verdict]

    @property
    def sound(self) -> bool:
        return all(one.sound for one in (self.whole, *self.channels.values()))


async def judge(book: Duebook, outbox: Path, term: Timetable) -> TermVerdict:
    """Read both, and compare."""
    verdict = compare(await everything(book), lines(outbox), book.registry.channels)
    said = {n.id: line[2] for n in verdict.whole.notifications if (line := line_of(n)) and verdict.whole.copies[n.id]}
    return replace(verdict, whole=replace(verdict.whole, told=told(term, verdict.whole.notifications, said)))


def lines(outbox: Path) -> Counter[Line]:
    """Return how often each line is in an outbox."""
    with outbox.open(encoding="utf-8") as file:
        taken = [json.loads(line) for line in file]
    return Counter((line["channel"], line["to"], line["says"]) for line in taken)


def compare(notifications: Sequence[Notification], taken: Counter[Line], channels: Iterable[str]) -> TermVerdict:
    """Compare everything, and what went over each channel."""

    def over(name: str) -> Verdict:
        arrived = Counter({line: number for line, number in taken.items() if line[0] == name})
        return _matched([n for n in notifications if n.channel == name], arrived)

    return TermVerdict(_matched(notifications, taken), {name: over(name) for name in channels})


def _matched(notifications: Sequence[Notification], taken: Counter[Line]) -> Verdict:
    arrived: Counter[Line | None] = Counter()
    arrived.update(taken)
    return matched(notifications, arrived, line_of)


def line_of(n: Notification) -> Line | None:
    """Return the line that examples/lessons writes for the message on record, if there is one."""
    if n.message is None:
        return None
    match thaw(n.message):
        case Email() as mail:
            return n.channel, mail.to, f"{mail.subject}\n\n{mail.text}"
        case Sms() as text:
            return n.channel, text.to, text.text
        case Push() as note:
            return n.channel, note.to, note.title
        case other:
            raise AssertionError(other)
