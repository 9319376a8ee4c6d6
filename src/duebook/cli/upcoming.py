"""What the database will send, hour by hour, so that a herd is seen before it comes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from statistics import median
from typing import Annotated, Literal

import typer

from ..domain.policy import Kind
from ..domain.schedules import Schedule
from ..domain.spreading import offset
from ..errors import InvalidInput
from . import paging, reading
from .options import KindOption
from .output import Reply, Table, plain
from .program import command
from .session import Session
from .wording import count, instant

HOUR = timedelta(hours=1)
FARTHEST = timedelta(days=366)
HERD = 10
"""How many times the median of all hours an hour must hold to be called a herd."""

BAR = 40

By = Literal["hour", "day"]
Load = Counter[tuple[datetime, str]]
"""How much is due, by hour and kind."""


@dataclass(frozen=True, slots=True)
class Peak:
    """The fullest hour: how much is due in it, the usual number of an hour, and the kind most of it is of."""

    hour: datetime
    count: int
    median: float
    kind: str

    @property
    def is_herd(self) -> bool:
        return self.count > HERD * max(self.median, 1)


@command(
    "Operators",
    "duebook upcoming --until 7d",
    "duebook upcoming --from 2027-01-01T00:00Z --until 2027-02-01T00:00Z --by day --kind renewal --app app.notify:book",
)
async def upcoming(
    session: Session,
    until: Annotated[str, typer.Option("--until", help="An ISO time with its offset, or a length such as 7d.")],
    since: Annotated[str | None, typer.Option("--from", help="The same; by default now.")] = None,
    kind: KindOption = None,
    by: Annotated[By, typer.Option("--by", help="Hours or days, in UTC.")] = "hour",
) -> Reply:
    """Show what will be due: notifications on record, and what schedules will make of their coming periods.

    With --app a kind's spread is known and counted in. What is overdue already is told beside it.
    """
    now = session.book.wired.clock.now()
    start, end = _range(since, until, now)
    if kind is not None:
        await session.kind(kind)
    load = await _on_record(session, kind, start, end)
    load.update(await _to_come(session, kind, start, end))
    peak = _peak(load, start, end)
    backlog = await session.verbs.backlog()
    document = {
        "from": start, "until": end, "by": by, "overdue": backlog.due, "total": load.total(),
        "due": [{"at": at, "count": sum(kinds.values()), "kinds": kinds} for at, kinds in _grouped(load, by)],
        "largest": plain(peak), "herd": peak is not None and peak.is_herd,
    }  # fmt: skip
    lines = [f"Overdue already: {backlog.due:,}."] if backlog.due else []
    if peak is None:
        return Reply(document, [*lines, f"Nothing is due until {instant(end)}."])
    return Reply(document, [*lines, _table(load, by), *_told(load, peak)])


def _range(since: str | None, until: str, now: datetime) -> tuple[datetime, datetime]:
    start = now if since is None else reading.horizon("from", since, now)
    end = reading.horizon("until", until, now)
    if end <= start:
        raise InvalidInput("until", "is not after the beginning; give a later time, such as --until 7d")
    if end - start > FARTHEST:
        raise InvalidInput("until", f"is more than {FARTHEST.days} days after the beginning; look at less at once")
    return start.astimezone(UTC), end.astimezone(UTC)


async def _on_record(session: Session, kind: str | None, start: datetime, end: datetime) -> Load:
    found = await session.ask(session.book.wired.store.count_upcoming(start, end))
    return Counter({(hour, name): number for hour, name, number in found if kind in (None, name)})


async def _to_come(session: Session, kind: str | None, start: datetime, end: datetime) -> Load:
    """Count the periods that are no notifications yet; no more than a page of schedules is held at once."""
    kinds, store = session.book.registry.kinds, session.book.wired.store
    load: Load = Counter()
    with session.screen.progress("computing", None) as advance:
        async for page in paging.pages(
            lambda after: session.ask(store.read_schedules(after, kind, None, paging.PAGE)), "", lambda one: one.name
        ):
            for one in page:
                load.update((_hour(at), one.kind) for at in coming(one, kinds.get(one.kind), start, end))
            advance(len(page))
    return load


def coming(one: Schedule, kind: Kind | None, start: datetime, end: datetime) -> Iterator[datetime]:
    """Yield when the periods of a schedule are due from `start` to `end`, with its recipient's place in the spread."""
    if one.next_at is None:
        return
    apart = timedelta(0)
    if kind is not None and kind.spread is not None:
        apart = offset(kind.name, one.recipient, kind.spread)
    first = max(one.cursor_at, start - apart)
    found = one.recurrence.occurrences(one.zone, first, one.until_at)
    yield from takewhile(lambda at: at < end, (each.at + apart for each in found))


def _hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def _peak(load: Load, start: datetime, end: datetime) -> Peak | None:
    hours: Counter[datetime] = Counter()
    for (hour, _), number in load.items():
        hours[hour] += number
    if not hours:
        return None
    fullest, number = max(hours.items(), key=lambda item: (item[1], -item[0].timestamp()))
    empty = max(0, round((end - _hour(start)) / HOUR) - len(hours))
    kinds = {kind: number for (hour, kind), number in load.items() if hour == fullest}
    return Peak(fullest, number, median([0] * empty + sorted(hours.values())), max(kinds, key=lambda kind: kinds[kind]))


def _grouped(load: Load, by: By) -> Iterable[tuple[datetime, Mapping[str, int]]]:
    """Return the hours or days in which something is due, each with its kinds, the most frequent first."""
    found: dict[datetime, Counter[str]] = {}
    for (hour, kind), number in load.items():
        at = hour if by == "hour" else hour.replace(hour=0)
        found.setdefault(at, Counter())[kind] += number
    return [(at, dict(found[at].most_common())) for at in sorted(found)]


def _table(load: Load, by: By) -> Table:
    groups = _grouped(load, by)
    largest = max(sum(kinds.values()) for _, kinds in groups)
    form = "%a %Y-%m-%d %H:00" if by == "hour" else "%a %Y-%m-%d"
    rows = []
    for at, kinds in groups:
        number = sum(kinds.values())
        bar = "█" * max(1, round(number * BAR / largest))
        rows.append([f"{at:{form}}", f"{number:,}", bar, ", ".join(f"{name} {each:,}" for name, each in kinds.items())])
    return Table([f"{by} (UTC)", "due", "", "kinds"], rows)


def _told(load: Load, peak: Peak) -> list[str]:
    hour = f"{peak.hour:%a %Y-%m-%d %H:00} UTC"
    lines = [f"{count(load.total(), 'notification')} in all. The largest hour is {hour}, with {peak.count:,}."]
    if peak.is_herd:
        lines.append(
            f"That is more than {HERD} times the usual hour ({peak.median:g}). If schedules or deadlines make it, give "
            f"kind {peak.kind} a spread: @book.kind({peak.kind!r}, …, spread=timedelta(hours=1))"
        )
    return lines
