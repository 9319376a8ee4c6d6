"""Race 7: the database goes away at the worst moment. Nothing is sent whose begin is not known to be stored, and no
outcome is forgotten."""

import sqlite3

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted, Rejected, Uncertain
from duebook.errors import Busy, StoreUnavailable
from tests.support.engine import Crew
from tests.support.faults import When


@pytest.mark.parametrize("error", [StoreUnavailable, Busy])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_begin_whose_commit_is_unknown_is_not_sent_and_leaves_no_doubt(
    crew: Crew, when: When, error: type[Exception]
) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    await world.schedule("a", "b")
    world.database.fail("begin", when, error=error)
    lane = crew.lane()
    await lane.settle_down()
    assert channel.sent == []
    world.database.fail("claim")
    world.clock.advance(1)
    await lane.settle_down()
    n = await world.read("a")
    assert (channel.sent, n.state, n.doubt, n.alone) == ([], State.SCHEDULED, 0, False)
    await crew.go_on()
    assert sorted(channel.keys) == ["a", "b"]
    story = await world.story("a")
    assert [a.outcome for a in story.attempts] == (["retry", "accepted"] if when == "after" else ["accepted"])
    assert [a.number for a in story.attempts] == list(range(1, len(story.attempts) + 1))


@pytest.mark.parametrize("delivered", ["before the lane looks", "between its two looks", "after it has given it back"])
async def test_a_begin_that_arrives_late_leaves_no_doubt_either(crew: Crew, delivered: str) -> None:
    """The connection broke, the server went on: its update lands when the lane is already clearing up."""
    world = crew.world
    channel = crew.channel()
    crew.kind()
    await world.schedule("a")
    lane = crew.lane()
    world.database.fail("begin", "late")
    await lane.settle_down()
    if delivered == "before the lane looks":
        await world.database.deliver()
    elif delivered == "between its two looks":
        world.database.fail("record_history")
        world.clock.advance(1)
        await lane.settle_down()
        await world.database.deliver()
    await crew.go_on(1)
    await world.database.deliver()
    await crew.go_on(6)
    await crew.rescue()
    await lane.settle_down()
    n = await world.read("a")
    assert (n.state, n.doubt, channel.keys) == (State.ACCEPTED, 0, ["a"])


@pytest.mark.parametrize("failures", [1, 3, 10])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_an_outcome_is_offered_until_it_is_stored(crew: Crew, failures: int, when: When) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    await world.schedule("a")
    world.database.fail("accept", when, failures)
    lane = crew.lane()
    await lane.settle_down()
    await crew.go_on(failures + 1)
    n = await world.read("a")
    assert (n.state, n.basis, n.doubt, len(channel.sent)) == (State.ACCEPTED, "reported", 0, 1)
    assert len((await world.story("a")).attempts) == 1
    while await crew.reconciler.step():
        pass
    assert await world.read("a") == n


@pytest.mark.parametrize("verb", ["claim", "peek", "read_controls", "extend", "throttle", "record_attempts"])
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_database_that_fails_in_any_verb_costs_time_and_nothing_else(crew: Crew, verb: str, when: When) -> None:
    world = crew.world
    channel = crew.channel(concurrency=3)
    crew.kind()
    await world.schedule(*(f"k{i}" for i in range(9)))
    world.database.fail(verb, when, 2)
    lane = crew.lane()
    await lane.settle_down()
    for _ in range(2):
        await crew.go_on(10)
        await crew.rescue()
    await crew.go_on(10)
    assert sorted(channel.keys) == [f"k{i}" for i in range(9)]
    assert world.shell.value("select count(*) from @notifications where state = 'accepted'") == 9


@pytest.mark.parametrize("size", [1, 2, 7, 20])
async def test_a_batch_with_one_row_the_store_refuses_is_halved_until_it_is_alone(crew: Crew, size: int) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    created = await world.schedule(*(f"k{i:02}" for i in range(size)))
    bad = created[f"k{size // 2:02}"]
    world.database.poison[bad] = sqlite3.IntegrityError("no")
    lane = crew.lane()
    await lane.settle_down()
    world.database.poison.clear()
    await crew.go_on(10)
    await crew.rescue()
    await crew.go_on(10)
    assert world.tally() == {"accepted": size}
    assert len(channel.sent) == size


async def test_an_outcome_the_store_refuses_does_not_take_its_neighbours_along(crew: Crew) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    created = await world.schedule(*(f"k{i:02}" for i in range(20)))
    bad = created["k07"]

    async def accept(*_: object) -> Accepted:
        world.database.poison[bad] = sqlite3.IntegrityError("no")
        return Accepted("p")

    channel.answers = [accept] * 20
    await crew.lane().settle_down()
    assert world.tally() == {"accepted": 19, "sending": 1}
    world.database.poison.clear()
    await crew.rescue()
    assert await world.state("k07") is State.UNCERTAIN


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Accepted("id\x00with\ud83d"), State.ACCEPTED),
        (Rejected("no\x00such\ud83duser"), State.REVIEW),
        (Uncertain("who\x00knows", "da\x00ta"), State.UNCERTAIN),
    ],
    ids=["accepted", "rejected", "uncertain"],
)
async def test_a_nasty_reply_is_recorded_as_what_it_said(
    crew: Crew, outcome: Accepted | Rejected | Uncertain, state: State
) -> None:
    world = crew.world
    channel = crew.channel()
    crew.kind()
    channel.answers = [outcome]
    await world.schedule("a", "b")
    await crew.lane().settle_down()
    assert [await world.state(key) for key in "ab"] == [state, State.ACCEPTED]
    assert [a.outcome for a in (await world.story("a")).attempts] == [type(outcome).__name__.lower()]
