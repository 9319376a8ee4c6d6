"""Race 8: an owner withdraws while a lane begins. Until begin the owner wins; the answer is always true."""

import asyncio
from typing import Any

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted
from duebook.domain.ownership import Answer
from duebook.stores.drive import drive_async
from duebook.stores.postgres.database import _execute
from tests.support.engine import Crew, Gate
from tests.support.locks import somebody_waits_for
from tests.support.worlds import World, email, intent_of

REPETITIONS = 200


async def beginning(world: World, key: str) -> set[int]:
    n = await world.read(key)
    intent = intent_of(n, world.clock.now())
    return await world.database.ask(world.store.begin("mail", [intent], world.clock.now()))


async def test_owner_and_lane_race_two_hundred_times_and_the_answer_is_always_true(world: World) -> None:
    world.declare()
    keys = [f"k{i}" for i in range(REPETITIONS)]
    await world.schedule(*keys)
    await world.claim(limits=(REPETITIONS, REPETITIONS, REPETITIONS))

    async def race(i: int, key: str) -> tuple[str, Answer, set[int]]:
        rivals: list[Any] = [world.book.cancel("mail", key, reason="read"), beginning(world, key)]
        done = await asyncio.gather(*(rivals if i % 2 else reversed(rivals)))
        answer, begun = done if i % 2 else reversed(done)
        return key, answer, begun

    results = []
    for start in range(0, REPETITIONS, 10):
        results += await asyncio.gather(*(race(i, keys[i]) for i in range(start, start + 10)))
    for key, answer, begun in results:
        n = await world.read(key)
        if answer:
            assert (n.state, begun, n.number) == (State.CANCELLED, set(), 0)
        else:
            assert (answer.result, answer.state, n.state, begun) == ("too_late", State.SENDING, State.SENDING, {n.id})
            assert n.cancel_request == "read"


ORDERS = {
    "before the claim": State.CANCELLED,
    "while the handler thinks": State.CANCELLED,
    "as the begin is on its way": State.CANCELLED,
    "once it is on the wire": State.ACCEPTED,
    "as the outcome is on its way": State.ACCEPTED,
}


@pytest.mark.parametrize("order", ORDERS)
async def test_a_cancel_at_every_step_of_a_lane(crew: Crew, order: str) -> None:
    world = crew.world
    thinking, sending = Gate(email()), Gate(Accepted("p-1"))
    channel = crew.channel()
    crew.kind(handler=thinking)
    channel.answers = [sending]
    await world.schedule("a")
    lane = crew.lane()
    begin = world.database.hold("begin")
    outcome = None
    if order != "before the claim":
        await lane.until(lambda: bool(thinking.entered))
    if order not in ("before the claim", "while the handler thinks"):
        thinking.open()
        await lane.until(lambda: begin.entered)
    if ORDERS[order] is State.ACCEPTED:
        begin.open()
        await lane.until(lambda: bool(sending.entered))
    if order == "as the outcome is on its way":
        outcome = world.database.hold("accept")
        sending.open()
        await lane.until(lambda: outcome.entered)
    answer = await world.book.cancel("mail", "a", reason="read")
    for let_through in (thinking.open, begin.open, sending.open, outcome.open if outcome else begin.open):
        let_through()
    await lane.settle_down()
    assert await world.state("a") is ORDERS[order]
    if ORDERS[order] is State.CANCELLED:
        assert (answer.result, answer.state, channel.sent) == ("done", State.CANCELLED, [])
    else:
        assert (answer.result, answer.state, channel.keys) == ("too_late", State.SENDING, ["a"])


@pytest.mark.parametrize("world", ["postgres"], indirect=True)  # SQLite has one writer: there is nothing to wait for
async def test_cancel_waits_for_a_begin_that_holds_the_row_and_then_says_too_late(world: World) -> None:
    world.declare()
    n = await world.claimed("a")
    pool = world.database.inner
    async with pool._connection() as connection, connection.transaction():
        plan = world.store.begin("mail", [intent_of(n, world.clock.now())], world.clock.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        waiting = asyncio.create_task(world.book.cancel("mail", "a", reason="read"))
        await somebody_waits_for(connection)
        assert not waiting.done()
    answer = await waiting
    assert (answer.result, answer.state) == ("too_late", State.SENDING)
