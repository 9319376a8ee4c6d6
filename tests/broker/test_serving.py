"""Workers with a broker: it carries ids near their time, and whatever it does, each is sent once."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from duebook.domain import deciding
from duebook.domain.lifecycle import State
from duebook.domain.policy import ChannelPolicy, Priority, UnreadPolicy
from duebook.engine.inbox import Inbox
from duebook.engine.settings import EngineSettings
from duebook.errors import QueueUnavailable
from duebook.ports import Delivery
from duebook.stores.drive import drive_async
from duebook.stores.postgres.database import _execute
from duebook.testing.contracts.queue import HostileQueue
from tests.support.brokered import Brokered
from tests.support.engine import Crew
from tests.support.locks import somebody_waits_for
from tests.support.queue import ClockQueue

CAP = timedelta(seconds=900)
SWEEP = 10


async def test_what_is_due_goes_by_the_broker_and_is_acknowledged(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    await crew.world.schedule("a", "b", due=5)
    await brokered.go_on(4)
    assert [(name, delay.total_seconds()) for name, _, delay in queue.published] == [("mail.normal", 2)] * 2
    assert not lane.channel.sent
    await brokered.go_on(2)
    assert len(lane.channel.sent) == 2
    assert not queue.waiting
    assert not queue.held
    assert crew.world.tally() == {State.ACCEPTED: 2}


async def test_what_is_far_away_is_parked_until_it_is_in_reach(brokered: Brokered, queue: ClockQueue) -> None:
    queue.max_delay = CAP
    await brokered.crew.world.schedule("far", due=1800)
    await brokered.promote()
    assert not queue.published
    brokered.crew.world.clock.advance(1800 - 869)
    await brokered.promote()
    assert [delay for _, _, delay in queue.published] == [timedelta(seconds=867)]
    await brokered.promote()
    assert len(queue.published) == 1, "once is enough"


async def test_what_was_cancelled_leaves_a_message_and_sends_nothing(brokered: Brokered, queue: ClockQueue) -> None:
    queue.max_delay = CAP
    crew = brokered.crew
    lane = brokered.lane()
    await crew.world.schedule("unread", due=1800)
    crew.world.clock.advance(1000)
    await brokered.go_on()
    assert len(queue.published) == 1
    await crew.world.book.cancel("mail", "unread", reason="read")
    crew.world.clock.advance(800)
    await brokered.go_on(SWEEP + 2)
    assert not lane.channel.sent
    assert not queue.waiting
    assert not queue.held
    assert crew.world.tally() == {State.CANCELLED: 1}


async def test_a_reminder_of_half_an_hour_and_its_reading(crew: Crew) -> None:
    """Longer than the broker's longest delay: parked, then published, and void once it was read."""
    queue = ClockQueue(crew.world.clock, CAP)
    brokered = Brokered(crew, queue)
    crew.channel()
    crew.kind("chat", unread=UnreadPolicy(after=timedelta(minutes=30)))
    lane = brokered.lane()
    posted = crew.world.book.unread.posted
    await posted("chat", "read", "m1", author="bob", recipients=["ann"])
    await posted("chat", "unread", "m1", author="bob", recipients=["ann"])
    await brokered.promote()
    assert not queue.published
    crew.world.clock.advance(1000)
    await brokered.promote()
    assert len(queue.published) == 2
    await crew.world.book.unread.mark_read("chat", "read", "ann", up_to="m1")
    crew.world.clock.advance(790)
    await brokered.go_on(SWEEP + 3)
    assert [context.key for _, context in lane.channel.sent] == ["unread/m1/ann"]
    assert not queue.waiting
    assert not queue.held


