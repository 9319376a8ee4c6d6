import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import pytest_asyncio

from duebook import DigestPolicy, Duebook
from duebook.testing import Timeline
from tests import postgres
from tests.app import gathered
from tests.app.desk import SETTINGS, START, Clock, Desk
from tests.app.places import Place, postgres_place, sqlite_place
from tests.app.times import a_book
from tests.support.fixtures import EMPTYING


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("app") / "migrated.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_postgres() -> Iterator[Place]:
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        asyncio.run(_migrate(url))
        with psycopg.connect(url, autocommit=True) as connection:
            # Nothing here outlives the test, so no commit needs to reach the disk.
            name = connection.info.dbname
            connection.execute(f'alter database "{name}" set synchronous_commit = off'.encode())
            yield postgres_place(url, connection)


async def _migrate(url: str) -> None:
    book = Duebook(url)
    await book.migrate()
    await book.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        return sqlite_place(Path(shutil.copy(request.getfixturevalue("migrated_file"), tmp_path / "book.db")))
    found: Place = request.getfixturevalue("migrated_postgres")
    found.ask(EMPTYING)
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of every book that the test makes."""
    clock = Clock()
    monkeypatch.setattr("duebook.wiring.SystemClock", lambda: clock)
    return clock


@pytest_asyncio.fixture
async def book(place: Place, clock: Clock) -> AsyncIterator[Duebook]:
    """A book without kinds or channels."""
    book = Duebook(place.url, namespace="test", message_domain="mail.example.org", settings=SETTINGS)
    yield book
    await book.close()


@pytest_asyncio.fixture
async def bare(book: Duebook, clock: Clock, place: Place) -> Desk:
    """A desk at which the test registers kinds and channels itself."""
    return Desk(book, clock, place)


@pytest_asyncio.fixture
async def desk(bare: Desk) -> Desk:
    """A desk with one kind, "note", on one channel, "mail"."""
    bare.channel()
    bare.kind()
    return bare


@pytest.fixture
def timeline(place: Place) -> Iterator[Timeline]:
    """Time that passes on each database, with the book of times.py; it begins at START."""
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


@pytest.fixture
def news(place: Place) -> Iterator[Timeline]:
    """Time that passes on each database, with the book of gathered.py; it begins at START."""
    with Timeline(gathered.a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


@pytest.fixture
def of_policy(place: Place) -> Iterator[Callable[..., Timeline]]:
    """Makes a timeline on which "news", a digest, goes by a policy of the test's own; it begins at START, if nothing
    else is said."""
    opened: list[Timeline] = []

    def make(policy: DigestPolicy, start: datetime = START, **options: Any) -> Timeline:
        book = Duebook("sqlite:///never-opened.db", namespace="test")
        book.kind("news", channel="mail", digest=policy, **options)(gathered.gathering)
        opened.append(Timeline(book, place.url, start=start, wipe=True))
        return opened[-1]

    yield make
    for timeline in opened:
        timeline.close()
