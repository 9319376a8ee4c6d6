"""Races of digests: two that close a period, one that adds to it meanwhile, and one that gives its items back."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.digests import NewItem
from duebook.domain.lifecycle import Event
from duebook.domain.policy import DigestPolicy
from duebook.engine.digester import Digester
from duebook.errors import StoreUnavailable
from duebook.features.context import Context
from duebook.features.digests import Item, new_item
from duebook.stores.drive import drive_async
from duebook.stores.postgres.database import _execute
from tests.support.engine import SETTINGS, Crew
from tests.support.locks import somebody_waits_for
from tests.support.worlds import World, moved

HOUR_SECONDS = 3_600
POSTGRES = pytest.mark.parametrize("world", ["postgres"], indirect=True)
CLOSING = (
    "lock_due_cursors", "read_identities", "take_items", "weigh_items", "schedule", "put_digests",
    "move_cursors",
)  # fmt: skip


@pytest.fixture
def here(crew: Crew) -> World:
    """A world whose "news" is an hourly digest of two items."""
    crew.channel()
    crew.kind("news", digest=DigestPolicy(limit=2))
    return crew.world


def digester(world: World) -> Digester:
    return Digester(world.registry, world.database, world.store, world.clock, SETTINGS, {})


async def close(world: World) -> None:
    one = digester(world)
    while await one.step():
        pass


async def add(world: World, *items: str, recipient: str = "ann") -> None:
    for item in items:
        await world.book.digests.add("news", recipient, item)


def held(world: World) -> list[tuple[str, str | None]]:
    """Each item, and the hour of the digest that holds it, counted from the first."""
    first = int(world.at(0).timestamp()) // HOUR_SECONDS
    rows = world.shell.run("select item, label from @digest_items order by item")
    return [(item, None if label is None else str(int(label) // HOUR_SECONDS - first)) for item, label in rows]


def digests(world: World) -> list[tuple[int, int]]:
    """Of each digest, the oldest first, how many items were eligible and how many it holds."""
    rows = world.shell.run("select total, selected from @digests order by notification_id")
    return [(total, selected) for total, selected in rows]


# Two that close


async def test_four_at_once_make_each_digest_once(here: World, another: World) -> None:
    recipients = [f"r{number:02}" for number in range(40)]
    for recipient in recipients:
        await add(here, "a", "b", "c", recipient=recipient)
    for _ in range(3):
        here.clock.advance(HOUR_SECONDS)
        await asyncio.gather(*(close(world) for world in (here, another, here, another)))
    await close(here)
    assert digests(here) == [(3, 2)] * 40 + [(1, 1)] * 40
    assert here.shell.value("select count(*) from @notifications") == 80
    assert here.shell.value("select count(*) from @digest_items where label is null") == 0


@pytest.mark.parametrize("verb", CLOSING)
async def test_one_that_dies_before_the_commit_leaves_everything_to_the_next(
    here: World, another: World, verb: str
) -> None:
    await add(here, "a", "b", "c")
    here.clock.advance(HOUR_SECONDS)
    here.database.fail(verb)
    with pytest.raises(StoreUnavailable):
        await close(here)
    assert (digests(here), held(here)) == ([], [("a", None), ("b", None), ("c", None)])
    assert here.shell.value("select count(*) from @notifications") == 0
    await close(another)
    assert (digests(here), held(here)) == ([(3, 2)], [("a", "-1"), ("b", "-1"), ("c", None)])


@pytest.mark.parametrize("when", ["after", "late"])
async def test_one_whose_commit_is_unknown_repeats_nothing(here: World, another: World, when: Any) -> None:
    await add(here, "a", "b", "c")
    here.clock.advance(HOUR_SECONDS)
    here.database.fail("move_cursors" if when == "after" else "lock_due_cursors", when)
    with pytest.raises(StoreUnavailable):
        await close(here)
    await close(another)
    await here.database.deliver()
    await close(here)
    assert (digests(here), held(here)) == ([(3, 2)], [("a", "-1"), ("b", "-1"), ("c", None)])


@POSTGRES
async def test_the_locks_of_a_dead_one_hold_up_nobody_and_end_with_its_connection(here: World, another: World) -> None:
    await add(here, "a")
    await add(here, "b", recipient="bob")
    here.clock.advance(HOUR_SECONDS)
    async with here.database.inner._connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        plan = digester(here)._close({"news"}, here.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        await close(another)
        assert digests(here) == [], "what is held is passed by, and what is not committed is not there"
        connection.terminate()
    while not digests(here):
        await close(another)
    assert digests(here) == [(1, 1), (1, 1)]


# One that adds


@POSTGRES
async def test_what_is_added_as_a_period_closes_is_in_the_next(here: World, another: World) -> None:
    await add(here, "a")
    here.clock.advance(HOUR_SECONDS)
    async with here.database.inner._connection() as connection, connection.transaction():
        plan = digester(here)._close({"news"}, here.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        ready_at = here.now() - timedelta(minutes=1)
        adding = asyncio.create_task(another.book.digests.add("news", "ann", "b", ready_at=ready_at))
        await somebody_waits_for(connection)
    assert (await adding).created
    await close(here)
    assert held(here) == [("a", "-1"), ("b", None)]
    here.clock.advance(HOUR_SECONDS)
    await close(here)
    assert held(here) == [("a", "-2"), ("b", "-1")]
    assert here.shell.value("select sum(late) from @digests") == 1


@POSTGRES
@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_a_period_waits_for_one_that_is_about_to_add_to_it(here: World, another: World, ending: str) -> None:
    await add(here, "a")
    new = one_more(here, "b")
    here.clock.advance(HOUR_SECONDS)
    async with here.database.inner._connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        await drive_async(here.store.add_items(new), lambda statement: _execute(connection, statement))
        await close(another)
        assert digests(here) == []
        await (transaction.commit() if ending == "commit" else transaction.rollback())
    await close(another)
    assert digests(here) == ([(2, 2)] if ending == "commit" else [(1, 1)])


def one_more(world: World, item: str) -> list[NewItem]:
    context = Context("test", world.kinds, world.store, world.clock)
    return [new_item(Item(kind="news", recipient="ann", item=item), context, world.now())]


async def test_those_who_add_for_the_same_recipients_in_any_order_wait_for_each_other(
    here: World, another: World
) -> None:
    recipients = [*(f"r{number:02}" for number in range(20)), "R00", "é", "_"]
    for number in range(20):
        rivals = [
            world.book.digests.add_many([Item(kind="news", recipient=one, item=f"i{number}") for one in order])
            for world, order in ((here, recipients), (another, recipients[::-1]))
        ]
        answers = await asyncio.gather(*rivals)
        assert sorted(sum(one.created for one in answer) for answer in answers) == [0, len(recipients)]


# One that gives back


async def end(world: World) -> Any:
    """The plan that ends the digest unsent."""
    (n,) = await world.claim(kinds=("news",))
    return world.store.apply([moved(n, Event.SKIP, world.now(), reason="not today")])


@POSTGRES
async def test_items_given_back_as_the_next_period_closes_are_in_the_one_after(here: World, another: World) -> None:
    await add(here, "a")
    here.clock.advance(HOUR_SECONDS)
    await close(here)
    await add(here, "b")
    here.clock.advance(HOUR_SECONDS)
    ending = await end(here)
    async with here.database.inner._connection() as connection, connection.transaction():
        plan = digester(here)._close({"news"}, here.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        giving_back = asyncio.create_task(another.do(ending))
        await somebody_waits_for(connection)
    await giving_back
    await close(here)
    assert held(here) == [("a", None), ("b", "-1")]
    here.clock.advance(HOUR_SECONDS)
    await close(here)
    assert held(here) == [("a", "-1"), ("b", "-2")]


@POSTGRES
async def test_a_period_waits_for_items_that_are_about_to_be_given_back(here: World, another: World) -> None:
    await add(here, "a")
    here.clock.advance(HOUR_SECONDS)
    await close(here)
    await add(here, "b")
    here.clock.advance(HOUR_SECONDS)
    ending = await end(here)
    async with here.database.inner._connection() as connection, connection.transaction():
        await drive_async(ending, lambda statement: _execute(connection, statement))
        await close(another)
        assert held(here) == [("a", "-2"), ("b", None)]
    await close(another)
    assert held(here) == [("a", "-1"), ("b", "-1")]
