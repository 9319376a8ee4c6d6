"""What the demo says at the end of the term: the numbers of each channel, what the prompts said, and where to look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...domain.lifecycle import State
from ...domain.notification import Notification
from .report import faults, stories
from .stage import LESSONS_DATABASE, OUTBOX
from .term_told import PUNCTUAL
from .term_verdict import TermVerdict
from .verdict import Verdict

if TYPE_CHECKING:
    from rich.console import Console

OTHERS = set(State) - {State.ACCEPTED, State.SKIPPED, State.DROPPED}


def report(verdict: TermVerdict, folder: Path, console: Console) -> None:
    """Tell what came of the term."""
    lines = ["", "The school's ledger against its outbox", *_numbers(verdict), *faults(verdict.whole)]
    lines += ["", "What the prompts said, by the lines in the outbox", *stories(verdict.whole.told, "nothing")]
    lines += ["", "Look for yourself", *_directions(verdict, folder)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


def _numbers(verdict: TermVerdict) -> list[str]:
    late = _late(verdict.whole)
    punctual = f"all but {late} in the promised minute" if late else "all in the promised minute"
    rows: list[tuple[str, Callable[[Verdict], int], str]] = [
        ("promised", lambda one: len(one.notifications), "each lies at the desk until it is due"),
        ("accepted", _count(State.ACCEPTED), punctual),
        ("skipped", _count(State.SKIPPED), "the lesson was called off, or over before anybody worked"),
        ("dropped", _count(State.DROPPED), "given up in review, as the lesson was called off by then"),
        ("others", _count(*OTHERS), "withdrawn, or nothing has become of them yet"),
        ("double", lambda one: len(one.double), "in the outbox more than once"),
        ("lost", lambda one: len(one.lost), "said to be accepted but not in the outbox, or forgotten on the way"),
        ("stray", lambda one: one.stray, "in the outbox, though the ledger says they were not sent"),
    ]
    lines = [_row("", [*verdict.channels, "all"], "")]
    for name, number, meaning in rows:
        numbers = [number(one) for one in (*verdict.channels.values(), verdict.whole)]
        if any(numbers) or name != "others":
            lines.append(_row(name, numbers, meaning))
    return lines


def _row(name: str, cells: Sequence[object], meaning: str) -> str:
    return f"  {name:<10}{''.join(f'{cell:>7}' for cell in cells)}  {meaning}".rstrip()


def _count(*states: State) -> Callable[[Verdict], int]:
    return lambda one: len(one.being(*states))


def _late(verdict: Verdict) -> int:
    """Return how many of those accepted were not begun in the promised minute, or not for the last time."""
    accepted = verdict.being(State.ACCEPTED)
    return sum(1 for n in accepted if n.begun_at is None or n.begun_at - n.due_at >= PUNCTUAL)


def _directions(verdict: TermVerdict, folder: Path) -> list[str]:
    database = f"--database sqlite:///{folder / LESSONS_DATABASE}"
    lines = [f"less {folder / OUTBOX}"]
    lines += [f"duebook explain prompt {n.key} {database}" for n in _shown(verdict.whole)]
    return [f"  {line}" for line in [*lines, f"duebook audit {database}"]]


def _shown(verdict: Verdict) -> list[Notification]:
    """Return one that needed most attempts, and one that was dropped."""
    sent = max(verdict.being(State.ACCEPTED), key=lambda n: n.number, default=None)
    return [n for n in (sent, *verdict.being(State.DROPPED)[:1]) if n is not None]
