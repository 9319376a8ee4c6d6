"""A worker, a database and a broker, each real: whatever happens between them, each notification is sent once.

The broker's clock is the machine's, so these wait.
"""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from duebook.queues.redis import RedisQueue
from duebook.testing.contracts.queue import HostileQueue
from duebook.testing.contracts.queue.working import Mails, make_book, promise, work_is_done_once
from tests import postgres
from tests.queues.redis_server import RedisServer

COUNT = 200


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'book.db'}"
    else:
        with postgres.fresh_database(os.environ[postgres.VARIABLE]) as found:
            yield found


def check(mails: Mails) -> None:
    assert len(mails.sent) == COUNT
    assert set(mails.sent.values()) == {1}


async def test_through_a_hostile_transport(url: str, redis_server: RedisServer) -> None:
    """The contract tries it over SQLite, with every broker; here it is PostgreSQL, too."""
    queues = [HostileQueue(RedisQueue(redis_server.url, prefix="hostile"), seed) for seed in range(2)]
    await work_is_done_once(url, queues, "email", COUNT)


async def test_a_broker_that_is_killed_under_load_and_comes_back(url: str, redis_server: RedisServer) -> None:
    mails = Mails()
    book = make_book(url, RedisQueue(redis_server.url, prefix="killed"), "email", mails)
    await book.migrate()
    async with book.worker():
        await promise(book, COUNT)
        await mails.until(COUNT // 10)
        await asyncio.to_thread(redis_server.restart)
        await mails.until(COUNT)
    await book.close()
    check(mails)


@pytest.mark.usefixtures("redis_server")
async def test_with_the_broker_gone_for_good(url: str, tmp_path: Path) -> None:
    mails = Mails()
    server = RedisServer(tmp_path)
    book = make_book(url, RedisQueue(server.url), "email", mails)
    await book.migrate()
    async with book.worker():
        server.stop()
        await promise(book, COUNT)
        await mails.until(COUNT)
    await book.close()
    check(mails)
