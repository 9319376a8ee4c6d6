"""A worker, a database and a broker, each real: whatever happens between them, each notification is sent once.

The broker's clock is the machine's, so these wait; the sweep comes often here, for that reason alone.
"""

import asyncio
import os
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from duebook import Accepted, Due, Duebook, Email, EngineSettings, Message, New, Outcome, SendContext
from duebook.ports import Queue
from duebook.queues.redis import RedisQueue
from tests import postgres
from tests.queues.redis_server import RedisServer
from tests.support.queue import HostileQueue

SETTINGS = EngineSettings(sweep_seconds=2.0)
COUNT = 200


class Sent:
    """How often each was sent."""

    def __init__(self) -> None:
        self.times: Counter[str] = Counter()
        self._more = asyncio.Event()

    def add(self, key: str) -> None:
        self.times[key] += 1
        self._more.set()

    async def until(self, count: int) -> None:
        """Wait until so many different ones were sent."""
        async with asyncio.timeout(30):
            while len(self.times) < count:
                self._more.clear()
                await self._more.wait()

    def check(self) -> None:
        assert len(self.times) == COUNT
        assert set(self.times.values()) == {1}


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'book.db'}"
    else:
        with postgres.fresh_database(os.environ[postgres.VARIABLE]) as found:
            yield found


def make_book(url: str, queue: Queue, sent: Sent) -> Duebook:
    book = Duebook(url, settings=SETTINGS, queue=queue)

    @book.channel("email", concurrency=50)
    async def email(message: Message, context: SendContext) -> Outcome:
        sent.add(context.key)
        return Accepted(context.key)

    @book.kind("reminder", channel="email")
    async def reminder(due: Due) -> Email:
        return Email(to="ann@example.com", subject=due.key, text="Due")

    return book


async def promise(book: Duebook) -> None:
    await book.schedule_many(
        [
            New(kind="reminder", key=f"k{number:03}", recipient="ann", after=timedelta(seconds=number % 3))
            for number in range(COUNT)
        ]
    )


@pytest.mark.parametrize("workers", [2])
async def test_through_a_hostile_transport(url: str, workers: int, redis_server: RedisServer) -> None:
    sent = Sent()
    queues = [HostileQueue(RedisQueue(redis_server.url, prefix="hostile"), seed) for seed in range(workers)]
    books = [make_book(url, queue, sent) for queue in queues]
    await books[0].migrate()
    await promise(books[0])
    async with books[0].worker(), books[1].worker():
        await sent.until(COUNT)
    for book in books:
        await book.close()
    sent.check()
    assert sum(queue.lost for queue in queues) > COUNT / 10


async def test_a_broker_that_is_killed_under_load_and_comes_back(url: str, redis_server: RedisServer) -> None:
    sent = Sent()
    book = make_book(url, RedisQueue(redis_server.url, prefix="killed"), sent)
    await book.migrate()
    async with book.worker():
        await promise(book)
        await sent.until(COUNT // 10)
        await asyncio.to_thread(redis_server.restart)
        await sent.until(COUNT)
    await book.close()
    sent.check()


@pytest.mark.usefixtures("redis_server")
async def test_with_the_broker_gone_for_good(url: str, tmp_path: Path) -> None:
    sent = Sent()
    server = RedisServer(tmp_path)
    book = make_book(url, RedisQueue(server.url), sent)
    await book.migrate()
    async with book.worker():
        server.stop()
        await promise(book)
        await sent.until(COUNT)
    await book.close()
    sent.check()
