"""The worlds a test may live in: SQLite in a file, SQLite in memory, PostgreSQL. Imported by each folder's conftest."""

import os
import re
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from duebook.stores import catalog
from duebook.stores.postgres.database import PostgresDatabase
from duebook.stores.sqlite.database import SqliteDatabase
from tests import postgres
from tests.support.clock import Clock
from tests.support.engine import Crew
from tests.support.faults import FaultyDatabase
from tests.support.shell import Shell, psql, sqlite_shell
from tests.support.worlds import World

APPLIED_AT = "2029-12-31T00:00:00.000000Z"

WORLDS = ("sqlite", "memory", "postgres")

TABLES = tuple(
    table
    for _, _, text in catalog.migrations("postgres")
    for table in re.findall(r"^create table duebook\.(\w+)", text, re.MULTILINE)
    if table != "migrations"
)


def migrated(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$"
        )
        for version, name, text in catalog.migrations("postgres"):
            connection.execute(text.encode())
            connection.execute("insert into duebook.migrations values (%s, %s, %s)", [version, name, APPLIED_AT])


EMPTYING = "; ".join(f"delete from @{table}" for table in TABLES) + "; select setval('@notifications_id_seq', 1, false)"
"""Deleting a handful of rows is eighty times faster than truncating the tables, and leaves the next checkpoint no new
files to write."""


def emptied(shell: Shell) -> None:
    shell.run(EMPTYING)


@pytest.fixture(scope="session")
def psql_session() -> Iterator[tuple[str, Shell]]:
    """A migrated database for this folder's tests in this worker, and a shell on it."""
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        migrated(url)
        shell = psql(url)
        yield url, shell
        shell.close()


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("migrated") / "book.db"
    with closing(sqlite3.connect(path)) as connection:
        for version, name, text in catalog.migrations("sqlite"):
            connection.executescript(text)
            connection.execute("insert into duebook_migrations values (?, ?, ?)", [version, name, APPLIED_AT])
        connection.commit()
    return path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest_asyncio.fixture(params=WORLDS)
async def world(
    request: pytest.FixtureRequest, clock: Clock, tmp_path: Path, migrated_file: Path
) -> AsyncIterator[World]:
    if request.param == "postgres":
        url, shell = request.getfixturevalue("psql_session")
        emptied(shell)
        pool = PostgresDatabase(url)
        yield World("postgres", FaultyDatabase(pool, clock), shell, clock, url)
        await pool.close()
        return
    path = ":memory:"
    if request.param == "sqlite":
        path = str(shutil.copy(migrated_file, tmp_path / "book.db"))
    database = SqliteDatabase(path)
    if path == ":memory:":
        await database.migrate()
        # Memory has no second door: the shell borrows the connection while its thread is idle.
        shell = Shell("sqlite", database._connection)
    else:
        shell = sqlite_shell(path)
    yield World("sqlite", FaultyDatabase(database, clock), shell, clock, path)
    if path != ":memory:":
        shell.close()
    await database.close()


@pytest_asyncio.fixture
async def crew(world: World) -> AsyncIterator[Crew]:
    found = Crew(world)
    yield found
    await found.close()