async def test_what_comes_too_early_is_published_again(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await crew.world.schedule("moved", due=20)
    await brokered.go_on()
    await crew.world.book.reschedule("mail", "moved", at=crew.world.at(60))
    queue.published.clear()
    await brokered.go_on(25)
    assert not lane.channel.sent
    await brokered.go_on(37)
    assert len(lane.channel.sent) == 1
    assert 1 <= len(queue.published) <= 2


async def test_what_a_hasty_broker_delivers_is_published_again(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await crew.world.schedule("a", due=60)
    await brokered.go_on(20)
    queue.waiting = [(crew.world.now(), name, id) for _, name, id in queue.waiting]
    await brokered.go_on(2)
    assert not lane.channel.sent
    assert not queue.held
    assert [delay.total_seconds() for _, _, delay in queue.published] == [57, 36]
    await brokered.go_on(39)
    assert len(lane.channel.sent) == 1


async def test_a_promoter_that_dies_before_its_mark_costs_a_message(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await crew.world.schedule("a", due=60)
    queue.mute = True
    with pytest.raises(QueueUnavailable):
        await brokered.promote()
    queue.mute = False
    await brokered.promote()
    assert len(queue.published) == 1, "its claim has not run out"
    await brokered.go_on(62)
    assert len(queue.published) == 2
    assert len(lane.channel.sent) == 1
    assert not queue.waiting
    assert not queue.held


async def test_without_the_broker_work_goes_on_by_the_store(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    queue.down = True
    await crew.world.schedule(*[f"k{position}" for position in range(300)], due=1)
    await brokered.go_on(4)
    assert len(lane.channel.sent) == 300, "it is known to be down, so nothing waits for a sweep"
    assert not queue.published, "and nothing was marked as published"
    await crew.world.schedule("later", due=50)
    await brokered.go_on(2)
    queue.down = False
    await brokered.go_on(35)
    assert [delay.total_seconds() > 0 for _, _, delay in queue.published] == [True], "it is told once it is back"


async def test_what_the_broker_lost_waits_for_the_sweep_and_no_longer(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    await crew.world.schedule(*[f"k{position}" for position in range(300)], due=6)
    await brokered.go_on()
    assert len(queue.waiting) == 300
    queue.waiting.clear()
    await brokered.go_on(5 + SWEEP)
    assert len(lane.channel.sent) == 300


async def test_a_killed_workers_work_is_taken_up_by_another(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    await crew.world.schedule("a")
    claimed = await crew.world.claim()
    assert [n.key for n in claimed] == ["a"]
    lane = brokered.lane()
    await crew.rescue()
    await brokered.go_on(SWEEP + 2)
    assert len(lane.channel.sent) == 1


async def test_what_is_paused_is_found_again_when_it_is_resumed(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await crew.world.book.pause(kind="mail", reason="look first")
    await crew.world.schedule("a", due=1)
    await brokered.go_on(20)
    assert not lane.channel.sent
    assert not queue.held
    await crew.world.book.resume(kind="mail")
    await brokered.go_on(SWEEP + 2)
    assert len(lane.channel.sent) == 1


async def test_two_promoters_share_the_work(brokered: Brokered, queue: ClockQueue) -> None:
    w = brokered.crew.world
    await w.schedule(*[f"k{position}" for position in range(5)], due=60)
    now = w.now()
    first = await w.do(w.store.take_publications(w.at(100), 3, now, w.at(30)))
    second = await w.do(w.store.take_publications(w.at(100), 3, now, w.at(30)))
    assert len(first) == 3
    assert len(second) == 2
    assert not {one.id for one in first} & {one.id for one in second}


async def test_a_mark_is_not_made_on_what_has_moved(brokered: Brokered) -> None:
    w = brokered.crew.world
    await w.schedule("a", due=60)
    taken = await w.do(w.store.take_publications(w.at(100), 10, w.now(), w.at(1)))
    await w.book.reschedule("mail", "a", at=w.at(80))
    await w.do(w.store.mark_published(taken))
    w.clock.advance(2)
    again = await w.do(w.store.take_publications(w.at(100), 10, w.now(), w.at(1)))
    assert [one.wake_at for one in again] == [w.at(78)]


async def test_a_claim_before_the_mark_leaves_nothing_that_bars_the_next_publication(brokered: Brokered) -> None:
    w = brokered.crew.world
    ids = await w.schedule("a")
    taken = await w.do(w.store.take_publications(w.at(60), 10, w.now(), w.at(30)))
    (n,) = await w.do(w.store.claim_received("mail", ["mail"], ids.values(), w.now(), w.at(15), "worker-1"))
    await w.do(w.store.mark_published(taken))
    await w.do(w.store.apply([deciding.give_back(n, w.now(), "worker-1", "the worker stops")]))
    again = await w.do(w.store.take_publications(w.at(60), 10, w.now(), w.at(30)))
    assert [one.id for one in again] == [n.id]


@pytest.mark.parametrize("world", ["postgres"], indirect=True)  # SQLite has one writer: there is nothing to wait for
async def test_a_delivery_waits_for_the_mark_that_it_was_published(brokered: Brokered) -> None:
    """A broker may be quicker than the promoter. Were the row passed over, it would wait for the sweep."""
    w = brokered.crew.world
    ids = await w.schedule("a")
    taken = await w.do(w.store.take_publications(w.at(60), 10, w.now(), w.at(30)))
    pool: Any = w.database.inner
    async with pool._connection() as connection, connection.transaction():
        await drive_async(w.store.mark_published(taken), lambda statement: _execute(connection, statement))
        plan = w.store.claim_received("mail", ["mail"], ids.values(), w.now(), w.at(15), "worker-1")
        claiming = asyncio.create_task(w.do(plan))
        await somebody_waits_for(connection)
    assert [n.key for n in await claiming] == ["a"]


@pytest.mark.parametrize("seed", range(3))
async def test_a_hostile_transport_costs_time_and_nothing_else(crew: Crew, seed: int) -> None:
    """Extra lateness is bounded by the sweep: what is lost is found there."""
    queue = HostileQueue(ClockQueue(crew.world.clock), seed)
    brokered = Brokered(crew, queue)
    channel = crew.channel()
    crew.kind()
    brokered.lane(holder="one")
    brokered.lane(holder="two")
    await brokered.go_on()
    for position in range(150):
        await crew.world.schedule(f"k{position:03}", due=2 + position % 20)
    await brokered.go_on(22 + SWEEP + 1)
    assert queue.lost > 20
    assert queue.doubled > 20
    assert crew.world.tally() == {State.ACCEPTED: 150}
    assert len(channel.sent) == len(set(channel.keys)) == 150


async def test_urgent_ones_overtake_and_bulk_keeps_its_share(queue: ClockQueue) -> None:
    inbox = Inbox(ChannelPolicy("mail", concurrency=250), queue, EngineSettings())
    inbox.put(Priority.BULK, [Delivery(id, id) for id in range(100)])
    inbox.put(Priority.URGENT, [Delivery(id, id) for id in range(1_000, 1_100)])
    taken = inbox.take(20)
    assert [priority for priority, _ in taken] == [Priority.URGENT] * 20 + [Priority.BULK] * 2
    inbox.put_back(taken)
    assert [delivery.id for _, delivery in inbox.take(20)][:3] == [1_000, 1_001, 1_002]
