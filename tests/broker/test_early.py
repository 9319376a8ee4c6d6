"""Brokers count in whole seconds, so ids are asked for a little early, and wait in the lane for their moment."""

from datetime import timedelta

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.policy import ChannelPolicy, Priority
from duebook.engine.inbox import Inbox, Parcel
from duebook.engine.settings import EngineSettings
from duebook.ports import Delivery
from tests.support.brokered import Brokered
from tests.support.clock import Clock
from tests.support.queue import ClockQueue


async def test_what_came_early_is_sent_at_its_moment_and_not_before(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    await crew.world.schedule("a", due=4.25)
    await brokered.go_on(3)
    assert len(queue.held) == 1, "it is in hand"
    assert not lane.channel.sent
    crew.world.clock.advance(1.24)
    await lane.settle_down()
    assert not lane.channel.sent
    crew.world.clock.advance(0.01)
    await brokered.receive_all()
    assert len(lane.channel.sent) == 1
    assert not queue.held
    assert len(queue.published) == 1


async def test_what_is_due_now_does_not_wait_behind_what_came_early(brokered: Brokered, queue: ClockQueue) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    await crew.world.schedule(*[f"early{n}" for n in range(100)], due=3)
    await brokered.go_on()
    assert len(queue.held) == 100
    await crew.world.schedule("now", due=0)
    await brokered.promote()
    await brokered.receive_all()
    assert [context.key for _, context in lane.channel.sent] == ["now"]


@pytest.mark.parametrize("withdraw", ["cancel", "reschedule"])
async def test_what_is_withdrawn_while_it_waits_is_not_sent(
    brokered: Brokered, queue: ClockQueue, withdraw: str
) -> None:
    crew = brokered.crew
    lane = brokered.lane()
    await brokered.go_on()
    await crew.world.schedule("a", due=4)
    await brokered.go_on(2)
    assert len(queue.held) == 1
    if withdraw == "cancel":
        await crew.world.book.cancel("mail", "a", reason="read")
    else:
        await crew.world.book.reschedule("mail", "a", at=crew.world.at(60))
    await brokered.go_on(4)
    assert not lane.channel.sent
    assert not queue.held
    await brokered.go_on(60)
    assert crew.world.tally() == {State.CANCELLED if withdraw == "cancel" else State.ACCEPTED: 1}


async def test_too_much_that_becomes_due_at_once_is_left_to_others() -> None:
    clock = Clock()
    queue = ClockQueue(clock)
    inbox = Inbox(ChannelPolicy("mail", concurrency=5), queue, EngineSettings())
    await queue.publish("mail.normal", range(30), timedelta(0))
    for delivery in await queue.receive("mail.normal", 30, 0.0):
        inbox.keep(Parcel(Priority.NORMAL, delivery), clock.at(1))
    assert inbox.room(Priority.NORMAL) == 10, "what waits for its time is in nobody's way"
    assert inbox.next_at == clock.at(1)
    inbox.ripen(clock.at(1) - timedelta(microseconds=1))
    assert len(inbox) == 0
    inbox.ripen(clock.at(1))
    await inbox.tell_broker()
    assert sorted(id for _, _, id in queue.waiting) == list(range(10, 30))
    assert [parcel.delivery.id for parcel in inbox.take(10)] == list(range(10)), "those that were due first stay"
    assert inbox.next_at is None


async def test_no_more_wait_for_their_time_than_a_batch() -> None:
    clock = Clock()
    inbox = Inbox(ChannelPolicy("mail", concurrency=5), ClockQueue(clock), EngineSettings(batch=20))
    for id in range(15):
        inbox.keep(Parcel(Priority.NORMAL, Delivery(id, id)), clock.at(1))
    assert inbox.room(Priority.URGENT) == 5
    inbox.leave()
    assert inbox.room(Priority.URGENT) == 10
