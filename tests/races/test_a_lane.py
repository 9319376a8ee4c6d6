"""The ordinary way, and what must not stop it."""

from contextlib import suppress
from datetime import timedelta

import pytest
from asyncpg import CharacterNotInRepertoireError, DataError

from duebook.domain.decision import Cancel, Decision, Defer, Due, Reject, Skip
from duebook.domain.lifecycle import State
from duebook.domain.message import Email
from duebook.domain.outcome import Accepted, Throttled
from duebook.domain.policy import Priority
from duebook.domain.retry import Backoff
from duebook.errors import StoreUnavailable
from duebook.ports import Finished
from tests.support.engine import Crew, Gate, Serving


async def test_a_due_notification_is_sent_once_and_recorded(crew: Crew) -> None:
    channel = crew.channel()
    crew.kind()
    await crew.world.schedule("a")
    await crew.lane().settle_down()
    assert channel.keys == ["a"]
    _, context = channel.sent[0]
    assert (context.idempotency_key, context.number) == ("test:mail:a", 1)
    assert (await crew.world.read("a")).provider_id == "p-1"


@pytest.mark.parametrize(
    ("decision", "state"),
    [
        (Skip("read"), State.SKIPPED),
        (Cancel("left"), State.CANCELLED),
        (Reject("no address"), State.REVIEW),
        (Defer("quiet hours"), State.SCHEDULED),
    ],
    ids=["skip", "cancel", "reject", "defer"],
)
async def test_a_decision_not_to_send_is_recorded_with_its_reason(crew: Crew, decision: Decision, state: State) -> None:
    async def decide(due: Due) -> Decision:
        return decision

    channel = crew.channel()
    crew.kind(handler=decide)
    await crew.world.schedule("a")
    await crew.lane().settle_down()
    n = await crew.world.read("a")
    assert (n.state, n.reason, channel.sent) == (state, getattr(decision, "reason", ""), [])


async def test_one_slow_send_does_not_keep_the_lane_from_claiming(crew: Crew) -> None:
    """Nor does a lane spin while it waits: settle_down would say so."""
    channel = crew.channel()
    crew.kind()
    gate = Gate()
    channel.answers = [gate]
    lane = crew.lane()
    await crew.world.schedule("slow")
    await lane.settle_down()
    crew.world.clock.advance(crew.settings.sweep_seconds + 0.1)
    await crew.world.schedule("next")
    lane.lane.expect(0.0)  # as the lookout does
    await lane.settle_down()
    assert channel.keys == ["slow", "next"], "a sweep for suspects stopped every other claim until the lane was empty"
    gate.open()
    await lane.settle_down()
    assert await crew.world.state("slow") is State.ACCEPTED


async def test_a_lane_at_rest_asks_nothing_more_until_it_has_a_reason(crew: Crew) -> None:
    crew.channel()
    crew.kind()
    lane = crew.lane()
    await crew.world.schedule("later", due=3600)
    await lane.settle_down()
    said = len(crew.world.database.said)
    await lane.settle_down()
    assert len(crew.world.database.said) == said
    assert lane.lane.pause() >= crew.settings.poll_seconds


@pytest.mark.parametrize("kinds", [1, 3])
async def test_a_lane_sends_no_faster_than_the_rate_of_its_channel(crew: Crew, kinds: int) -> None:
    channel = crew.channel(rate=5, concurrency=50)
    for name, priority in list(zip(("urgent", "normal", "bulk"), Priority, strict=True))[-kinds:]:
        crew.kind(name, priority=priority)
        await crew.world.schedule(*(f"k{i}" for i in range(150)), kind=name, priority=priority)
    lane = crew.lane()
    worst = 0.0
    for tick in range(200):
        await lane.settle_down()
        worst = max(worst, len(channel.sent) - (5 * tick * 0.1 + 1))
        crew.world.clock.advance(0.1)
    # A claim that may take one of three classes may bring one of each, if that is made up for afterwards.
    assert worst < kinds, f"{worst:.0f} more than the rate allows"
    assert len(channel.sent) > 70


