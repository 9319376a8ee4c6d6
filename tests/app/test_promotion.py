"""What is due soon is told to the broker as it is scheduled, after the commit and beside the caller."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta

import pytest
import pytest_asyncio
import sqlalchemy
from sqlalchemy.orm import Session

from duebook import Duebook, New, State
from duebook.engine.promoter import Promoter
from duebook.errors import QueueUnavailable
from tests.app.desk import DAY, MINUTE, SETTINGS, Clock, Desk, soon
from tests.app.places import Place
from tests.support.queue import AwaitedQueue

TOLD = [("mail.normal", timedelta(seconds=298))]


@pytest.fixture
def queue(clock: Clock) -> AwaitedQueue:
    return AwaitedQueue(clock)


def make_desk(place: Place, clock: Clock, queue: AwaitedQueue | None) -> Desk:
    book = Duebook(place.url, namespace="test", settings=SETTINGS, queue=queue)
    desk = Desk(book, clock, place)
    desk.channel(concurrency=2)
    desk.kind()
    return desk


@pytest_asyncio.fixture
async def desk(place: Place, clock: Clock, queue: AwaitedQueue) -> AsyncIterator[Desk]:
    """A program that schedules, with a broker and without a worker."""
    desk = make_desk(place, clock, queue)
    yield desk
    await desk.book.close()


async def test_what_is_near_is_told_as_it_is_scheduled_and_what_is_far_is_not(desk: Desk, queue: AwaitedQueue) -> None:
    await desk.schedule("far", after=DAY)
    await desk.schedule("near", after=5 * MINUTE)
    told = await queue.until_told(1)
    assert [(name, delay) for name, _, delay in told] == TOLD
    assert told[0][1] == (await desk.read("near")).id


async def test_many_are_told_to_the_last(desk: Desk, queue: AwaitedQueue) -> None:
    await desk.book.schedule_many(
        [New(kind="note", key=f"k{n}", recipient="ann", after=5 * MINUTE) for n in range(SETTINGS.batch + 1)]
    )
    assert len(await queue.until_told(SETTINGS.batch + 1)) == SETTINGS.batch + 1


async def test_closing_the_book_waits_for_what_is_being_told(place: Place, clock: Clock, queue: AwaitedQueue) -> None:
    desk = make_desk(place, clock, queue)
    await desk.schedule("near", after=5 * MINUTE)
    await desk.book.close()
    assert len(queue.published) == 1


async def test_a_broker_that_is_down_is_nothing_to_who_schedules(desk: Desk, queue: AwaitedQueue) -> None:
    queue.down = True
    await desk.schedule("a", "b", after=5 * MINUTE)
    assert desk.book.wired.promotion is not None
    await desk.book.wired.promotion.finish()
    queue.down = False
    assert not queue.published
    desk.clock.advance(MINUTE)
    await desk.step("promoter")
    assert [delay for _, _, delay in queue.published] == [timedelta(seconds=238)] * 2


async def test_a_program_without_an_event_loop_tells_too(desk: Desk, queue: AwaitedQueue) -> None:
    await asyncio.to_thread(desk.book.sync.schedule, "note", "a", recipient="ann", after=5 * MINUTE)
    await asyncio.to_thread(desk.book.sync.close)
    assert [(name, delay) for name, _, delay in queue.published] == TOLD


async def test_what_is_scheduled_in_the_callers_transaction_is_told_after_the_commit(
    desk: Desk, queue: AwaitedQueue
) -> None:
    url = desk.place.url.replace("postgresql://", "postgresql+psycopg://").replace(
        "postgres://", "postgresql+psycopg://"
    )
    engine = sqlalchemy.create_engine(url)
    with Session(engine) as session:
        desk.book.using(session).schedule("note", "undone", recipient="ann", after=MINUTE)
        session.rollback()
        desk.book.using(session).schedule("note", "done", recipient="ann", after=5 * MINUTE)
        assert not queue.published
        session.commit()
    engine.dispose()
    assert [(name, delay) for name, _, delay in await queue.until_told(1)] == TOLD


async def test_a_worker_hears_of_what_another_program_schedules_for_now(
    place: Place, clock: Clock, queue: AwaitedQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That program knows no broker. On SQLite nobody can be told: there it is the worker's own program."""
    monkeypatch.setattr(Promoter, "pace_seconds", 60.0)
    served = make_desk(place, clock, queue)
    other = make_desk(place, clock, None) if place.dialect == "postgres" else served
    async with served.worker():
        await served.schedule("first")
        await served.until(State.ACCEPTED, "first")
        queue.published.clear()
        # When the worker has begun to listen cannot be seen from here.
        keys = [f"now{attempt}" for attempt in range(20)]
        for key in keys:
            await other.schedule(key)
            with suppress(TimeoutError):
                await queue.until_told(1, seconds=0.5)
                break
        assert queue.published
        await served.until(State.ACCEPTED, keys[0])
    await other.book.close()
    await served.book.close()


async def test_a_worker_that_lacks_a_queue_does_not_start(place: Place, clock: Clock, queue: AwaitedQueue) -> None:
    desk = make_desk(place, clock, queue)
    queue.missing.add("mail.bulk")
    with pytest.raises(QueueUnavailable, match=r"mail\.bulk"):
        async with desk.worker():
            pass
    queue.missing.clear()
    async with desk.worker():
        await desk.schedule("a")
        await desk.until(State.ACCEPTED, "a")
    await desk.book.close()


async def test_a_worker_that_stops_gives_back_what_it_did_not_begin(
    place: Place, clock: Clock, queue: AwaitedQueue
) -> None:
    """It takes no more than it can use, so that others may have the rest; on leaving, others may have all."""
    desk = make_desk(place, clock, queue)
    keys = [f"k{n}" for n in range(20)]
    gate = desk.gate()
    desk.outcomes.update(dict.fromkeys(keys, gate))
    async with desk.worker():
        await desk.schedule("first")
        await desk.until(State.ACCEPTED, "first")
        queue.published.clear()
        await desk.schedule(*keys)
        await soon(gate.entered.wait())
        await queue.until_told(20)
        assert len(queue.held) <= 4, "twice as many as may be on the wire"
    assert not queue.held
    assert len(queue.waiting) >= 12
    await desk.book.close()
