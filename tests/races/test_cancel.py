"""Race 8: an owner withdraws while a lane begins. Until begin the owner wins; the answer is always true."""

import asyncio
from typing import Any

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.ownership import Answer
from duebook.errors import StoreUnavailable
from tests.support.engine import Crew
from tests.support.worlds import World, intent_of

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
    "before the claim": 0,
    "while the handler thinks": 1,
    "after the decision, before the begin": 2,
    "once it is on the wire": 3,
}


@pytest.mark.parametrize("order", ORDERS)
async def test_a_cancel_at_every_step_of_a_lane(crew: Crew, order: str) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    await world.schedule("a")
    lane = crew.lane()
    step = ORDERS[order]
    answers = []

    async def cancel() -> None:
        answers.append(await world.book.cancel("mail", "a", reason="read"))

    if step == 0:
        await cancel()
    verb = {1: "read_controls", 2: "begin", 3: "apply"}.get(step)
    if verb:
        # The lane's own statement is held up, so that the owner is first by force.
        world.database.fail(verb, "late")
    try:
        await lane.settle_down()
    except StoreUnavailable:
        pass
    if step in (1, 2, 3):
        await cancel()
        await world.database.deliver()
        for _ in range(3):
            world.clock.advance(1)
            await lane.settle_down()
    if step == 3:
        assert (answers[0].result, answers[0].state) == ("too_late", State.SENDING)
        assert await world.state("a") is State.ACCEPTED
    else:
        assert answers[0].result == "done"
        assert (await world.state("a"), channel.sent) == (State.CANCELLED, [])


async def test_cancel_waits_for_a_begin_that_holds_the_row_and_then_says_too_late(world: World) -> None:
    if world.dialect != "postgres":
        return  # one writer at a time: there is nothing to wait for
    world.declare()
    n = await world.claimed("a")
    pool = world.database.inner
    async with pool._connection() as connection, connection.transaction():
        from duebook.stores.postgres import database as module

        def begin() -> Any:
            return world.store.begin("mail", [intent_of(n, world.clock.now())], world.clock.now())

        plan = begin()
        await module._execute(connection, next(plan))
        waiting = asyncio.create_task(world.book.cancel("mail", "a", reason="read"))
        while not await connection.fetchval(
            "select count(*) from pg_locks where not granted and pid <> pg_backend_pid()"
        ):
            await asyncio.sleep(0)
        assert not waiting.done()
    answer = await waiting
    assert (answer.result, answer.state) == ("too_late", State.SENDING)
