"""What is on the screen while the year passes: a live table on a terminal, a line a month anywhere else."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from ...domain.lifecycle import State

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

NEWS = 17


class Show(Protocol):
    def say(self, when: datetime, text: str) -> None:
        """Tell something that happened."""

    def tick(self, when: datetime, counts: Mapping[str, int]) -> None:
        """Tell how many notifications are in each state."""


@contextmanager
def show(console: Console) -> Iterator[Show]:
    if not console.is_terminal:
        yield Lines(console)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:
        yield Panel(live)


class Lines:
    """For logs and pipes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._month = ""

    def say(self, when: datetime, text: str) -> None:
        self._console.print(f"{when:%Y-%m-%d %H:%M}  {text}", markup=False, soft_wrap=True)

    def tick(self, when: datetime, counts: Mapping[str, int]) -> None:
        month = f"{when:%Y-%m}"
        if month != self._month:
            self._month = month
            told = "  ".join(f"{name} {number}" for name, number in columns(counts).items())
            self._console.print(f"{when:%Y-%m-%d %H:%M}  {told}", markup=False, soft_wrap=True)


class Panel:
    """For people who watch."""

    def __init__(self, live: Live) -> None:
        self._live = live
        self._news: deque[tuple[datetime, str]] = deque(maxlen=NEWS)
        self._when: datetime | None = None
        self._counts: Mapping[str, int] = {}

    def say(self, when: datetime, text: str) -> None:
        self._news.append((when, text))
        self._live.update(self._drawn(), refresh=True)

    def tick(self, when: datetime, counts: Mapping[str, int]) -> None:
        self._when, self._counts = when, counts
        self._live.update(self._drawn(), refresh=True)

    def _drawn(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        numbers = columns(self._counts)
        table.add_column("date", width=15)
        for name in numbers:
            table.add_column(name, justify="right", no_wrap=True)
        date = f"{self._when:%a} {self._when.day} {self._when:%b %Y}" if self._when else ""
        table.add_row(date, *(str(number) for number in numbers.values()))
        news = (Text(f"{when:%d %b}  {text}", style="dim") for when, text in self._news)
        return Group(table, "", *news)


def columns(counts: Mapping[str, int]) -> dict[str, int]:
    """Return what the counts of states mean to a person."""
    shown = {
        state.value: counts.get(state, 0) for state in (State.ACCEPTED, State.SKIPPED, State.CANCELLED, State.UNCERTAIN)
    }
    promised = sum(counts.values())
    waiting = counts.get(State.SCHEDULED, 0) + counts.get(State.CLAIMED, 0) + counts.get(State.SENDING, 0)
    review = {"review": counts[State.REVIEW]} if counts.get(State.REVIEW) else {}
    return {"promised": promised, **shown, **review, "waiting": waiting}
