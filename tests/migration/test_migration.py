import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from duebook import Duebook
from duebook.errors import SchemaMismatch
from duebook.stores import catalog
from tests.support.shell import Shell, psql, sqlite_shell

TABLES = {
    name
    for _, _, text in catalog.migrations("sqlite")
    for name in re.findall(r"^create table duebook_(\w+)", text, re.MULTILINE)
}


class Place:
    """A database nobody has migrated, and a shell on it."""

    def __init__(self, url: str, shell: Callable[[], Shell]) -> None:
        self.url = url
        self.shell = shell

    def book(self) -> Duebook:
        book = Duebook(self.url, namespace="test")
        book.declare("mail", channel="mail")
        return book

    def look(self, sql: str) -> list[tuple[object, ...]]:
        with closing(self.shell()) as shell:
            return [tuple(row) for row in shell.run(sql)]


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "sqlite":
        path = str(tmp_path / "book.db")
        return Place(f"sqlite:///{path}", lambda: sqlite_shell(path))
    url = request.getfixturevalue("empty_postgres")
    return Place(url, lambda: psql(url))


def tables(place: Place) -> set[str]:
    if place.url.startswith("sqlite"):
        rows = place.look("select substr(name, 9) from sqlite_master where type = 'table' and name like 'duebook_%'")
    else:
        rows = place.look("select table_name from information_schema.tables where table_schema = 'duebook'")
    return {str(name) for (name,) in rows}


async def test_a_fresh_database_gets_every_table_and_a_second_time_nothing(place: Place) -> None:
    book = place.book()
    dialect = book.wired.database.dialect
    assert await book.migrate() == [name for _, name, _ in catalog.migrations(dialect)]
    assert tables(place) == TABLES
    assert await book.migrate() == []
    assert place.look("select version from @migrations") == [(v,) for v, _, _ in catalog.migrations(dialect)]
    assert (await book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))).created
    assert await book.migrate() == []
    await book.close()


async def test_several_that_migrate_at_once_all_succeed_and_each_step_is_made_once(place: Place) -> None:
    books = [place.book() for _ in range(4)]
    applied = await asyncio.gather(*(book.migrate() for book in books))
    names = [name for several in applied for name in several]
    assert len(names) == len(set(names)) == len(catalog.migrations(books[0].wired.database.dialect))
    assert tables(place) == TABLES
    for book in books:
        await book.wired.check_schema()
        await book.close()


async def test_a_migration_that_fails_leaves_nothing_behind(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = [(1, "broken", "create table duebook_half (id integer); select no_such_thing;")]
    monkeypatch.setattr(catalog, "migrations", lambda dialect: broken)
    book = place.book()
    with pytest.raises(Exception, match="no_such_thing"):
        await book.migrate()
    monkeypatch.undo()
    assert await book.migrate() != []
    assert tables(place) == TABLES
    await book.close()


async def test_a_database_without_tables_says_what_to_do(place: Place) -> None:
    book = place.book()
    with pytest.raises(SchemaMismatch, match="duebook migrate"):
        await book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))
    with pytest.raises(SchemaMismatch, match="duebook migrate"):
        async with book.worker():
            pass
    await book.close()


async def test_an_older_schema_says_which_and_what_to_do(place: Place) -> None:
    book = place.book()
    await book.migrate()
    place.look("delete from @migrations")
    needed = catalog.newest(book.wired.database.dialect)
    with pytest.raises(SchemaMismatch, match=rf"schema 0.*needs {needed}.*duebook migrate"):
        async with book.worker():
            pass
    await book.close()


async def test_a_newer_schema_does_not_ask_for_a_migration_that_cannot_help(place: Place) -> None:
    """During a rolling deploy the old release meets the new schema: to migrate again would change nothing."""
    book = place.book()
    await book.migrate()
    place.look("update @migrations set version = version + 90")
    with pytest.raises(SchemaMismatch, match=str(90 + catalog.newest(book.wired.database.dialect))) as caught:
        await book.wired.check_schema()
    assert "duebook migrate" not in str(caught.value)
    assert await book.migrate() == []
    await book.close()


async def test_our_tables_live_beside_an_applications_own_of_the_same_names(place: Place) -> None:
    with closing(place.shell()) as shell:
        for table in TABLES:
            shell.run(f"create table {table} (mine text)")
            shell.run(f"insert into {table} values ('untouched')")
    book = place.book()
    await book.migrate()
    await book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))
    await book.cancel("mail", "a")
    await book.wired.check_schema()
    assert tables(place) == TABLES
    for table in TABLES:
        assert place.look(f"select mine from {table}") == [("untouched",)]
    await book.close()


async def test_a_search_path_with_traps_in_it_changes_nothing(empty_postgres: str) -> None:
    with psycopg.connect(empty_postgres, autocommit=True) as connection:
        connection.execute("create schema trap")
        connection.execute("create table trap.notifications (id bigint)")
        connection.execute("create function trap.lower(text) returns text language sql as $$ select 'trap' $$")
        name = connection.info.dbname
        connection.execute(f'alter database "{name}" set search_path = trap, public')
    place = Place(empty_postgres, lambda: psql(empty_postgres))
    book = place.book()
    await book.migrate()
    assert (await book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))).created
    found = await book.search_address("ANN")
    assert [n.key for n in found] == ["a"]
    await book.close()


async def test_a_sqlite_file_keeps_its_journal_and_other_tables_usable(tmp_path: Path) -> None:
    path = tmp_path / "app.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table accounts (name text)")
        connection.commit()
    book = Place(f"sqlite:///{path}", lambda: sqlite_shell(str(path))).book()
    await book.migrate()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("insert into accounts values ('ann')")
        connection.commit()
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    await book.close()
