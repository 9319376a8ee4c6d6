"""A process that stands still in the middle of a transaction, or whose network is gone. Its rows come free all the
same."""

import asyncio
from typing import Any

import pytest

from duebook.errors import StoreUnavailable
from duebook.stores.postgres.database import PostgresDatabase
from tests.support.worlds import World

pytestmark = pytest.mark.parametrize("world", ["postgres"], indirect=True)

LOCK = "select 1 from duebook.notifications for update"
PATIENCE_SECONDS = 20.0


async def test_a_transaction_that_stands_still_is_ended_by_the_server(
    world: World, another: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duebook.stores.postgres.database.IDLE_SECONDS", 0.2)
    await world.schedule("a")
    frozen = PostgresDatabase(world.address, 1)
    with pytest.raises(StoreUnavailable):
        await stand_still(frozen, while_others=lock(another.database.inner))
    await frozen.close()


async def stand_still(database: PostgresDatabase, while_others: Any) -> None:
    async with database._connection() as connection, connection.transaction():
        await connection.execute(LOCK)
        await asyncio.wait_for(while_others, PATIENCE_SECONDS)
        await connection.execute(LOCK)


async def lock(database: Any) -> None:
    async with database._connection() as connection:
        await connection.execute(LOCK)
