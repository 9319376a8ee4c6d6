"""The book itself: made without I/O, used from several loops, from threads, and inside somebody else's transaction."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

import duebook
from duebook import Accepted, Due, Duebook, Email, New, SendContext, Skip, State
from duebook.errors import InvalidInput, NotInTransaction, SchemaMismatch
from tests.app.desk import HOUR, SETTINGS, START, Clock, Desk, soon
from tests.app.places import Place


def declared(url: str) -> Duebook:
    book = Duebook(url, namespace="test", settings=SETTINGS)
    book.declare("note", channel="mail")
    return book


def test_making_a_book_touches_nothing(tmp_path: Path) -> None:
    before = threading.enumerate()
    book = Duebook(f"sqlite:///{tmp_path}/book.db")
    elsewhere = Duebook("postgresql://nobody:hunter2@192.0.2.1/nothing")
    for one in (book, elsewhere):

        @one.channel("mail")
        async def mail(message: Email, context: SendContext) -> Accepted:
            return Accepted()

        @one.kind("note", channel="mail")
        async def note(due: Due) -> Skip:
            return Skip("never")

        assert one.sync is one.sync
    assert list(tmp_path.iterdir()) == []
    assert threading.enumerate() == before
    assert "hunter2" not in repr(elsewhere)


def test_importing_it_loads_no_driver_and_no_framework() -> None:
    code = "import duebook, sys; print(*sorted(sys.modules))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(said.stdout.split())
    assert not loaded & {"asyncpg", "sqlalchemy", "django", "httpx2", "aiosmtplib", "typer", "rich", "email_validator"}


def test_a_book_is_told_where_it_is_kept_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DUEBOOK_URL", "sqlite://")
    monkeypatch.setenv("DUEBOOK_NAMESPACE", "staging")
    assert (Duebook().url, Duebook().namespace) == ("sqlite://", "staging")
    assert Duebook(namespace="prod").namespace == "prod"


@pytest.mark.usefixtures("clock")
def test_one_book_serves_one_loop_after_another(place: Place) -> None:
    book = declared(place.url)

    async def promise(key: str) -> bool:
        answer = await book.schedule("note", key, recipient="ann", after=HOUR)
        found = await book.find("note", key)
        await book.close()
        return answer.created and found is not None

    assert [asyncio.run(promise(key)) for key in "abca"] == [True, True, True, False]
    assert place.count() == 3


@pytest.mark.usefixtures("clock")
def test_a_program_without_a_loop_has_the_same_verbs(place: Place) -> None:
    book = declared(place.url)
    try:
        first = book.sync.schedule("note", "a", recipient="ann", after=HOUR, group="g")
        assert (first.created, first.due_at) == (True, START + HOUR)
        many = book.sync.schedule_many([New(kind="note", key=key, recipient="ann", after=HOUR) for key in "abc"])
        assert [answer.created for answer in many] == [False, True, True]
        assert book.sync.reschedule("note", "a", after=2 * HOUR)
        assert book.sync.cancel_group("g", reason="read").cancelled == 1
        found = book.sync.find("note", "a")
        assert found is not None
        assert found.state is State.CANCELLED
        story = book.sync.explain("note", "a")
        assert story is not None
        assert [entry.event for entry in story.history] == ["reschedule", "cancel"]
        assert len(book.sync.search(state="scheduled")) == 2
        book.sync.pause(channel="mail")
        assert [control.scope for control in book.sync.controls()] == ["channel:mail"]
        assert book.sync.backlog().due == 0
        assert book.sync.forget("ann") == 3
        with pytest.raises(InvalidInput, match="key"):
            book.sync.schedule("note", "", recipient="ann", after=HOUR)
    finally:
        book.sync.close()


@pytest.mark.usefixtures("clock")
def test_many_threads_share_one_book(place: Place) -> None:
    book = declared(place.url)

    def promise(thread: int) -> int:
        answers = [book.sync.schedule("note", f"k{n}", recipient=f"t{thread}", after=HOUR) for n in range(15)]
        return sum(answer.created for answer in answers)

    try:
        with ThreadPoolExecutor(6) as threads:
            assert sum(threads.map(promise, range(6))) == 15
        assert place.count() == 15
    finally:
        book.sync.close()


async def test_a_handler_in_a_thread_may_schedule_the_next_one(bare: Desk) -> None:
    """The synchronous twin beside a running worker: two loops on one book."""
    bare.channel()

    @bare.book.kind("chain", channel="mail")
    def chain(due: Due) -> Skip:
        number = int(due.key)
        if number < 12:
            bare.book.sync.schedule("chain", str(number + 1), recipient="ann", after=timedelta(0))
        return Skip("passed on")

    try:
        async with bare.worker():
            await bare.schedule("0", kind="chain")
            for number in range(13):
                await _exists(bare, str(number))
            await bare.until(State.SKIPPED, *(str(number) for number in range(13)), kind="chain")
            if bare.place.dialect == "postgres":
                mine = "application_name = 'duebook' and datname = current_database()"
                assert bare.place.ask(f"select count(*) from pg_stat_activity where {mine}")[0][0] <= 16
    finally:
        await asyncio.to_thread(bare.book.sync.close)


async def _exists(desk: Desk, key: str) -> None:
    async with asyncio.timeout(10):
        while await desk.book.find("chain", key) is None:
            desk.changed.clear()
            await desk.changed.wait()


# Inside the caller's own transaction


@pytest.fixture
def orders(migrated_file: Path, tmp_path: Path, clock: Clock) -> Any:
    """An application's own connection to the file that holds its tables and duebook's."""
    path = tmp_path / "shop.db"
    path.write_bytes(migrated_file.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table orders (id text primary key)")
        connection.commit()
        yield path, connection


@pytest.mark.parametrize("commits", [True, False])
def test_the_promise_and_the_callers_rows_are_stored_together_or_not_at_all(orders: Any, commits: bool) -> None:
    path, connection = orders
    book = declared(f"sqlite:///{path}")
    connection.execute("insert into orders values ('o-1')")
    answer = book.using(connection).schedule("note", "o-1", recipient="ann", after=HOUR)
    assert answer.created
    assert connection.in_transaction
    connection.commit() if commits else connection.rollback()
    with closing(sqlite3.connect(path)) as other:
        counts = [other.execute(f"select count(*) from {table}").fetchone()[0]
                  for table in ("orders", "duebook_notifications", "duebook_identities")]  # fmt: skip
    assert counts == [int(commits)] * 3


def test_an_error_inside_leaves_the_callers_transaction_usable(orders: Any) -> None:
    path, connection = orders
    book = declared(f"sqlite:///{path}")
    connection.execute("insert into orders values ('o-1')")
    with pytest.raises(InvalidInput):
        book.using(connection).schedule("note", "", recipient="ann", after=HOUR)
    assert book.using(connection).cancel("note", "nobody").result == "not_found"
    connection.commit()
    assert connection.execute("select count(*) from orders").fetchone() == (1,)


def test_a_connection_in_autocommit_is_refused(orders: Any) -> None:
    path, _ = orders
    book = declared(f"sqlite:///{path}")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        with pytest.raises(NotInTransaction, match="BEGIN IMMEDIATE"):
            book.using(connection).schedule("note", "a", recipient="ann", after=HOUR)
        connection.execute("begin immediate")
        assert book.using(connection).schedule("note", "a", recipient="ann", after=HOUR).created
        connection.rollback()


def test_a_callers_database_without_tables_is_answered_with_the_command(tmp_path: Path) -> None:
    book = declared("sqlite://")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection, pytest.raises(SchemaMismatch, match="migrate"):
        book.using(connection).schedule("note", "a", recipient="ann", after=HOUR)


@pytest.mark.parametrize("thing", [None, 42, object(), "sqlite:///x.db"])
def test_what_is_no_connection_is_refused(thing: Any) -> None:
    with pytest.raises(duebook.DuebookError):
        declared("sqlite://").using(thing).schedule("note", "a", recipient="ann", after=HOUR)


async def test_what_the_caller_commits_is_found_by_a_worker(desk: Desk) -> None:
    async with desk.worker():
        await asyncio.to_thread(_commit_elsewhere, desk)
        await desk.until(State.ACCEPTED, "a")


def _commit_elsewhere(desk: Desk) -> None:
    connect: Any = sqlite3.connect if desk.place.dialect == "sqlite" else psycopg.connect
    with closing(connect(desk.place.url.removeprefix("sqlite:///"))) as connection:
        verbs = desk.book.using(connection)
        verbs.schedule("note", "a", recipient="ann", after=timedelta(0))
        connection.commit()


def test_a_kind_has_the_same_defaults_with_a_handler_and_without() -> None:
    one, other = Duebook("sqlite://"), Duebook("sqlite://")
    one.declare("note", channel="mail")
    other.kind("note", channel="mail")(lambda due: Skip("never"))
    assert one.registry.kinds == other.registry.kinds


async def test_migrating_again_changes_nothing(desk: Desk) -> None:
    assert await desk.book.migrate() == []


async def test_a_book_that_was_closed_opens_again_when_asked(desk: Desk) -> None:
    await desk.schedule("a", after=HOUR)
    await desk.book.close()
    await soon(desk.book.close())
    assert (await desk.read("a")).state is State.SCHEDULED
