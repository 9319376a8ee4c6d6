"""`duebook demo`: a year of tax deadlines in less than a minute, a mail server that misbehaves, a worker that dies.

Between the deadlines somebody gets a burst of messages, somebody reads in time, and somebody gets a digest.

The mails are sent over a real connection and every write is a real one; only the calendar is turned by hand. Read
`year` first: it tells the story. `plot` says what goes wrong and when, `timelapse` turns the calendar, `crew` is the
worker process, `inbox` the mail server, `stage` the folder and the applications, `desk` what happens between the
deadlines, `show` what is on the screen, and `verdict` compares the ledger with the inbox.

A second, short part follows: a school's term, with prompts before lessons over three channels. Read `term` first.
`timetable` says what happens to which lesson, `term_verdict` compares the ledger with the outbox of the three
providers, and `term_told` what the prompts said with what they should have said.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["run"]


def run(folder: Path = Path("duebook-demo"), accounts: int | None = None) -> int:
    """Play the year and the term in `folder`, which is made anew; `accounts`: only so many of them in the year. Answers
    the exit code: 0, 1 if anything was lost or sent twice, 2 if the demo could not run, 130 if it was interrupted."""
    from rich.console import Console

    from .stage import CannotPlay

    console = Console(highlight=False)
    try:
        return asyncio.run(_play(folder, accounts, console))
    except CannotPlay as error:
        Console(stderr=True, highlight=False).print(str(error), markup=False)
        return 2
    except KeyboardInterrupt:
        return 130


async def _play(folder: Path, accounts: int | None, console: Console) -> int:
    from . import term, year

    codes = [await year.play(folder, accounts, console), await term.play(folder, console)]
    return max(codes)
