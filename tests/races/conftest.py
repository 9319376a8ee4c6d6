from collections.abc import AsyncIterator
from copy import copy
from typing import Any

import pytest_asyncio

from duebook.stores.postgres.database import PostgresDatabase
from duebook.stores.sqlite.database import SqliteDatabase
from tests.support.faults import FaultyDatabase
from tests.support.fixtures import clock, crew, migrated_file, psql_session, world
from tests.support.worlds import World

__all__ = ["clock", "crew", "migrated_file", "psql_session", "world"]


@pytest_asyncio.fixture
async def another(world: World) -> AsyncIterator[World]:
    """The same database as another process sees it; in memory there is none."""
    inner: Any = world.database.inner
    if world.address != ":memory:":
        inner = SqliteDatabase(world.address) if world.dialect == "sqlite" else PostgresDatabase(world.address, 2)
    found = copy(world)
    found.database = FaultyDatabase(inner, world.clock)
    yield found
    if inner is not world.database.inner:
        await inner.close()