async def test_a_channel_that_answers_nonsense_leaves_its_attempt_uncertain(crew: Crew) -> None:
    """ports.Channel is for others to implement. What one of them gets wrong must not lose what else has ended."""
    channel = crew.channel()
    crew.kind()
    channel.answers = [lambda *_: nothing(), Accepted("p-1")]
    await crew.world.schedule("a", "b")
    lane = crew.lane()
    await lane.settle_down()
    assert {key: await crew.world.state(key) for key in "ab"} == {"a": State.UNCERTAIN, "b": State.ACCEPTED}


async def nothing() -> None:
    return None


async def test_an_unexpected_error_of_the_store_loses_nothing_that_ended_with_it(crew: Crew) -> None:
    """The supervisor starts a lane again after a fault of its own; whatever ended in the same moment must survive."""
    channel = crew.channel()
    crew.kind()
    gates = [Gate(Accepted("p-1")), Gate(Accepted("p-2"))]
    channel.answers = list(gates)
    await crew.world.schedule("a", "b")
    lane = crew.lane()
    await lane.settle_down()
    crew.world.database.fail("peek", error=RuntimeError)
    crew.world.clock.advance(crew.settings.sweep_seconds)
    for gate in gates:
        gate.open()
    lane.lane.round([])
    ended: list[Finished] = []
    while len(ended) < 3:
        ended += await lane.tasks.wait(5)
    with suppress(RuntimeError):
        lane.lane.round(sorted(ended, key=lambda item: item.error is None))
    await lane.settle_down()
    assert {key: await crew.world.state(key) for key in "ab"} == {"a": State.ACCEPTED, "b": State.ACCEPTED}


async def test_a_throttled_channel_rests_for_every_worker_and_uses_no_attempt(crew: Crew) -> None:
    world = crew.world
    channel = crew.channel(concurrency=1)
    crew.kind()
    channel.answers = [Throttled("429", until=world.clock.at(30))]
    await world.schedule("a", "b")
    one, two = crew.lane(holder="worker-1"), crew.lane(holder="worker-2")
    await one.settle_down()
    await two.settle_down()
    assert len(channel.sent) == 1
    world.clock.advance(29)
    await two.settle_down()
    assert len(channel.sent) == 1
    world.clock.advance(2)
    for _ in range(2):
        await two.settle_down()
        await one.settle_down()
        world.clock.advance(1)
    # Which of two at one instant comes first is not promised.
    assert sorted(channel.keys) == sorted(["a", "b", channel.keys[0]])
    assert [(await world.read(key)).budget_used for key in "ab"] == [0, 0]


@pytest.mark.parametrize("reason", ["slow\x00down", "slow\ud83ddown"])
async def test_a_throttle_with_a_nasty_reason_does_not_block_its_lane(crew: Crew, reason: str) -> None:
    channel = crew.channel()
    crew.kind()
    channel.answers = [Throttled(reason, until=crew.world.clock.at(5))]
    await crew.world.schedule("a")
    lane = crew.lane()
    for _ in range(3):
        with suppress(ValueError, DataError, CharacterNotInRepertoireError):
            await lane.settle_down()
        crew.world.clock.advance(10)
    assert await crew.world.state("a") is State.ACCEPTED


async def test_deferral_ends_when_patience_does(crew: Crew) -> None:
    async def not_now(due: Due) -> Decision:
        return Defer("quiet hours", until=due.now + timedelta(minutes=10))

    crew.channel()
    crew.kind(handler=not_now, patience=timedelta(hours=1))
    await crew.world.schedule("a")
    lane = crew.lane()
    for minute in range(0, 80, 5):
        await lane.settle_down()
        assert await crew.world.state("a") is (State.REVIEW if minute >= 60 else State.SCHEDULED)
        crew.world.clock.advance(300)
    n = await crew.world.read("a")
    assert (n.number, n.budget_used) == (0, 0)
    assert "quiet hours" in (n.reason or "")


