"""Race 5: one notification that kills its workers must not take its neighbours along."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

from duebook.domain.decision import Due
from duebook.domain.lifecycle import State
from tests.support.engine import Crew, remind

POISON = "k077"


async def test_one_worker_killing_row_among_two_hundred_reaches_review_and_the_others_are_accepted(crew: Crew) -> None:
    world = crew.world
    killed: list[list[str]] = []
    deadly = asyncio.Event()
    never = asyncio.Event()

    async def handler(due: Due) -> Any:
        if due.key == POISON:
            deadly.set()
            await never.wait()
        return await remind(due)

    # What was on the wire when its worker died may go out again under the same key.
    channel = crew.channel(concurrency=50, key_window=timedelta(days=1))
    crew.kind(handler=handler, on_uncertain="resend")
    await world.schedule(*(f"k{i:03}" for i in range(200)))
    for life in range(30):
        if await world.state(POISON) is State.REVIEW:
            break
        deadly.clear()
        crew.lanes.clear()
        lane = crew.lane(holder=f"worker-{life}")
        with suppress(AssertionError):
            await lane.until(deadly.is_set)
        if not deadly.is_set():
            await crew.go_on(8)
        if deadly.is_set():
            killed.append([held.n.key for held in lane.lane.held.values()])
        await lane.die()
        await crew.rescue()
    n = await world.read(POISON)
    assert (n.state, n.number, n.budget_used) == (State.REVIEW, 0, 5)
    assert "died" in (n.reason or "")
    assert all(keys == [POISON] for keys in killed[1:]), "after its first kill it travels alone"
    crew.lanes.clear()
    crew.lane(holder="survivor")
    for _ in range(2):
        await crew.go_on(40)
        await crew.wait_until_quiet()
        await crew.reconciler.step()
    await crew.go_on(10)
    assert world.tally() == {"accepted": 199, "review": 1}
    assert len({context.idempotency_key for _, context in channel.sent}) == 199
    assert POISON not in channel.keys


async def test_losses_suffered_in_company_use_up_nothing(crew: Crew) -> None:
    world = crew.world
    crew.channel()
    crew.kind()
    await world.schedule("a", "b")
    await world.claim()
    await crew.rescue()
    assert [((await world.read(key)).alone, (await world.read(key)).budget_used) for key in "ab"] == [(True, 0)] * 2
    crew.lane()
    await crew.go_on(6)
    assert [await world.state(key) for key in "ab"] == [State.ACCEPTED] * 2


async def test_a_worker_that_dies_between_intent_and_outcome_leaves_only_what_was_on_the_wire(crew: Crew) -> None:
    world = crew.world
    never = asyncio.Event()

    async def hang(*_: Any) -> None:
        await never.wait()

    channel = crew.channel(concurrency=3)
    crew.kind()
    channel.answers = [hang] * 3
    await world.schedule(*(f"k{i}" for i in range(20)))
    lane = crew.lane()
    await lane.settle_down()
    await lane.die()
    crew.lanes.clear()
    await crew.rescue()
    assert world.tally() == {"uncertain": 3, "scheduled": 17}
    crew.lane(holder="worker-2")
    await crew.go_on(30)
    assert world.tally() == {"uncertain": 3, "accepted": 17}
    assert len(channel.sent) == len(set(channel.keys)) == 20
