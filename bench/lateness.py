"""How late notifications begin: two hundred a second, each with an instant of its own, scheduled ahead.

The channel notes the machine's clock as its first act; lateness is that less the promised instant. It holds everything
in between: noticing that it is due, the claim, the handler, the intent on record.
"""

from __future__ import annotations

import asyncio

from .arrivals import Arrivals
from .audit import audit
from .figures import Target, percentile
from .run import Run
from .subject import DIALECTS, database, make_book, settle_down

TARGET = Target(50, most=True)
PER_SECOND = 200
LEAD_SECONDS = 2.0


def measure(run: Run) -> None:
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            late = asyncio.run(_lateness(url, PER_SECOND * run.scale.lateness_seconds))
            audit(run, url)
        p50, p90, p99 = (1000 * percentile(late, percent) for percent in (50, 90, 99))
        note = f"median {p50:.1f} ms, p90 {p90:.1f} ms, worst {1000 * max(late):.1f} ms, of {len(late):,}"
        run.found(f"{dialect}: lateness at {PER_SECOND} a second, p99", p99, "ms", target=TARGET, note=note)


async def _lateness(url: str, count: int) -> list[float]:
    arrivals = Arrivals(count)
    book = make_book(url, arrivals.send)
    settle_down(url)
    await arrivals.promise(book, [f"late-{n}" for n in range(count)], LEAD_SECONDS, PER_SECOND)
    async with book.worker(), asyncio.timeout(LEAD_SECONDS + count / PER_SECOND + 60):
        await arrivals.done.wait()
    await book.close()
    return arrivals.late
