"""Race 1 and 2: two transactions promise the same identity."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest
import pytest_asyncio

from duebook import Duebook
from duebook.domain.lifecycle import State
from duebook.domain.policy import Retention
from tests.support.fixtures import emptied
from tests.support.locks import somebody_waits_for
from tests.support.shell import Shell

HOUR = timedelta(hours=1)


@pytest_asyncio.fixture
async def book(psql_session: tuple[str, Shell]) -> AsyncIterator[Duebook]:
    url, shell = psql_session
    emptied(shell)
    found = Duebook(url, namespace="test")
    found.declare("mail", channel="mail", retention=Retention(HOUR, HOUR, HOUR))
    yield found
    await found.close()


@pytest_asyncio.fixture
async def two(psql_session: tuple[str, Shell]) -> AsyncIterator[tuple[Any, Any]]:
    url, _ = psql_session
    a, b = await asyncpg.connect(url), await asyncpg.connect(url)
    yield a, b
    for connection in (a, b):
        await connection.close()


def counted(shell: Shell) -> tuple[int, int]:
    return shell.value("select count(*) from @notifications"), shell.value("select count(*) from @identities")


@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_the_second_waits_for_the_first_and_answers_what_became_of_it(
    book: Duebook, two: tuple[Any, Any], psql_session: tuple[str, Shell], ending: str
) -> None:
    a, b = two
    first = a.transaction()
    await first.start()
    made = await book.using(a).schedule("mail", "k", recipient="ann", after=HOUR)
    second = b.transaction()
    await second.start()
    waiting = asyncio.create_task(book.using(b).schedule("mail", "k", recipient="bob", after=HOUR * 2))
    await somebody_waits_for(a)
    assert not waiting.done()
    await (first.commit() if ending == "commit" else first.rollback())
    answer = await waiting
    await second.commit()
    assert made.created
    assert answer.created is (ending == "rollback")
    n = await book.find("mail", "k")
    assert n is not None
    assert n.recipient == ("ann" if ending == "commit" else "bob")
    assert (answer.id, answer.due_at) == (n.id, n.due_at)
    assert counted(psql_session[1]) == (1, 1)


async def test_a_snapshot_from_before_is_told_and_stores_nothing(
    book: Duebook, two: tuple[Any, Any], psql_session: tuple[str, Shell]
) -> None:
    """At REPEATABLE READ it can neither see the other's row nor add its own: the caller repeats its transaction."""
    a, _ = two
    async with a.transaction(isolation="repeatable_read"):
        assert await a.fetchval("select count(*) from duebook.identities") == 0
        await book.schedule("mail", "k", recipient="ann", after=HOUR)
        with pytest.raises(asyncpg.SerializationError):
            async with a.transaction():
                await book.using(a).schedule("mail", "k", recipient="bob", after=HOUR)
    assert counted(psql_session[1]) == (1, 1)


async def test_an_old_snapshot_does_not_revive_an_identity_that_retention_has_pruned(
    book: Duebook, two: tuple[Any, Any], psql_session: tuple[str, Shell]
) -> None:
    a, _ = two
    wired = book.wired
    await book.schedule("mail", "k", recipient="ann", after=timedelta(0))
    await book.cancel("mail", "k")
    async with a.transaction(isolation="repeatable_read"):
        assert await a.fetchval("select count(*) from duebook.notifications") == 1
        later = wired.clock.now() + HOUR * 2
        for _ in range(3):
            await wired.database.run(wired.store.prune(book.registry.kinds["mail"], later, 10))
        assert counted(psql_session[1]) == (0, 1)
        with pytest.raises(asyncpg.SerializationError):
            async with a.transaction():
                await book.using(a).schedule("mail", "k", recipient="bob", after=HOUR)
    assert counted(psql_session[1]) == (0, 1)
    again = await book.schedule("mail", "k", recipient="bob", after=HOUR)
    assert (again.created, again.state) == (False, State.CANCELLED)


async def test_a_caller_that_rolls_back_leaves_nothing_behind(
    book: Duebook, two: tuple[Any, Any], psql_session: tuple[str, Shell]
) -> None:
    a, _ = two
    transaction = a.transaction()
    await transaction.start()
    await book.using(a).schedule("mail", "k", recipient="ann", after=HOUR)
    await book.using(a).cancel("mail", "k")
    await transaction.rollback()
    assert counted(psql_session[1]) == (0, 0)
    assert (await book.schedule("mail", "k", recipient="ann", after=HOUR)).created


async def test_many_callers_at_once_make_one(book: Duebook, psql_session: tuple[str, Shell]) -> None:
    calls = [book.schedule("mail", f"k{i % 5}", recipient="ann", after=HOUR) for i in range(50)]
    answers = await asyncio.gather(*calls)
    assert sum(answer.created for answer in answers) == 5
    assert len({answer.id for answer in answers}) == 5
    assert counted(psql_session[1]) == (5, 5)


async def test_what_is_not_committed_is_claimed_only_once_it_is(
    book: Duebook, two: tuple[Any, Any], psql_session: tuple[str, Shell]
) -> None:
    """A low id that becomes visible late is not behind any cursor: there is none."""
    a, _ = two
    wired = book.wired
    late = a.transaction()
    await late.start()
    await book.using(a).schedule("mail", "late", recipient="ann", after=timedelta(0))
    await book.schedule("mail", "early", recipient="ann", after=timedelta(0))

    async def claim() -> list[str]:
        now = wired.clock.now() + timedelta(seconds=1)
        plan = wired.store.claim("mail", ["mail"], (9, 9, 9), 1, now - HOUR, now, now + HOUR, "w")
        return [n.key for n in await wired.database.ask(plan)]

    assert await claim() == ["early"]
    await late.commit()
    assert await claim() == ["late"]
