"""Races of unread messages: readers, writers and several workers at one conversation."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from duebook.domain import deciding, unread
from duebook.domain.decision import Decision, Due
from duebook.domain.lifecycle import State
from duebook.domain.message import Email
from duebook.domain.notification import Intent, Notification
from duebook.domain.policy import UnreadPolicy
from duebook.domain.unread import ReadUpTo
from duebook.engine.facts import gather
from duebook.errors import StoreUnavailable
from duebook.stores.drive import drive_async
from duebook.stores.postgres.database import _execute
from duebook.testing.contracts.store.life import MAIL, uncertain
from tests.support.engine import Crew, Recorder
from tests.support.locks import somebody_waits_for
from tests.support.worlds import World, email

POSTGRES = pytest.mark.parametrize("world", ["postgres"], indirect=True)
CHAT = ("chat", "room")
TABLES = ("watermarks", "covers")
QUARTER_SECONDS = 900


async def reminding(due: Due) -> Decision:
    assert due.unread is not None
    return Email(to="ann@example.org", subject=f"{due.unread.total} unread, {due.unread.new} new", text="…")


@pytest.fixture
def here(crew: Crew) -> World:
    """A world with unread messages."""
    crew.channel()
    crew.kind("chat", reminding, unread=UnreadPolicy())
    return crew.world


async def post(world: World, *messages: str) -> None:
    for message in messages:
        await world.book.unread.posted(*CHAT, message, author="bob", recipients=["ann"])


async def claim_due(world: World, *messages: str, each: int = 1) -> list[list[Notification]]:
    """Post messages, let their quarter of an hour pass, and have so many workers claim `each` of the reminders."""
    await post(world, *messages)
    world.clock.advance(QUARTER_SECONDS)
    workers = -(-len(messages) // each)
    return [
        await world.claim(kinds=("chat",), limits=(each, each, each), holder=f"w{number}") for number in range(workers)
    ]


async def intend(world: World, claimed: Sequence[Notification]) -> list[Intent]:
    """What a lane intends by what is on record at this moment."""
    facts = await world.do(gather(world.store, claimed, world.kinds))
    intents: list[Intent] = []
    for n in claimed:
        if deciding.foregone(n, facts[n.id], world.now()) is None:
            intent = deciding.intend(n, facts[n.id], email(), MAIL, world.now(), n.holder or "")
            assert isinstance(intent, Intent)
            intents.append(intent)
    return intents


async def begin(world: World, intents: Sequence[Intent]) -> set[int]:
    return await world.do(world.store.begin("mail", intents, world.now()))


def subjects(channel: Recorder) -> list[str]:
    return [message.subject for message, _ in channel.sent if isinstance(message, Email)]


def sees_through(world: World) -> None:
    """Move ann's watermark to the end, as a reading does, and withdraw nothing."""
    if world.dialect == "sqlite":
        for trigger in ("duebook_read", "duebook_first_read"):
            world.shell.run(f"drop trigger if exists {trigger}")
    world.shell.run(
        "insert into @watermarks as w (kind, conversation, recipient, up_to) values ('chat', 'room', 'ann', 99)"
        " on conflict (kind, conversation, recipient) do update set up_to = 99, version = w.version + 1"
    )


# Several workers


async def test_of_five_workers_that_know_the_same_one_begins(here: World, another: World) -> None:
    batches = await claim_due(here, *"abcde")
    assert [len(batch) for batch in batches] == [1] * 5
    intents = [await intend(here, batch) for batch in batches]
    assert all(intents)
    worlds = (here, another, here, another, here)
    begun = await asyncio.gather(*(begin(world, one) for world, one in zip(worlds, intents, strict=True)))
    assert sorted(map(len, begun)) == [0, 0, 0, 0, 1]
    assert here.tally() == {"claimed": 4, "sending": 1}
    assert here.shell.run("select total, fresh from @covers") == [(5, 5)]


