"""Race 3 and 4: who gets what when several reach for the same rows."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from duebook.domain.lifecycle import State
from duebook.domain.policy import Priority
from duebook.stores.postgres.database import PostgresDatabase
from duebook.stores.sqlite.database import SqliteDatabase
from tests.support.engine import Crew
from tests.support.worlds import EPOCH, World


@pytest_asyncio.fixture
async def others(world: World) -> AsyncIterator[list[Any]]:
    """Three more processes on the same database; in memory there is no second process."""
    if world.address == ":memory:":
        found: list[Any] = [world.database.inner]
    elif world.dialect == "sqlite":
        found = [SqliteDatabase(world.address) for _ in range(3)]
    else:
        found = [PostgresDatabase(world.address, 2) for _ in range(3)]
    yield found
    for database in found:
        if database is not world.database.inner:
            await database.close()


async def test_many_claimers_take_each_row_exactly_once(world: World, others: list[Any]) -> None:
    for priority in Priority:
        await world.schedule(*(f"{priority.name}{i}" for i in range(60)), priority=priority)
    taken: list[int] = []

    async def worker(database: Any, name: str) -> None:
        now, until = world.clock.now(), world.clock.at(15)
        while found := await database.ask(world.store.claim("mail", ["mail"], (7, 5, 3), 1, EPOCH, now, until, name)):
            taken.extend(n.id for n in found)
            assert {n.holder for n in found} == {name}

    databases = [world.database.inner, *others]
    await asyncio.gather(*(worker(database, f"w{i}") for i, database in enumerate(databases) for _ in range(2)))
    assert len(taken) == len(set(taken)) == 180
    assert world.shell.value("select count(*) from @notifications where version = 2") == 180


async def test_two_lanes_on_one_channel_send_each_one_once(crew: Crew) -> None:
    channel = crew.channel(concurrency=5)
    crew.kind()
    await crew.world.schedule(*(f"k{i}" for i in range(40)))
    lanes = [crew.lane(holder=f"worker-{i}") for i in range(3)]
    for _ in range(3):
        await asyncio.gather(*(lane.settle_down() for lane in lanes))
    assert sorted(channel.keys) == sorted(f"k{i}" for i in range(40))


@pytest.mark.parametrize("world", ["postgres"], indirect=True)
async def test_a_row_that_somebody_locks_is_passed_over_and_not_waited_for(world: World) -> None:
    """SQLite has one writer: no row is ever locked while another transaction runs."""
    world.declare()
    await world.claimed("held")
    await world.bring("doubt", State.UNCERTAIN)
    await world.schedule("a", "b", expires_at=world.clock.at(1))
    late = world.clock.at(10_000)
    lock = "select * from duebook.notifications where key <> 'b' for update"
    async with world.database.inner._connection() as elsewhere, elsewhere.transaction():
        await elsewhere.execute(lock)
        assert [n.key for n in await world.do(world.store.lock_worthless(late, 9))] == ["b"]
        assert await world.do(world.store.lock_expired_leases(late, 9)) == []
        assert await world.do(world.store.lock_uncertain(["mail"], late, 9)) == []
        assert [n.key for n in await world.claim()] == ["b"]
    assert [n.key for n in await world.claim()] == ["a"]
