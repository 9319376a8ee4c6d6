"""What the demo says at the end: the numbers, what a person would find out, one whole story, and where to look."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from ...app.book import Duebook
from ...domain.lifecycle import Event, State
from ...domain.notification import Notification
from ..telling import tell
from .desk import Told
from .verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console

PROMPT = timedelta(seconds=5)


async def report(verdict: Verdict, book: Duebook, folder: Path, now: datetime, console: Console) -> None:
    """Tell what came of the year."""
    uncertain = verdict.being(State.UNCERTAIN)
    lines = ["", "The ledger against the inbox", *_numbers(verdict), *faults(verdict)]
    lines += ["", "What was told together, by the subjects in the inbox", *stories(verdict.told)]
    lines += _uncertain(verdict, uncertain)
    if shown := interesting(verdict):
        story = await book.explain(shown.kind, shown.key)
        assert story is not None
        lines += ["", f"One of them, as `duebook explain {shown.kind} {shown.key}` tells it", ""]
        lines += [f"  {line}" if line else "" for line in tell(story, now)]
    lines += ["", "Look for yourself", *_directions(verdict, shown, folder)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def interesting(verdict: Verdict) -> Notification | None:
    """Return the notification most happened to; of those, one that a dead worker left behind."""
    doubtful = verdict.being(State.UNCERTAIN) or verdict.notifications
    return max(doubtful, key=lambda n: (n.number, n.event is Event.LOSE, n.version), default=None)


def _numbers(verdict: Verdict) -> list[str]:
    late = verdict.lateness
    prompt = sum(1 for lateness in late if lateness < PROMPT)
    latest = max(late, default=timedelta(0)).total_seconds()
    punctual = "all" if verdict.punctual == len(late) else str(verdict.punctual)
    rows = [
        ("promised", len(verdict.notifications), "and each of them is one of the following"),
        ("accepted", len(late), f"{punctual} in the promised minute by the account's own clock, summer time or not"),
        ("", None, f"{prompt} within {PROMPT.seconds} seconds, and the last after {latest:.0f}"),
        ("skipped", _count(verdict, State.SKIPPED), "filed already when it was due, or told in one mail with others"),
        ("cancelled", _count(verdict, State.CANCELLED), "their owner withdrew them in time, or the message was read"),
        ("uncertain", _count(verdict, State.UNCERTAIN), "nobody knows; they wait for a person and are not sent again"),
        ("in review", _count(verdict, State.REVIEW), "they wait for a person"),
        ("double", len(verdict.double), "accepted by the inbox more than once"),
        ("lost", len(verdict.lost), "said to be accepted but not in the inbox, or forgotten on the way"),
        ("stray", verdict.stray, "in the inbox, though the ledger says they were not sent"),
    ]
    return [
        f"  {name:<10}{'' if number is None else number:>5}  {meaning}"
        for name, number, meaning in rows
        if number or name != "in review"
    ]


def _count(verdict: Verdict, state: State) -> int:
    return len(verdict.being(state))


def faults(verdict: Verdict) -> list[str]:
    """Name each that is double or lost."""
    named = [("double", verdict.double), ("lost", verdict.lost)]
    return [f"  {what}: {n.kind} {n.key}, which is {n.state.value}" for what, several in named for n in several]


def stories(told: Sequence[Told], nothing: str = "no mail") -> list[str]:
    """Say of each story what was found and, where that is not the same, what was expected."""
    lines = []
    for one in told:
        lines.append(f"  {one.name:<10}{one.words}")
        lines += [f"  {'':<10}  {subject}" for subject in one.found or [nothing]]
        if not one.sound:
            lines.append(f"  {'':<10}  expected: {', '.join(one.wanted) or nothing}")
    return lines


def _uncertain(verdict: Verdict, uncertain: Sequence[Notification]) -> list[str]:
    if not uncertain:
        return []
    lines = ["", "What a person finds out about the uncertain ones by looking into the inbox"]
    for n in uncertain:
        found = "arrived" if verdict.copies[n.id] else "did not arrive"
        why = "the worker died" if n.event is Event.LOSE else "no answer came"
        lines.append(f"  {n.key:<30}{why:<17}{found}")
    return lines


def _directions(verdict: Verdict, shown: Notification | None, folder: Path) -> list[str]:
    database = folder / "demo.db"
    counts = "select state, count(*) from duebook_notifications group by state"
    lines = [f"ls {folder / 'inbox'}", f"sqlite3 {database} '{counts}'", f"export DUEBOOK_URL=sqlite:///{database}"]
    if shutil.which("duebook") is None:
        lines.append(f'alias duebook="{_command()}"')
    lines += ["duebook status", "duebook digests find"]
    if shown is not None:
        lines += [f"duebook find --recipient {shown.recipient}", f"duebook explain {shown.kind} {shown.key}"]
        if shown.state is State.UNCERTAIN:
            ruling, reason = ("sent", "it arrived") if verdict.copies[shown.id] else ("resend", "it did not arrive")
            lines.append(f"duebook resolve {shown.kind} {shown.key} --as {ruling} --reason '{reason}' --dry-run")
    return [f"  {line}" for line in lines]


def _command() -> str:
    """Return how this very program was started, as short as it can be written here."""
    python = Path(sys.executable)
    if python.is_relative_to(Path.cwd()):
        python = python.relative_to(Path.cwd())
    path = os.environ.get("PYTHONPATH")
    return f"{f'PYTHONPATH={path} ' if path else ''}{python} -m duebook"
