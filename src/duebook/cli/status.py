"""How it goes: for people at a glance, for monitors by exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

import typer

from ..domain.control import Control
from ..domain.lifecycle import State
from ..domain.story import Backlog, KindRecord
from . import reading
from .exits import Exit
from .operating import document, force
from .output import Reply, Table, plain
from .program import command
from .session import Session
from .wording import ahead, count, instant, span

RECENT = timedelta(hours=1)
SAMPLE = 10_000
LATELY = timedelta(days=1)
SLACK = timedelta(minutes=10)

_COUNTED = ("kind", "channel", "state", "count", "oldest_due_at")

Count = tuple[str, str, State, int, datetime]


@dataclass(frozen=True, slots=True)
class Orphan:
    """A kind with open notifications that no worker seems to serve. `seen_at`: when one last said that it does."""

    kind: str
    open: int
    seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Picture:
    now: datetime
    backlog: Backlog
    counts: Sequence[Count]
    orphans: Sequence[Orphan]
    controls: Sequence[Control]
    lateness: Sequence[timedelta]
    undelivered: Mapping[str, tuple[int, int]]

    @property
    def overdue(self) -> timedelta:
        due = self.backlog.oldest_due_at
        return max(timedelta(0), self.now - due) if due else timedelta(0)


@dataclass(frozen=True, slots=True)
class Limits:
    overdue: timedelta
    uncertain: int | None
    review: int | None


@command(
    "Operators",
    "duebook status",
    "duebook status --check --max-overdue 5m --max-uncertain 10 --max-review 50",
)
async def status(
    session: Session,
    check: Annotated[
        bool, typer.Option("--check", help="For monitors: exit 1 if something is over its limit.")
    ] = False,
    max_overdue: Annotated[str, typer.Option("--max-overdue", help="With --check: how late the oldest may be.")] = "5m",
    max_uncertain: Annotated[int | None, typer.Option("--max-uncertain", min=0, help="With --check: at most.")] = None,
    max_review: Annotated[int | None, typer.Option("--max-review", min=0, help="With --check: at most.")] = None,
) -> Reply:
    """Say what is due, late, in flight, in doubt and in review, and what is held.

    With --check it also judges: overdue beyond --max-overdue, kinds that no worker serves, and the limits you give.
    """
    limits = Limits(reading.span("max_overdue", max_overdue), max_uncertain, max_review)
    picture = await _look(session, lateness=not check)
    problems = _problems(picture, limits) if check else []
    shown = {
        "at": picture.now,
        "backlog": picture.backlog,
        "overdue_seconds": picture.overdue.total_seconds(),
        "lateness": _percentiles(picture.lateness),
        "kinds": [dict(zip(_COUNTED, row, strict=True)) for row in picture.counts],
        "orphans": plain(list(picture.orphans)),
        "controls": [document(control, picture.now) for control in picture.controls],
        "undelivered": {
            kind: {"digests": digests, "items": items} for kind, (digests, items) in picture.undelivered.items()
        },
    }
    if not check:
        return Reply(shown, _told(picture))
    shown.update(ok=not problems, problems=problems)
    return Reply(shown, problems or ["All is well."], Exit.REFUSED if problems else Exit.DONE)


async def _look(session: Session, *, lateness: bool) -> Picture:
    store, now = session.book.wired.store, session.book.wired.clock.now()
    backlog = await session.verbs.backlog()
    counts = await session.ask(store.count_states())
    kinds = await session.ask(store.read_kinds())
    controls = await session.verbs.controls()
    # Reads much of the table, so a monitor that asks every minute does without.
    late = await session.ask(store.read_lateness(now - RECENT, SAMPLE)) if lateness else []
    late = sorted(max(one, timedelta(0)) for one in late)
    undelivered = await session.verbs.digests.undelivered()
    return Picture(now, backlog, counts, _orphans(counts, kinds, now), controls, late, undelivered)


def _orphans(counts: Sequence[Count], kinds: Sequence[KindRecord], now: datetime) -> list[Orphan]:
    """Return the kinds with open notifications that no worker has ever served, or none lately while some are overdue.

    A worker says what it serves when it starts, so one that has run for long is not suspected while its work gets done.
    """
    seen = {known.kind: known.seen_at for known in kinds}
    orphans = []
    for kind in sorted({row[0] for row in counts}):
        own = [row for row in counts if row[0] == kind]
        overdue = any(state is State.SCHEDULED and oldest < now - SLACK for _, _, state, _, oldest in own)
        at = seen.get(kind)
        if at is None or (overdue and at < now - LATELY):
            orphans.append(Orphan(kind, sum(row[3] for row in own), at))
    return orphans


def _problems(picture: Picture, limits: Limits) -> list[str]:
    backlog, found = picture.backlog, []
    if picture.overdue > limits.overdue:
        found.append(f"overdue: the oldest is {span(picture.overdue)} late, the limit is {span(limits.overdue)}")
    if limits.uncertain is not None and backlog.uncertain > limits.uncertain:
        found.append(f"uncertain: {backlog.uncertain:,}, the limit is {limits.uncertain:,}")
    if limits.review is not None and backlog.review > limits.review:
        found.append(f"review: {backlog.review:,}, the limit is {limits.review:,}")
    found += [f"orphan: {_orphan(orphan)}" for orphan in picture.orphans]
    return found


def _orphan(orphan: Orphan) -> str:
    seen = f"since {instant(orphan.seen_at)}" if orphan.seen_at else "ever"
    waiting = count(orphan.open, "notification waits", "notifications wait")
    return f"no worker has served kind {orphan.kind} {seen}; {waiting}"


def _undelivered(kind: str, digests: int, items: int) -> str:
    held = f"{count(items, 'item')} in {count(digests, 'digest')}"
    return f"Selected but never delivered: {held} of kind {kind}; duebook digests find --kind {kind}"


def _percentiles(lateness: Sequence[timedelta]) -> dict[str, float | int | None]:
    def at(share: float) -> float | None:
        return lateness[min(len(lateness) - 1, int(len(lateness) * share))].total_seconds() if lateness else None

    return {"sends": len(lateness), "p50_seconds": at(0.5), "p99_seconds": at(0.99)}


def _told(picture: Picture) -> list[str | Table]:
    backlog, now = picture.backlog, picture.now
    body: list[str | Table] = [Table(["", "count", "oldest"], _rows(picture))]
    late = _percentiles(picture.lateness)
    if late["sends"]:
        p50, p99 = (span(timedelta(seconds=late[name] or 0)) for name in ("p50_seconds", "p99_seconds"))
        sends = count(len(picture.lateness), "send")
        body.append(f"Lateness of the last {sends}, within an hour: p50 {p50}, p99 {p99}.")
    if backlog.next_wake_at is not None:
        body.append(f"Next: {instant(backlog.next_wake_at)}, {ahead(backlog.next_wake_at, now)}.")
    if picture.counts:
        rows = [[kind, channel, state.value, f"{n:,}", instant(due)] for kind, channel, state, n, due in picture.counts]
        body += ["", Table(["kind", "channel", "state", "open", "oldest due"], rows)]
    waiting = backlog.uncertain + backlog.review
    warnings = [f"{count(waiting, 'waits', 'wait')} for a person: duebook review"] if waiting else []
    warnings += [f"Orphan: {_orphan(orphan)}." for orphan in picture.orphans]
    warnings += [_undelivered(kind, *numbers) for kind, numbers in picture.undelivered.items()]
    warnings += [f"In force: {line}." for line in force(picture.controls, now)]
    return body + (["", *warnings] if warnings else [])


def _rows(picture: Picture) -> list[list[str]]:
    backlog, now = picture.backlog, picture.now

    def since(at: datetime | None) -> str:
        return ahead(at, now) if at else ""

    return [
        ["due now", f"{backlog.due:,}", f"promised {since(backlog.oldest_due_at)}" if backlog.oldest_due_at else ""],
        ["in flight", f"{backlog.in_flight:,}", f"{backlog.expired_leases:,} with an expired lease"],
        ["uncertain", f"{backlog.uncertain:,}", since(backlog.oldest_uncertain_at)],
        ["in review", f"{backlog.review:,}", since(backlog.oldest_review_at)],
    ]
