"""The databases a timeline can live in, and what it refuses."""

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import asyncpg
import psycopg
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from duebook import Due, Duebook, Email, Uncertain
from duebook.errors import InvalidInput
from duebook.testing import SyncTimeline, Timeline
from tests.testing.conftest import a_book, mail

NOW = timedelta(0)
DAY = timedelta(days=1)


def count(url: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute("select count(*) from duebook.identities").fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture
def file(tmp_path: Path) -> str:
    """An SQLite file with the tables of duebook, as a project's own test database has them."""
    path = tmp_path / "app.db"
    asyncio.run(_migrate(f"sqlite:///{path}"))
    return str(path)


@pytest.fixture(scope="session")
def postgres_tables(postgres_url: str) -> str:
    asyncio.run(_migrate(postgres_url))
    return postgres_url


async def _migrate(url: str) -> None:
    book = Duebook(url)
    await book.migrate()
    await book.close()


async def test_two_timelines_know_nothing_of_each_other() -> None:
    with Timeline(a_book()) as one, Timeline(a_book()) as other:
        one.at("2027-03-14 01:59", "America/New_York")
        for timeline in (one, other):
            await timeline.book.schedule("renewal", "a", recipient="ann", after=DAY)
        one.channel("email").next(Uncertain("no reply"))
        await one.advance(days=2)
        assert other.sent() == []
        other.expect("renewal", "a").scheduled(at=other.now + DAY)
        await other.advance(days=2)
        other.expect("renewal", "a").accepted()
        one.expect("renewal", "a").uncertain()


async def test_a_book_gets_back_what_it_had() -> None:
    book = a_book()
    before = {name: getattr(book.wired, name) for name in ("database", "registry", "clock")}
    channels = dict(book.registry.channels)
    with Timeline(book) as timeline:
        assert book.wired.clock.now() == timeline.now
        with pytest.raises(RuntimeError, match="another timeline"):
            Timeline(book)
        with Timeline() as empty:
            assert empty.of(a_book()).book is not book
    assert {name: getattr(book.wired, name) for name in before} == before
    assert book.registry.channels == channels
    assert book.wired.clock.now() != timeline.clock.now()
    with pytest.raises(RuntimeError, match="closed"):
        await timeline.run_due()


async def test_an_application_starts_and_stops_its_worker_and_closes_its_book(timeline: Timeline) -> None:
    async with timeline.book.worker() as worker:
        await timeline.book.schedule("renewal", "a", recipient="ann", after=DAY)
        assert [one.key for one in await timeline.advance(days=2)] == ["a"]
        assert list(worker.lanes) == []
    await timeline.book.close()
    timeline.expect("renewal", "a").accepted()


async def test_a_file_is_left_as_it_was(file: str) -> None:
    with Timeline(a_book(), f"sqlite:///{file}") as timeline:
        with closing(sqlite3.connect(file)) as mine:
            timeline.book.using(mine).schedule("renewal", "a", recipient="ann", after=DAY)
            mine.commit()
        assert len(await timeline.advance(days=2)) == 1
        with pytest.raises(InvalidInput, match="holds 1 notifications"):
            Timeline(a_book(), f"sqlite:///{file}")
    with closing(sqlite3.connect(file)) as mine:
        assert mine.execute("select count(*) from duebook_notifications").fetchone() == (0,)
        assert mine.execute("select count(*) from duebook_migrations").fetchone() != (0,)


async def test_a_database_gets_its_tables(tmp_path: Path) -> None:
    with Timeline(a_book(), f"sqlite:///{tmp_path / 'new.db'}") as timeline:
        await timeline.book.schedule("renewal", "a", recipient="ann", after=NOW)
        assert len(await timeline.run_due()) == 1
        assert await timeline.book.migrate() == []


async def test_the_projects_postgres(postgres_url: str) -> None:
    with Timeline(a_book(), postgres_url) as timeline:
        timeline.at("2027-03-14 01:59", "America/New_York")
        book = timeline.book
        await book.schedule("renewal", "a", recipient="ann", after=DAY)
        await book.schedule("receipt", "b", recipient="ann", after=DAY)
        book.sync.schedule("renewal", "c", recipient="ann", after=DAY)
        with psycopg.connect(postgres_url) as mine:
            book.using(mine).schedule("renewal", "d", recipient="ann", after=2 * DAY)
        timeline.channel("keyed").next(Uncertain("no reply"))
        assert [one.key for one in await timeline.advance(days=3)] == ["a", "c", "b", "d"]
        timeline.expect("receipt", "b").accepted().attempts(2)
        assert count(postgres_url) == 4
        with pytest.raises(InvalidInput, match="holds 4 notifications"):
            Timeline(a_book(), postgres_url)
        with Timeline(a_book(), postgres_url, wipe=True):
            assert count(postgres_url) == 0
    assert count(postgres_url) == 0


def test_the_projects_postgres_without_an_event_loop(postgres_url: str) -> None:
    with SyncTimeline(a_book(), postgres_url) as timeline:
        timeline.book.sync.schedule("receipt", "a", recipient="ann", after=DAY)
        assert len(timeline.advance(days=2)) == 1
        timeline.expect("receipt", "a").accepted()


async def test_a_connection_that_the_timeline_would_not_see_is_refused(timeline: Timeline, file: str) -> None:
    with closing(sqlite3.connect(file)) as mine, pytest.raises(RuntimeError, match=r"timeline\.using\(connection\)"):
        timeline.book.using(mine)


# Inside the project's rollback


def a_life(timeline: SyncTimeline, connection: object) -> None:
    """Schedule in the caller's transaction, by both ways, and let it become due there."""
    book = timeline.using(connection).book
    book.using(connection).schedule("renewal", "a", recipient="ann", after=DAY)
    book.sync.schedule("receipt", "b", recipient="ann", after=2 * DAY)
    timeline.expect("renewal", "a").scheduled(at=timeline.now + DAY)
    timeline.channel("keyed").next(Uncertain("no reply"))
    assert [one.key for one in timeline.advance(days=3)] == ["a", "b"]
    timeline.expect("renewal", "a").accepted().attempts(1)
    timeline.expect("receipt", "b").accepted().attempts(2)


def test_in_a_transaction_of_psycopg(sync_timeline: SyncTimeline, postgres_tables: str) -> None:
    with psycopg.connect(postgres_tables) as mine:
        a_life(sync_timeline, mine)
        assert count(postgres_tables) == 0
        mine.rollback()
    assert count(postgres_tables) == 0


def test_in_a_transaction_of_sqlite3(sync_timeline: SyncTimeline, file: str) -> None:
    with closing(sqlite3.connect(file)) as mine:
        a_life(sync_timeline, mine)
        mine.rollback()
        assert mine.execute("select count(*) from duebook_notifications").fetchone() == (0,)


def test_in_a_session_that_is_rolled_back_from_outside(sync_timeline: SyncTimeline, postgres_tables: str) -> None:
    """The usual recipe of SQLAlchemy: the application commits, and only ends a savepoint."""
    engine = sqlalchemy.create_engine(postgres_tables.replace("postgresql", "postgresql+psycopg"))
    with engine.connect() as connection, connection.begin() as outer:
        with Session(connection, join_transaction_mode="create_savepoint") as session:
            session.execute(sqlalchemy.text("create temporary table accounts (name text)"))
            session.commit()

            @sync_timeline.book.kind("reads", channel="email")
            def reads(due: Due) -> Email:
                names = session.execute(sqlalchemy.text("select name from accounts")).scalars().all()
                return Email(to="ann@example.org", subject=", ".join(names), text="")

            a_life(sync_timeline, session)
            sync_timeline.book.using(session).schedule("reads", "c", recipient="ann", after=NOW)
            session.execute(sqlalchemy.text("insert into accounts values ('Ann')"))
            session.commit()
            (one,) = sync_timeline.run_due()
            assert isinstance(one.message, Email)
            assert one.message.subject == "Ann"
        outer.rollback()
    engine.dispose()
    assert count(postgres_tables) == 0


async def test_in_a_transaction_of_asyncpg(timeline: Timeline, postgres_tables: str) -> None:
    mine = await asyncpg.connect(postgres_tables)
    transaction = mine.transaction()
    await transaction.start()
    book = timeline.using(mine).book
    await book.using(mine).schedule("renewal", "a", recipient="ann", after=DAY)
    assert len(await timeline.advance(days=2)) == 1
    (await timeline.expecting("renewal", "a")).accepted()
    with pytest.raises(RuntimeError, match="expecting"):
        timeline.expect("renewal", "a")
    with pytest.raises(RuntimeError, match="awaited verbs"):
        book.sync.schedule("renewal", "b", recipient="ann", after=DAY)
    await transaction.rollback()
    await mine.close()
    assert count(postgres_tables) == 0


async def test_in_an_awaited_session(timeline: Timeline, postgres_tables: str) -> None:
    engine = create_async_engine(postgres_tables.replace("postgresql", "postgresql+psycopg"))
    async with AsyncSession(engine) as session:
        book = timeline.using(session).book

        @book.kind("reads", channel="email")
        async def reads(due: Due) -> Email:
            found = await session.execute(sqlalchemy.text("select name from accounts"))
            return Email(to="ann@example.org", subject=str(found.scalar()), text="")

        await session.execute(sqlalchemy.text("create temporary table accounts (name text)"))
        await session.execute(sqlalchemy.text("insert into accounts values ('Ann')"))
        await book.using(session).schedule("reads", "a", recipient="ann", after=NOW)
        (one,) = await timeline.run_due()
        assert isinstance(one.message, Email)
        assert one.message.subject == "Ann"
        await session.rollback()
    await engine.dispose()


def test_an_awaited_connection_needs_an_event_loop(sync_timeline: SyncTimeline, postgres_url: str) -> None:
    engine = create_async_engine(postgres_url.replace("postgresql", "postgresql+psycopg"))
    with pytest.raises(RuntimeError, match="not SyncTimeline"):
        sync_timeline.using(AsyncSession(engine))


def test_in_a_test_of_django(sync_timeline: SyncTimeline, file: str) -> None:
    """What django.test.TestCase does: an atomic block around the test. The handler uses the same connection."""
    django = pytest.importorskip("django")
    from django.conf import settings

    if not settings.configured:
        settings.configure(USE_TZ=True, TIME_ZONE="America/New_York", LOGGING_CONFIG=None)
    django.setup()
    from django.db import connections, transaction

    settings_of = {"ENGINE": "django.db.backends.sqlite3", "NAME": file}
    connections.databases["timeline"] = connections.configure_settings({"default": {}, "timeline": settings_of})[
        "timeline"
    ]

    @sync_timeline.book.kind("reads", channel="email")
    def reads(due: Due) -> Email:
        with connections["timeline"].cursor() as cursor:
            cursor.execute("select name from accounts")
            return Email(to="ann@example.org", subject=cursor.fetchone()[0], text="")

    with transaction.atomic(using="timeline"):
        a_life(sync_timeline, "timeline")
        with connections["timeline"].cursor() as cursor:
            cursor.execute("create table accounts (name text)")
            cursor.execute("insert into accounts values ('Ann')")
        sync_timeline.book.using("timeline").schedule("reads", "c", recipient="ann", after=NOW)
        (one,) = sync_timeline.run_due()
        assert isinstance(one.message, Email)
        assert one.message.subject == "Ann"
        transaction.set_rollback(True, using="timeline")
    connections["timeline"].close()


def test_plain_handlers_run_in_the_thread_of_the_test(sync_timeline: SyncTimeline) -> None:
    import threading

    threads = []

    @sync_timeline.book.kind("here", channel="email")
    def here(due: Due) -> Email:
        threads.append(threading.current_thread())
        return mail(due)

    sync_timeline.book.sync.schedule("here", "a", recipient="ann", after=NOW)
    sync_timeline.run_due()
    assert threads == [threading.current_thread()]


@pytest.fixture(autouse=True)
def nothing_checked_yet() -> None:
    """The check of a schema is remembered by the path of a file, and these files are new each time."""
    from duebook.stores.callers import schema

    schema.forget()