async def test_five_lanes_and_a_burst_make_one_mail(here: World, crew: Crew) -> None:
    await post(here, *"abcde")
    here.clock.advance(QUARTER_SECONDS)
    lanes = [crew.lane(holder=f"w{number}") for number in range(5)]
    for lane in lanes:
        lane.lane.expect(0.0)
    await asyncio.gather(*(lane.settle_down() for lane in lanes))
    await crew.go_on(12)
    assert subjects(lanes[0].channel) == ["5 unread, 5 new"]
    assert here.tally() == {"accepted": 1, "skipped": 4}


async def test_of_two_in_one_batch_the_first_begins(here: World) -> None:
    ((first, second),) = await claim_due(here, *"ab", each=2)
    assert await begin(here, await intend(here, [first, second])) == {first.id}
    assert await intend(here, [second]) == [], "the other one is on its way"


@POSTGRES
async def test_a_second_lane_waits_for_the_first_and_then_finds_it_spoken_for(here: World, another: World) -> None:
    mine, theirs = await claim_due(here, *"ab")
    intents, rivals = await intend(here, mine), await intend(here, theirs)
    async with here.database.inner._connection() as connection, connection.transaction():
        plan = here.store.begin("mail", intents, here.now())
        assert await drive_async(plan, lambda statement: _execute(connection, statement)) == {mine[0].id}
        waiting = asyncio.create_task(begin(another, rivals))
        await somebody_waits_for(connection)
    assert await waiting == set()


# A reader and a lane


@pytest.mark.parametrize("withdraws", [True, False])
async def test_read_before_it_begins_is_not_begun(here: World, another: World, withdraws: bool) -> None:
    (claimed,) = await claim_due(here, *"ab", each=2)
    intents = await intend(here, claimed)
    if withdraws:
        await another.book.unread.mark_read(*CHAT, "ann")
    else:
        sees_through(here)
    assert await begin(here, intents) == set()
    assert here.shell.value("select count(*) from @covers") == 0
    assert here.tally() == ({"cancelled": 2} if withdraws else {"claimed": 2})
    assert await intend(here, claimed) == []


async def test_read_once_it_has_begun_leaves_the_wish(here: World, another: World) -> None:
    (claimed,) = await claim_due(here, *"ab", each=2)
    await begin(here, await intend(here, claimed))
    await another.book.unread.mark_read(*CHAT, "ann")
    found = here.shell.run("select state, cancel_request from @notifications order by id")
    assert [tuple(row) for row in found] == [("sending", "read"), ("cancelled", None)]


async def test_a_reader_and_a_lane_at_once_agree_two_hundred_times(here: World, another: World) -> None:
    for number in range(200):
        conversation = f"c{number:03}"
        await here.book.unread.posted("chat", conversation, "m", author="bob", recipients=["ann"])
    here.clock.advance(QUARTER_SECONDS)
    claimed = await here.claim(kinds=("chat",), limits=(200, 200, 200))
    assert len(claimed) == 200
    both = {"begun": 0, "read": 0}
    for number, n in enumerate(claimed):
        intents = await intend(here, [n])
        conversation = n.key.partition("/")[0]
        rivals: list[Any] = [begin(here, intents), another.book.unread.mark_read("chat", conversation, "ann")]
        done = await asyncio.gather(*(rivals if number % 2 else reversed(rivals)))
        begun = done[0] if number % 2 else done[1]
        now = await here.book.find("chat", n.key)
        assert now is not None
        assert (now.state, now.cancel_request) == ((State.SENDING, "read") if begun else (State.CANCELLED, None))
        both["begun" if begun else "read"] += 1
    assert min(both.values()) > 0


