"""Connections set up to their owner's taste, and what the owner must still be able to do afterwards."""

import json
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import asyncpg
import psycopg
import psycopg.rows
import pytest
import sqlalchemy
from django.conf import settings
from django.db import connection as django_default
from django.db import transaction as django_transaction
from sqlalchemy.ext.asyncio import AsyncSession, async_scoped_session, async_sessionmaker, create_async_engine
from sqlalchemy.orm import Session, scoped_session, sessionmaker

from duebook.errors import Busy, NotInTransaction, SchemaMismatch
from duebook.ports import Rows
from duebook.stores import catalog
from duebook.stores.callers import schema
from tests.callers import plans
from tests.callers.kinds import django_database, sqlalchemy_url
from tests.callers.plans import run, run_async


@pytest.fixture
def engine(sqlite_path: str) -> Iterator[sqlalchemy.Engine]:
    engine = sqlalchemy.create_engine(sqlalchemy_url(sqlite_path, "sqlite"), connect_args={"timeout": 0})
    yield engine
    engine.dispose()


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The checks of a schema that were made, by dialect."""
    made: list[str] = []
    original = schema.check

    def check(dialect: catalog.Dialect) -> Generator[str, Rows, None]:
        made.append(dialect)
        return original(dialect)

    monkeypatch.setattr(schema, "check", check)
    return made


class TestSqlite:
    def test_factories_of_the_owner_are_left_alone(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path)) as connection:
            connection.row_factory = lambda cursor, row: {"of": "the owner"}
            connection.text_factory = bytes
            assert run(connection, plans.schedule(key)) == [key]
            assert connection.text_factory is bytes
            assert connection.execute("select 1").fetchone() == {"of": "the owner"}

    def test_reading_leaves_no_transaction_open(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path)) as connection:
            run(connection, plans.read_identities(key))
            assert not connection.in_transaction

    def test_locking_takes_the_write_lock(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path)) as first, closing(sqlite3.connect(sqlite_path, timeout=0)) as other:
            run(first, plans.ask("lock", kind=plans.KIND, key=key))
            with pytest.raises(Busy, match="repeat the whole transaction"):
                run(other, plans.schedule(key))
            first.rollback()
            assert run(other, plans.schedule(key)) == [key]

    def test_sqlalchemy_takes_the_write_lock_too(self, engine: sqlalchemy.Engine, key: str) -> None:
        with Session(engine) as first, engine.connect() as other:
            run(first, plans.ask("lock", kind=plans.KIND, key=key))
            with pytest.raises(Busy, match="repeat the whole transaction"):
                run(other, plans.schedule(key))
            first.rollback()
            assert run(other, plans.schedule(key)) == [key]

    def test_sqlalchemy_by_its_recipe(self, engine: sqlalchemy.Engine, key: str) -> None:
        """SQLAlchemy's own advice: switch off what sqlite3 does, and send BEGIN oneself."""

        def by_hand(connection: Any, _: object) -> None:
            connection.isolation_level = None

        sqlalchemy.event.listen(engine, "connect", by_hand)
        with engine.connect() as connection, pytest.raises(NotInTransaction, match='"begin" listener'):
            run(connection, plans.schedule(key))
        sqlalchemy.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("begin immediate"))
        with engine.connect() as connection:
            assert run(connection, plans.schedule(key)) == [key]
            connection.commit()
        with Session(engine) as session:
            assert run(session, plans.schedule(key)) == []

    @pytest.mark.usefixtures("django_is_ready")
    def test_django_is_told_when_it_is_busy(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path)) as other, django_database(sqlite_path) as alias:
            run(other, plans.schedule(key))
            with django_transaction.get_connection(alias).cursor() as cursor:
                cursor.execute("pragma busy_timeout = 0")
            with pytest.raises(Busy), django_transaction.atomic(using=alias):
                run(alias, plans.schedule(key))


