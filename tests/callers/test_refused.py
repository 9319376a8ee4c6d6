"""What using() refuses, and the words it does it with."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import asyncpg
import psycopg
import pytest
import sqlalchemy
from django.db import transaction as django_transaction
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

from duebook.errors import InvalidInput, NotInTransaction
from duebook.stores.callers import caller
from tests.callers import plans
from tests.callers.kinds import django_database, sqlalchemy_url
from tests.callers.plans import run, run_async


class TestAutocommit:
    def test_sqlite3(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path, isolation_level=None)) as connection:
            with pytest.raises(NotInTransaction, match="BEGIN IMMEDIATE"):
                run(connection, plans.schedule(key))
            connection.execute("begin")
            assert run(connection, plans.schedule(key)) == [key]

    def test_psycopg(self, postgres_here: str, key: str) -> None:
        with closing(psycopg.connect(postgres_here, autocommit=True)) as connection:
            with pytest.raises(NotInTransaction, match=r"connection\.transaction\(\)"):
                run(connection, plans.schedule(key))
            with connection.transaction(force_rollback=True):
                assert run(connection, plans.schedule(key)) == [key]

    async def test_async_psycopg(self, postgres_here: str, key: str) -> None:
        async with await psycopg.AsyncConnection.connect(postgres_here, autocommit=True) as connection:
            with pytest.raises(NotInTransaction, match="async with"):
                await run_async(connection, plans.schedule(key))
            async with connection.transaction(force_rollback=True):
                assert await run_async(connection, plans.schedule(key)) == [key]

    async def test_asyncpg(self, postgres_here: str, key: str) -> None:
        async with asyncpg.create_pool(postgres_here, min_size=1) as pool, pool.acquire() as pooled:
            with pytest.raises(NotInTransaction, match=r"connection\.transaction\(\)"):
                await run_async(pooled, plans.schedule(key))

    @pytest.mark.parametrize("driver", ["sqlite+pysqlite", "postgresql+psycopg"])
    def test_sqlalchemy(self, driver: str, sqlite_path: str, postgres_here: str, key: str) -> None:
        url = sqlalchemy_url(sqlite_path if "sqlite" in driver else postgres_here, driver)
        engine = sqlalchemy.create_engine(url)
        autocommit = engine.execution_options(isolation_level="AUTOCOMMIT")
        with Session(autocommit) as session, pytest.raises(NotInTransaction, match="AUTOCOMMIT"):
            run(session, plans.schedule(key))
        with autocommit.connect() as connection, pytest.raises(NotInTransaction, match="AUTOCOMMIT"):
            run(connection, plans.schedule(key))
        with Session(engine) as session:
            assert run(session, plans.schedule(key)) == [key]
        engine.dispose()

    @pytest.mark.parametrize("driver", ["postgresql+asyncpg", "postgresql+psycopg"])
    async def test_async_sqlalchemy(self, driver: str, postgres_here: str, key: str) -> None:
        engine = create_async_engine(sqlalchemy_url(postgres_here, driver), isolation_level="AUTOCOMMIT")
        async with AsyncSession(engine) as session:
            with pytest.raises(NotInTransaction, match="AUTOCOMMIT"):
                await run_async(session, plans.schedule(key))
        async with engine.connect() as connection:
            with pytest.raises(NotInTransaction, match="AUTOCOMMIT"):
                await run_async(connection, plans.schedule(key))
        await engine.dispose()

    @pytest.mark.usefixtures("django_is_ready")
    @pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
    def test_django(self, dialect: str, sqlite_path: str, postgres_here: str, key: str) -> None:
        with django_database(sqlite_path if dialect == "sqlite" else postgres_here) as alias:
            with pytest.raises(NotInTransaction, match=r"transaction\.atomic\(using='books'\)"):
                run(alias, plans.schedule(key))
            django_transaction.set_autocommit(False, using=alias)
            assert run(alias, plans.schedule(key)) == [key]
            django_transaction.rollback(using=alias)


class TestOtherThings:
    @pytest.mark.parametrize("thing", [None, 5, object(), b"default"])
    def test_what_is_no_connection(self, thing: object) -> None:
        with pytest.raises(InvalidInput, match=r"connection: builtins\.\w+ is none .* SQLAlchemy Session.* Django"):
            caller(thing)

    def test_an_engine(self) -> None:
        with pytest.raises(InvalidInput, match=r"Engine is none .* the open transaction itself"):
            caller(sqlalchemy.create_engine("sqlite://"))

    def test_a_session_without_a_database(self) -> None:
        with pytest.raises(InvalidInput, match="not bound to one database"):
            caller(Session())

    def test_a_database_of_another_make(self) -> None:
        bind: Any = sqlalchemy.create_engine("sqlite://")
        bind.dialect = SimpleNamespace(name="mysql")
        with Session(bind) as session, pytest.raises(InvalidInput, match="mysql; duebook lives in"):
            caller(session)

    @pytest.mark.usefixtures("django_is_ready")
    def test_a_django_alias_that_does_not_exist(self, sqlite_path: str) -> None:
        with django_database(sqlite_path), pytest.raises(InvalidInput, match=r"no database 'nope'.*'books'"):
            caller("nope")

    def test_a_closed_plan_never_runs(self, sqlite_path: str, key: str) -> None:
        with closing(sqlite3.connect(sqlite_path, isolation_level=None)) as connection:
            plan = plans.schedule(key)
            with pytest.raises(NotInTransaction):
                run(connection, plan)
            assert list(plan) == []


def test_nothing_is_imported_that_the_caller_has_not_imported() -> None:
    program = (
        "import sys, duebook.stores.callers as callers\n"
        "try: callers.caller('default')\n"
        "except callers.InvalidInput as error: assert 'Django is not loaded' in str(error)\n"
        "print(*({'sqlalchemy', 'psycopg', 'asyncpg', 'sqlite3', 'django'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert found.stdout.strip() == ""