@POSTGRES
async def test_a_reader_that_comes_as_a_lane_begins_waits_and_leaves_the_wish(here: World, another: World) -> None:
    (claimed,) = await claim_due(here, "a")
    intents = await intend(here, claimed)
    async with here.database.inner._connection() as connection, connection.transaction():
        plan = here.store.begin("mail", intents, here.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        reading: asyncio.Task[Any] = asyncio.create_task(_read(another))
        await somebody_waits_for(connection)
    assert (await reading).moved
    n = await here.book.find("chat", claimed[0].key)
    assert n is not None
    assert (n.state, n.cancel_request) == (State.SENDING, "read")


@POSTGRES
@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_a_lane_that_begins_as_a_reader_commits_waits_for_it(here: World, another: World, ending: str) -> None:
    (claimed,) = await claim_due(here, "a")
    intents = await intend(here, claimed)
    async with here.database.inner._connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        group = unread.group(*CHAT, "ann")
        reading = here.store.mark_read(ReadUpTo(*CHAT, "ann"), group, "read", "app", here.now())
        await drive_async(reading, lambda statement: _execute(connection, statement))
        beginning = asyncio.create_task(begin(another, intents))
        await somebody_waits_for(connection)
        await (transaction.commit() if ending == "commit" else transaction.rollback())
    assert bool(await beginning) is (ending == "rollback")


async def _read(world: World) -> Any:
    return await world.book.unread.mark_read(*CHAT, "ann")


# A lane that dies, or does not know


@pytest.mark.parametrize("verb", ["take_cover", "begin", "record_covers"])
async def test_one_that_dies_before_the_commit_speaks_for_nobody(here: World, verb: str) -> None:
    mine, theirs = await claim_due(here, *"ab")
    intents, rivals = await intend(here, mine), await intend(here, theirs)
    here.database.fail(verb)
    with pytest.raises(StoreUnavailable):
        await begin(here, intents)
    stored = [here.shell.value(f"select count(*) from @{table} where recipient = 'ann'") for table in TABLES]
    assert stored == [0, 0]
    assert await begin(here, rivals) == {theirs[0].id}


async def test_one_whose_commit_is_unknown_sends_nothing_and_keeps_nobody_silent(here: World, crew: Crew) -> None:
    await post(here, *"ab")
    here.clock.advance(QUARTER_SECONDS)
    lane = crew.lane()
    here.database.fail("record_covers", "after")
    lane.lane.expect(0.0)
    await lane.settle_down()
    assert lane.channel.sent == []
    await crew.go_on(60)
    assert subjects(lane.channel) == ["2 unread, 2 new"]
    assert here.tally() == {"accepted": 1, "skipped": 1}


async def test_one_that_is_paused_as_it_begins_keeps_nobody_silent(here: World) -> None:
    mine, theirs = await claim_due(here, *"ab")
    await here.book.pause(channel="mail", reason="maintenance")
    assert await begin(here, await intend(here, mine)) == set()
    await here.book.resume(channel="mail")
    assert len(await intend(here, theirs)) == 1


# Several who write


async def test_of_two_who_post_one_message_at_once_one_does(here: World, another: World) -> None:
    for number in range(20):
        rivals = [
            world.book.unread.posted(*CHAT, f"m{number}", author="bob", recipients=["ann"]) for world in (here, another)
        ]
        answers = await asyncio.gather(*rivals)
        assert sorted((answer.created, answer.reminders) for answer in answers) == [(False, 0), (True, 1)]
    assert here.shell.value("select count(*) from @messages") == 20


async def test_two_who_post_at_once_take_different_places(here: World, another: World) -> None:
    async def several(world: World, author: str) -> list[int | None]:
        room = world.book.unread
        return [
            (await room.posted(*CHAT, f"{author}{number}", author=author, recipients=["ann"])).position
            for number in range(20)
        ]

    found = await asyncio.gather(several(here, "bob"), several(another, "cid"))
    places = [place for one in found for place in one if place is not None]
    assert sorted(places) == list(range(1, 41))
    assert all(one == sorted(one, key=lambda place: place or 0) for one in found)


async def test_a_repeat_in_doubt_does_not_begin_once_it_is_read(here: World) -> None:
    (claimed,) = await claim_due(here, "a")
    (intent,) = await intend(here, claimed)
    await begin(here, [intent])
    assert await here.settle(intent, uncertain())
    await here.book.resolve("chat", claimed[0].key, "resend", reason="she has nothing")
    again = await intend(here, await here.claim(kinds=("chat",)))
    assert [one.doubt for one in again] == [1]
    sees_through(here)
    assert await begin(here, again) == set()