class TestPostgres:
    def test_rows_and_cursors_of_the_owner_are_left_alone(self, postgres_here: str, key: str) -> None:
        with psycopg.connect(postgres_here, row_factory=psycopg.rows.dict_row) as connection:
            connection.cursor_factory = psycopg.RawCursor
            assert run(connection, plans.schedule(key)) == [key]
            assert connection.execute("select $1::int as n", [7]).fetchone() == {"n": 7}
            connection.rollback()

    async def test_records_of_the_owner_are_left_alone(self, postgres_here: str, key: str) -> None:
        class Loud(asyncpg.Record):
            def __getitem__(self, name: Any) -> Any:
                raise KeyError(name)

        connection = await asyncpg.connect(postgres_here, record_class=Loud)
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=json.dumps, decoder=json.loads)
        transaction = connection.transaction()
        await transaction.start()
        assert await run_async(connection, plans.schedule(key)) == [key]
        (row,) = await run_async(connection, plans.ask("read", kind=plans.KIND, key=key))
        assert json.loads(row[9]) == plans.DATA
        await transaction.rollback()
        await connection.close()

    @pytest.mark.usefixtures("django_is_ready")
    def test_instants_keep_their_zone_without_use_tz(
        self, postgres_here: str, key: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(settings, "USE_TZ", False)
        with django_database(postgres_here) as alias, django_transaction.atomic(using=alias):
            run(alias, plans.schedule(key))
            (row,) = run(alias, plans.read_identities(key))
            assert row[5] == datetime(2027, 1, 14, 14, tzinfo=UTC)
            django_transaction.set_rollback(True, using=alias)

    def test_missing_tables_leave_the_transaction_usable(self, postgres_bare: str, key: str) -> None:
        with psycopg.connect(postgres_bare) as connection:
            connection.execute("create temporary table mine (n int)")
            with pytest.raises(SchemaMismatch):
                run(connection, plans.schedule(key))
            assert connection.execute("select count(*) from mine").fetchone() == (0,)

    def test_a_serialization_failure_belongs_to_the_caller(self, postgres_here: str, key: str) -> None:
        with psycopg.connect(postgres_here) as connection, psycopg.connect(postgres_here) as other:
            run(connection, plans.schedule(key))
            connection.commit()
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.execute("select 1 from duebook.notifications")
            other.execute("update duebook.notifications set tenant = 'acme' where key = %s", [key])
            other.commit()
            with pytest.raises(psycopg.errors.SerializationFailure):
                run(connection, plans.ask("lock", kind=plans.KIND, key=key))
            connection.rollback()


class TestScopes:
    def test_scoped_session(self, engine: sqlalchemy.Engine, key: str) -> None:
        scoped = scoped_session(sessionmaker(engine))
        assert run(scoped, plans.schedule(key)) == [key]
        scoped.commit()
        assert run(scoped(), plans.schedule(key)) == []
        scoped.remove()

    async def test_async_scoped_session(self, postgres_here: str, key: str) -> None:
        engine = create_async_engine(sqlalchemy_url(postgres_here, "postgresql+asyncpg"))
        scoped = async_scoped_session(async_sessionmaker(engine), scopefunc=lambda: 1)
        assert await run_async(scoped, plans.schedule(key)) == [key]
        await scoped.rollback()
        await scoped.remove()
        await engine.dispose()

    def test_a_subclass_of_session(self, engine: sqlalchemy.Engine, key: str) -> None:
        class Ours(Session):
            pass

        with Ours(engine) as session:
            assert run(session, plans.schedule(key)) == [key]

    def test_a_session_in_a_transaction_of_somebody_else(self, engine: sqlalchemy.Engine, key: str) -> None:
        with engine.connect() as connection, connection.begin() as outer:
            with Session(connection) as session:
                assert run(session, plans.schedule(key)) == [key]
                session.commit()
            outer.rollback()
        with Session(engine) as session:
            assert run(session, plans.schedule(key)) == [key]

    def test_a_connection_that_streams(self, postgres_here: str, key: str) -> None:
        engine = sqlalchemy.create_engine(sqlalchemy_url(postgres_here, "postgresql+psycopg"))
        with engine.connect().execution_options(stream_results=True) as connection:
            assert run(connection, plans.schedule(key)) == [key]
        engine.dispose()

    async def test_an_async_session_in_its_own_begin(self, postgres_here: str, key: str) -> None:
        engine = create_async_engine(sqlalchemy_url(postgres_here, "postgresql+asyncpg"))
        async with AsyncSession(engine) as session, session.begin():
            assert await run_async(session, plans.schedule(key)) == [key]
            await session.rollback()
        await engine.dispose()

    @pytest.mark.usefixtures("django_is_ready")
    def test_the_default_connection_of_django(self, sqlite_path: str, key: str) -> None:
        with django_database(sqlite_path, "default"), django_transaction.atomic():
            assert run(django_default, plans.schedule(key)) == [key]


async def test_a_pool_is_checked_once(postgres_here: str, key: str, checked: list[str]) -> None:
    async with asyncpg.create_pool(postgres_here, min_size=2) as pool, pool.acquire() as one, pool.acquire() as other:
        for connection in (one, other):
            async with connection.transaction():
                await run_async(connection, plans.read_identities(key))
    assert checked == ["postgres"]


@pytest.mark.usefixtures("django_is_ready")
def test_a_database_is_checked_once(
    engine: sqlalchemy.Engine, sqlite_path: str, postgres_here: str, key: str, checked: list[str]
) -> None:
    for _ in range(2):
        with closing(sqlite3.connect(sqlite_path)) as connection:
            run(connection, plans.read_identities(key))
        with Session(engine) as session:
            run(session, plans.read_identities(key))
        with psycopg.connect(postgres_here) as found:
            run(found, plans.read_identities(key))
        with django_database(postgres_here) as alias, django_transaction.atomic(using=alias):
            run(alias, plans.read_identities(key))
    assert checked == ["sqlite", "sqlite", "postgres", "postgres"]


def test_a_database_in_memory_is_checked_each_time(key: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        for _ in range(2):
            with pytest.raises(SchemaMismatch, match="duebook migrate"):
                run(connection, plans.schedule(key))
            assert not connection.in_transaction
