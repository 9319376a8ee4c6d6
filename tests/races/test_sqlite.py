"""Race 16: one file, several programs, one writer at a time."""

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from duebook.domain.lifecycle import State
from duebook.errors import Busy
from duebook.stores.sqlite import database as module
from duebook.stores.sqlite.database import SqliteDatabase
from tests.support.engine import Crew
from tests.support.worlds import World

pytestmark = pytest.mark.parametrize("world", ["sqlite"], indirect=True)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 0.05)


@pytest.fixture
def other(world: World) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(world.address, isolation_level=None, timeout=0.05)) as connection:
        yield connection


async def test_a_writer_elsewhere_means_busy_and_nothing_is_stored(world: World, other: sqlite3.Connection) -> None:
    other.execute("begin immediate")
    with pytest.raises(Busy, match="SQLite"):
        await world.schedule("a")
    other.execute("rollback")
    assert set(await world.schedule("a")) == {"a"}


async def test_an_open_read_elsewhere_means_busy_at_most_and_the_whole_transaction_can_be_repeated(
    world: World, other: sqlite3.Connection
) -> None:
    await world.schedule("a")
    other.execute("begin")
    assert other.execute("select count(*) from duebook_notifications").fetchone() == (1,)
    try:
        await world.schedule("b")
    except Busy:
        assert other.execute("select count(*) from duebook_notifications").fetchone() == (1,)
        other.execute("commit")
        await world.schedule("b")
    assert (await world.read("b")).state is State.SCHEDULED


async def test_our_own_reads_are_closed_and_never_block_a_writer(world: World, other: sqlite3.Connection) -> None:
    await world.schedule(*(f"k{i}" for i in range(300)))
    assert len(await world.book.search(limit=100)) == 100
    await world.database.ask(world.store.read_backlog(world.clock.now()))
    other.execute("update duebook_notifications set recipient = 'bob'")
    assert other.total_changes == 300


async def test_an_abandoned_plan_leaves_no_transaction_behind(world: World, other: sqlite3.Connection) -> None:
    await world.schedule("a")
    world.database.fail("record_history", error=RuntimeError)
    world.declare()
    with pytest.raises(RuntimeError):
        await world.book.cancel("mail", "a")
    other.execute("update duebook_notifications set recipient = 'bob'")
    n = await world.read("a")
    assert (n.state, n.recipient) == (State.SCHEDULED, "bob")


async def test_a_lane_lives_through_a_file_that_is_held_for_a_while(crew: Crew, other: sqlite3.Connection) -> None:
    channel = crew.channel()
    crew.kind()
    await crew.world.schedule("a", "b")
    crew.lane()
    other.execute("begin exclusive")
    await crew.go_on(2)
    other.execute("rollback")
    await crew.go_on(3)
    assert sorted(channel.keys) == ["a", "b"]


async def test_several_threads_schedule_and_claim_without_losing_anything(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BUSY_SECONDS", 30.0)
    databases = [SqliteDatabase(world.address) for _ in range(3)]
    now, until = world.clock.now(), world.clock.at(15)
    taken: list[int] = []

    async def work(number: int, database: SqliteDatabase) -> None:
        for i in range(15):
            await database.run(world.store.schedule([world.draft(f"k{number}-{i}"), world.draft(f"shared-{i}")]))
            found = await database.ask(
                world.store.claim("mail", ["mail"], (5, 5, 5), 1, world.clock.now(), now, until, f"w{number}")
            )
            taken.extend(n.id for n in found)

    await asyncio.gather(*(work(number, database) for number, database in enumerate(databases)))
    for database in databases:
        await database.close()
    assert len(taken) == len(set(taken))
    assert world.shell.value("select count(*) from @notifications") == 60
    assert world.shell.value("select count(*) from @identities") == 60


CHILD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("begin immediate")
connection.execute("update duebook_notifications set recipient = 'child'")
print("locked", flush=True)
sys.stdin.readline()
connection.execute(sys.argv[2])
"""


@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_another_process_in_the_middle_of_a_transaction(world: World, ending: str) -> None:
    await world.schedule("a")
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, world.address, ending, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert await child.stdout.readline() == b"locked\n"
    with pytest.raises(Busy):
        await world.claim()
    n = await world.database.ask(world.store.read("mail", "a"))
    assert n is not None
    assert n.recipient == "ann"
    await child.communicate(b"go on\n")
    (claimed,) = await world.claim()
    assert claimed.recipient == ("child" if ending == "commit" else "ann")


async def test_a_process_killed_in_the_middle_leaves_a_file_that_reads_as_before(world: World) -> None:
    await world.schedule("a")
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CHILD, world.address, "commit", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdout is not None
    await child.stdout.readline()
    child.kill()
    await child.wait()
    assert [n.recipient for n in await world.claim()] == ["ann"]
