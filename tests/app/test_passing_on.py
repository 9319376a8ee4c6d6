"""What one lane passes on to another is not left lying until somebody looks."""

from dataclasses import replace
from datetime import timedelta

from duebook import Duebook, Sms, State
from tests.app.desk import SETTINGS, Clock, Desk
from tests.app.places import Place
from tests.support.queue import AwaitedQueue

NOBODY_LOOKS = replace(SETTINGS, poll_seconds=60.0, lease_seconds=300.0, grace_seconds=60.0, sweep_seconds=600.0)


async def test_what_is_moved_to_another_channel_is_sent_at_once(place: Place, clock: Clock) -> None:
    await passes_on(place, clock, None)


async def test_and_goes_by_the_broker_where_there_is_one(place: Place, clock: Clock) -> None:
    queue = AwaitedQueue(clock)
    await passes_on(place, clock, queue)
    assert {name for name, _, _ in queue.published} == {"mail.normal", "sms.normal"}


async def passes_on(place: Place, clock: Clock, queue: AwaitedQueue | None) -> None:
    desk = Desk(Duebook(place.url, namespace="test", settings=NOBODY_LOOKS, queue=queue), clock, place)
    desk.channel()
    desk.channel("sms")
    desk.kind(channels=["sms"])
    desk.decisions["b"] = Sms(to="+493023125001", text="Due", channel="sms")
    async with desk.worker():
        await desk.schedule("a")
        await desk.until(State.ACCEPTED, "a")
        await desk.schedule("b", after=timedelta(0))
        await desk.until(State.ACCEPTED, "b")
    await desk.book.close()
