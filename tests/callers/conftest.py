import os
import secrets
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import django
import psycopg
import pytest
from django.conf import settings

from duebook.stores import catalog
from duebook.stores.callers import schema
from tests import postgres
from tests.callers.kinds import KINDS, Kind


@dataclass(frozen=True)
class Database:
    dialect: catalog.Dialect
    url: str

    def has(self, key: str) -> bool:
        """Whether another connection sees a notification with this key."""
        if self.dialect == "postgres":
            with psycopg.connect(self.url) as other:
                sql = "select count(*) from duebook.notifications where key = %s"
                return other.execute(sql, [key]).fetchone() == (1,)
        with closing(sqlite3.connect(self.url)) as found:
            sql = "select count(*) from duebook_notifications where key = ?"
            return bool(found.execute(sql, [key]).fetchone() == (1,))


@pytest.fixture(autouse=True)
def nothing_checked_yet() -> None:
    schema.forget()


@pytest.fixture
def key() -> str:
    return f"sub-{secrets.token_hex(6)}/100%"


@pytest.fixture(params=KINDS, ids=str)
def kind(request: pytest.FixtureRequest, django_is_ready: None) -> Kind:
    assert isinstance(request.param, Kind)
    return request.param


@pytest.fixture
def database(kind: Kind, sqlite_path: str, postgres_here: str) -> Database:
    return Database(kind.dialect, sqlite_path if kind.dialect == "sqlite" else postgres_here)


@pytest.fixture
def bare(kind: Kind, bare_path: str, postgres_bare: str) -> Database:
    """A database without the tables of duebook."""
    return Database(kind.dialect, bare_path if kind.dialect == "sqlite" else postgres_bare)


@pytest.fixture(scope="session")
def postgres_here() -> Iterator[str]:
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        with psycopg.connect(url) as connection:
            for version, name, sql in catalog.migrations("postgres"):
                connection.execute(sql.encode())
                connection.execute(
                    "insert into duebook.migrations values (%s, %s, '2026-11-30T10:00Z')", [version, name]
                )
        yield url


@pytest.fixture(scope="session")
def postgres_bare() -> Iterator[str]:
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "migrated.db"
    with closing(sqlite3.connect(path)) as connection:
        for version, name, sql in catalog.migrations("sqlite"):
            connection.executescript(sql)
            connection.execute("insert into duebook_migrations values (?, ?, '2026-11-30T10:00Z')", [version, name])
        connection.commit()
    return path


@pytest.fixture
def sqlite_path(sqlite_template: Path, tmp_path: Path) -> str:
    return str(shutil.copy(sqlite_template, tmp_path / "books.db"))


@pytest.fixture
def bare_path(tmp_path: Path) -> str:
    return str(tmp_path / "bare.db")


@pytest.fixture(scope="session")
def django_is_ready() -> None:
    if not settings.configured:
        settings.configure(USE_TZ=True, TIME_ZONE="America/New_York", LOGGING_CONFIG=None)
    django.setup()
