"""What happens in the year besides reminders: whose mail goes wrong, who files early, who leaves, moves, is written to.

Everything is chosen from the reminders themselves, so that the story is the same each time and holds for any file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .inbox import Fault
from .stage import Reminder

FEWEST_ACCOUNTS = 5
"""With fewer there are not enough people for the story."""

MORNING = 15
"""In UTC: hours before the documents of a day are told in New York."""

NEW_ZONE = "Pacific/Honolulu"

MISHAPS: Mapping[float, tuple[Fault, ...]] = {
    0.06: (Fault.BUSY,),
    0.15: (Fault.SILENT,),
    0.25: (Fault.CUT,),
    0.58: (Fault.BUSY, Fault.SILENT),
    0.70: (Fault.CRASH,),
    0.80: (Fault.BUSY,),
    0.90: (Fault.CUT,),
}
"""How far into the year, and what the inbox does with the first mail it gets then, with the repeat, …"""

FILED_EARLY = (0.20, 0.50, 0.75)
WRITES = 0.28
IS_READ = 0.32
FILES = 0.36
CLOSES = 0.42
MOVES = 0.62


@dataclass(frozen=True, slots=True)
class Plot:
    """`power_cut`: the instant whose mails are on the wire when the worker is killed; `busiest`: how many they are."""

    faults: Mapping[str, tuple[Fault, ...]]
    power_cut: datetime
    busiest: int
    filed_early: Sequence[tuple[datetime, Reminder]]
    closes: tuple[datetime, str]
    moves: tuple[datetime, str]
    burst: tuple[datetime, str]
    read: tuple[datetime, str]
    documents: tuple[datetime, str]


def plot(reminders: Sequence[Reminder]) -> Plot:
    """Choose for reminders in the order they are due. An account has at most one part in the story."""
    together = Counter(reminder.due_at for reminder in reminders)
    power_cut, busiest = max(together.items(), key=lambda item: (item[1], item[0]))
    cast = {reminder.account for reminder in reminders if reminder.due_at == power_cut}
    closes = _pick(reminders, CLOSES, cast, 30)
    moves = _pick(reminders, MOVES, cast, 30, zone=NEW_ZONE)
    early = [_pick(reminders, share, cast, 7) for share in FILED_EARLY]
    staying = [reminder for reminder in reminders if reminder.account != closes.account]
    burst, read, documents = (_pick(staying, share, cast, 30) for share in (WRITES, IS_READ, FILES))
    parts = {one.account for one in (closes, moves, *early, burst, read, documents)}
    faults: dict[str, tuple[Fault, ...]] = {}
    for share, several in MISHAPS.items():
        candidates = (r for r in _from(reminders, share) if r.due_at != power_cut and r.account not in parts)
        faults[next(r.new.key for r in candidates if r.new.key not in faults)] = several
    return Plot(
        faults=faults,
        power_cut=power_cut,
        busiest=busiest,
        filed_early=[(reminder.due_at - timedelta(hours=12), reminder) for reminder in early],
        closes=(closes.due_at + timedelta(hours=12), closes.account),
        moves=(moves.due_at + timedelta(hours=12), moves.account),
        burst=(burst.due_at + timedelta(hours=2), burst.account),
        read=(read.due_at + timedelta(hours=2), read.account),
        documents=(documents.due_at.replace(hour=MORNING), documents.account),
    )


def _pick(reminders: Sequence[Reminder], share: float, cast: set[str], days: int, *, zone: str = "") -> Reminder:
    """Return the first reminder after a share of the year whose account has no part yet, and give it one."""
    candidates = [r for r in _from(reminders, share) if r.days_before == days and r.zone != zone]
    found = next((r for r in candidates if r.account not in cast), candidates[0])
    cast.add(found.account)
    return found


def _from(reminders: Sequence[Reminder], share: float) -> Iterator[Reminder]:
    """All of them, beginning at a share of the way and going round."""
    start = int(len(reminders) * share)
    yield from reminders[start:]
    yield from reminders[:start]
