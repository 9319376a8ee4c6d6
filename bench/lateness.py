"""How late notifications begin: two hundred a second, each with an instant of its own, scheduled ahead.

The channel notes the machine's clock as its first act; lateness is that less the promised instant. It holds everything
in between: noticing that it is due, the claim, the handler, the intent on record.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from duebook import Accepted, Message, New, Outcome, SendContext

from .audit import audit
from .figures import Target, percentile
from .run import Run
from .subject import DIALECTS, KIND, database, make_book, settle_down

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
    late: list[float] = []
    done = asyncio.Event()
    dues: dict[str, datetime] = {}

    async def send(message: Message, context: SendContext) -> Outcome:
        late.append((datetime.now(UTC) - dues[context.key]).total_seconds())
        if len(late) == count:
            done.set()
        return Accepted()

    book = make_book(url, send)
    settle_down(url)
    # Scheduling takes a part of the lead, the worker's start another.
    first = datetime.now(UTC) + timedelta(seconds=LEAD_SECONDS + count / 20_000)
    dues.update((f"late-{n}", first + n * timedelta(seconds=1 / PER_SECOND)) for n in range(count))
    await book.schedule_many([New(kind=KIND, key=key, recipient="you", at=at) for key, at in dues.items()])
    async with book.worker(), asyncio.timeout(LEAD_SECONDS + count / PER_SECOND + 60):
        await done.wait()
    await book.close()
    return late
