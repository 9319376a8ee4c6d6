"""Workers that live by it, although messages are lost, doubled, delayed and reordered, and although it is restarted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from .... import Accepted, Due, Duebook, Email, EngineSettings, Message, New, Outcome, SendContext, State
from ....ports import Queue
from .clauses import PATIENCE_SECONDS, Contract, Trial, clause
from .hostile import HostileQueue

SETTINGS = EngineSettings(sweep_seconds=2.0)
"""What the transport loses waits for the sweep; here it comes often, for that reason alone."""


class Working(Contract):
    """The whole way of an id: promoted, delivered, claimed, sent, acknowledged."""

    @clause
    async def test_workers_send_each_once_by_a_hostile_transport(self, trial: Trial) -> None:
        with TemporaryDirectory() as folder:
            queues = [HostileQueue(trial.connect(), seed) for seed in range(2)]
            await work_is_done_once(f"sqlite:///{Path(folder) / 'book.db'}", queues, trial.name, 100)
        assert sum(queue.lost for queue in queues) > 10, "hardly anything was lost on the way"

    @clause
    async def test_workers_send_each_once_although_the_broker_is_restarted(self, trial: Trial) -> None:
        restart = trial.restart()
        with TemporaryDirectory() as folder:
            queues = [trial.connect(), trial.connect()]
            await work_is_done_once(f"sqlite:///{Path(folder) / 'book.db'}", queues, trial.name, 100, meanwhile=restart)


class Mails:
    """How often each was sent."""

    def __init__(self) -> None:
        self.sent: Counter[str] = Counter()
        self._more = asyncio.Event()

    async def send(self, message: Message, context: SendContext) -> Outcome:
        self.sent[context.key] += 1
        self._more.set()
        return Accepted(context.key)

    async def until(self, count: int) -> None:
        """Wait until so many different ones were sent."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(self.sent) < count:
                self._more.clear()
                await self._more.wait()


def make_book(url: str, queue: Queue, channel: str, mails: Mails) -> Duebook:
    book = Duebook(url, settings=SETTINGS, queue=queue)
    book.channel(channel, concurrency=50)(mails.send)

    @book.kind("reminder", channel=channel)
    async def reminder(due: Due) -> Email:
        return Email(to="ann@example.com", subject=due.key, text="Due")

    return book


async def promise(book: Duebook, count: int) -> None:
    """Promise so many, due at once and within two seconds."""
    await book.schedule_many(
        New(kind="reminder", key=f"{number}", recipient="ann", after=timedelta(seconds=number % 3))
        for number in range(count)
    )


async def work_is_done_once(
    url: str,
    queues: Sequence[Queue],
    channel: str,
    count: int,
    meanwhile: Callable[[], Awaitable[object]] | None = None,
) -> None:
    """Expect two workers, each with a queue of its own, to send so many notifications once and to be done with them.
    `meanwhile`: what happens when some are sent."""
    mails = Mails()
    one, other = (make_book(url, queue, channel, mails) for queue in queues)
    await one.migrate()
    await promise(one, count)
    async with one.worker(), other.worker():
        if meanwhile is not None:
            await mails.until(count // 10)
            await meanwhile()
        await mails.until(count)
    states = Counter(n.state for n in await one.search(limit=count))
    await one.close()
    await other.close()
    assert (len(mails.sent), set(mails.sent.values())) == (count, {1}), "not each was sent once"
    assert states == {State.ACCEPTED: count}