async def test_a_deferral_into_the_past_still_takes_a_step(crew: Crew) -> None:
    async def yesterday(due: Due) -> Decision:
        return Defer("no sense of time", until=due.now - timedelta(days=1))

    crew.channel()
    crew.kind(handler=yesterday)
    await crew.world.schedule("a")
    await crew.lane().settle_down()
    assert (await crew.world.read("a")).wake_at == crew.world.clock.at(1)


async def test_a_throttle_without_end_is_bounded_by_age(crew: Crew) -> None:
    channel = crew.channel(pause=timedelta(minutes=10))
    crew.kind(retry=Backoff(age=timedelta(hours=1)))
    channel.answers = [Throttled() for _ in range(100)]
    await crew.world.schedule("a")
    lane = crew.lane()
    for _ in range(9):
        await lane.settle_down()
        crew.world.clock.advance(601)
    n = await crew.world.read("a")
    assert (n.state, n.budget_used) == (State.REVIEW, 0)
    assert len(channel.sent) == 7


async def test_a_handler_that_raises_for_ever_ends_in_review_with_its_traceback(crew: Crew) -> None:
    async def broken(due: Due) -> Decision:
        raise LookupError(f"no such account: {due.key}\x00")

    crew.channel()
    crew.kind(handler=broken)
    crew.kind("chat")
    await crew.world.schedule("a")
    await crew.world.schedule("fine", kind="chat")
    lane = crew.lane()
    for _ in range(8):
        await lane.settle_down()
        crew.world.clock.advance(60)
    n = await crew.world.read("a")
    assert (n.state, n.budget_used, n.number) == (State.REVIEW, 5, 0)
    assert "in broken" in (n.reason or "")
    assert "no such account: a" in (n.reason or "")
    assert len((await crew.world.story("a")).history) == 5
    assert await crew.world.state("fine", "chat") is State.ACCEPTED


@pytest.mark.parametrize("answer", [None, "yes", 7])
async def test_a_handler_that_answers_nonsense_uses_an_attempt(crew: Crew, answer: object) -> None:
    async def strange(due: Due) -> object:
        return answer

    crew.channel()
    crew.kind(handler=strange)
    await crew.world.schedule("a")
    await crew.lane().settle_down()
    n = await crew.world.read("a")
    assert (n.state, n.budget_used) == (State.SCHEDULED, 1)
    assert "no decision" in (n.reason or "")


async def test_a_message_for_another_channel_moves_there(crew: Crew) -> None:
    async def by_push(due: Due) -> Decision:
        return Email(to="ann@example.org", subject="hi", text="hi", channel="push")

    mail, push = crew.channel(), crew.channel("push")
    crew.kind(handler=by_push)
    await crew.world.schedule("a")
    await crew.lane().settle_down()
    await crew.lane("push").settle_down()
    assert (mail.keys, push.keys) == ([], ["a"])


def finished(lane: Serving) -> bool:
    return lane.lane.finished


async def test_a_worker_that_stops_hands_back_what_has_not_begun_and_settles_the_rest(crew: Crew) -> None:
    channel = crew.channel(concurrency=1)
    crew.kind()
    gate = Gate()
    channel.answers = [gate]
    await crew.world.schedule("a", "b")
    lane = crew.lane()
    await lane.settle_down()
    lane.tasks.stop()
    await lane.settle_down()
    assert not finished(lane)
    gate.open()
    await lane.settle_down()
    assert finished(lane)
    assert {await crew.world.state(key) for key in "ab"} == {State.ACCEPTED, State.SCHEDULED}
    waiting = next(n for n in await crew.world.book.search() if n.state is State.SCHEDULED)
    assert (waiting.budget_used, waiting.number, waiting.alone) == (0, 0, False)


async def test_a_worker_that_stops_without_a_database_keeps_its_outcome_until_there_is_one(crew: Crew) -> None:
    crew.channel()
    crew.kind()
    await crew.world.schedule("a")
    crew.world.database.fail("accept", times=3, error=StoreUnavailable)
    lane = crew.lane()
    await lane.settle_down()
    lane.tasks.stop()
    for _ in range(3):
        assert not finished(lane)
        crew.world.clock.advance(1)
        await lane.settle_down()
    assert finished(lane)
    assert await crew.world.state("a") is State.ACCEPTED
