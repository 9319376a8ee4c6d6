"""Whether what is urgent overtakes: a provider that takes fifty a second, a mountain of bulk, now and then an urgent
one.

Two workers share the rate. An urgent notification is late by as long as it waits behind bulk ones; the figure is the
worst of them. The second figure is the rate that the provider saw, which must be used and not exceeded.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta

from duebook import Accepted, ChannelPolicy, Due, Duebook, Message, New, Outcome, Push, SendContext
from duebook.channels.function import FunctionChannel

from .audit import audit
from .figures import Target
from .run import Run
from .subject import CHANNEL, DIALECTS, database, settle_down

LATEST = Target(5, most=True)
RATE = 50
WORKERS = 2
URGENT_EVERY = timedelta(seconds=0.5)
WARM_UP = timedelta(seconds=3)


class Provider:
    """Notes when it is called, and for what."""

    def __init__(self) -> None:
        self.calls: list[tuple[datetime, str]] = []

    async def send(self, message: Message, context: SendContext) -> Outcome:
        self.calls.append((datetime.now(UTC), context.key))
        return Accepted()


def measure(run: Run) -> None:
    for dialect in DIALECTS:
        with database(dialect, run.server) as url:
            dues, calls, over = asyncio.run(_overtake(url, run.scale.bulk_before, run.scale.overtaking_seconds))
            audit(run, url)
        late = [(at - dues[key]).total_seconds() for at, key in calls if key in dues]
        begun = [at for at, _ in calls]
        note = f"{len(late)} urgent ones before {run.scale.bulk_before:,} bulk ones, {WORKERS} workers"
        run.found(f"{dialect}: an urgent one among bulk, worst lateness", max(late), "s", target=LATEST, note=note)
        rate = len(begun) / (over - begun[0]).total_seconds()
        run.found(f"{dialect}: sends a second at a rate of {RATE}", rate, "/s", note="all classes together")
        assert len(late) == len(dues), "an urgent one was not sent"


async def _overtake(
    url: str, bulk: int, seconds: int
) -> tuple[dict[str, datetime], list[tuple[datetime, str]], datetime]:
    provider = Provider()
    books = [_book(url, provider) for _ in range(WORKERS)]
    for start in range(0, bulk, 10_000):
        numbers = range(start, min(start + 10_000, bulk))
        await books[0].schedule_many(
            [New(kind="bulk", key=f"bulk-{number}", recipient="you", after=timedelta(0)) for number in numbers]
        )
    settle_down(url)
    first = datetime.now(UTC) + WARM_UP
    count = int(seconds / URGENT_EVERY.total_seconds())
    dues = {f"urgent-{number}": first + number * URGENT_EVERY for number in range(count)}
    await books[0].schedule_many([New(kind="urgent", key=key, recipient="you", at=at) for key, at in dues.items()])
    end = max(dues.values()) + timedelta(seconds=LATEST.bound + 1)
    async with AsyncExitStack() as stack:
        for book in books:
            await stack.enter_async_context(book.worker())
        await asyncio.sleep((end - datetime.now(UTC)).total_seconds())
        over = datetime.now(UTC)
        calls = list(provider.calls)
    for book in books:
        await book.close()
    return dues, calls, over


def _book(url: str, provider: Provider) -> Duebook:
    book = Duebook(url, namespace="bench")
    policy = ChannelPolicy(CHANNEL, concurrency=20, rate=RATE)
    book.add_channel(CHANNEL, FunctionChannel(policy, provider.send))

    for name, priority in (("bulk", "bulk"), ("urgent", "urgent")):

        @book.kind(name, channel=CHANNEL, priority=priority)
        async def remind(due: Due) -> Push:
            return Push(to=due.recipient, title=due.key)

    return book
