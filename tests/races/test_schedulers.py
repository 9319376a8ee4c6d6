"""Races of recurring times: two schedulers, a scheduler and an owner, a deadline that moves while it is reminded of."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from copy import copy
from datetime import date, timedelta
from typing import Any

import pytest
import pytest_asyncio

from duebook.domain.lifecycle import State
from duebook.domain.policy import DeadlinePolicy
from duebook.engine.scheduler import Scheduler
from duebook.errors import StoreUnavailable
from duebook.features.context import Context
from duebook.features.deadlines import Deadlines
from duebook.features.work import Wakes
from duebook.stores.drive import drive_async
from duebook.stores.postgres.database import PostgresDatabase, _execute
from duebook.stores.sqlite.database import SqliteDatabase
from tests.support.engine import SETTINGS, Crew
from tests.support.faults import FaultyDatabase
from tests.support.locks import somebody_waits_for
from tests.support.worlds import World, intent_of

HOUR = timedelta(hours=1)
POSTGRES = pytest.mark.parametrize("world", ["postgres"], indirect=True)
HOURLY: dict[str, Any] = {
    "kind": "digest", "recipient": "ann", "recurrence": "0 * * * *", "zone": "UTC", "catch_up": "all",
}  # fmt: skip
RENEWAL: dict[str, Any] = {"recipient": "ann", "zone": "Europe/Berlin"}
DATES = [date(2030, 1, 12), date(2030, 1, 13), date(2030, 1, 14)]


@pytest_asyncio.fixture
async def here(crew: Crew) -> World:
    """A world whose schedules and deadlines have kinds."""
    crew.channel()
    crew.kind("digest")
    crew.kind("renewal", deadline=DeadlinePolicy())
    return crew.world


@pytest_asyncio.fixture
async def elsewhere(here: World) -> AsyncIterator[World]:
    """The same database as another process sees it; in memory there is none."""
    inner: Any = here.database.inner
    if here.address != ":memory:":
        inner = SqliteDatabase(here.address) if here.dialect == "sqlite" else PostgresDatabase(here.address, 2)
    found = copy(here)
    found.database = FaultyDatabase(inner, here.clock)
    yield found
    if inner is not here.database.inner:
        await inner.close()


def scheduler(world: World) -> Scheduler:
    return Scheduler(world.registry, world.database, world.store, world.clock, SETTINGS, {})


async def work_off(one: Scheduler) -> None:
    while await one.step():
        pass
    await one.step()


def periods(world: World) -> list[str]:
    return sorted(key for (key,) in world.shell.run("select key from @notifications"))


def cursors(world: World) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in world.shell.run("select name, version from @schedules order by name")]


# Two schedulers


async def test_two_schedulers_at_once_make_each_period_once(here: World, elsewhere: World) -> None:
    names = [f"s{number:02}" for number in range(40)]
    for name in names:
        await here.book.schedules.set(name, **HOURLY)
    for _ in range(3):
        here.clock.advance(HOUR.total_seconds())
        await asyncio.gather(*(work_off(scheduler(world)) for world in (here, elsewhere, here, elsewhere)))
    assert periods(here) == [f"{name}/2030-01-07T{hour}:00" for name in names for hour in (12, 13, 14, 15)]
    assert cursors(here) == [(name, 4) for name in names]
    assert here.shell.value("select count(*) from @missed") == 0


@pytest.mark.parametrize("verb", ["lock_due_schedules", "schedule", "record_missed", "advance_schedules"])
async def test_one_that_dies_before_the_commit_leaves_everything_to_the_next(
    here: World, elsewhere: World, verb: str
) -> None:
    await here.book.schedules.set("a", **HOURLY, most=2)
    here.clock.advance(3 * HOUR.total_seconds())
    here.database.fail(verb)
    with pytest.raises(StoreUnavailable):
        await scheduler(here).step()
    assert (periods(here), cursors(here)) == ([], [("a", 1)])
    await work_off(scheduler(elsewhere))
    assert periods(here) == ["a/2030-01-07T14:00", "a/2030-01-07T15:00"]
    assert here.shell.value("select sum(periods) from @missed") == 2


@pytest.mark.parametrize("when", ["after", "late"])
async def test_one_whose_commit_is_unknown_repeats_nothing(here: World, elsewhere: World, when: Any) -> None:
    await here.book.schedules.set("a", **HOURLY)
    verb = "advance_schedules" if when == "after" else "lock_due_schedules"
    here.database.fail(verb, when)
    with pytest.raises(StoreUnavailable):
        await scheduler(here).step()
    await work_off(scheduler(elsewhere))
    await here.database.deliver()
    await work_off(scheduler(here))
    assert periods(here) == ["a/2030-01-07T12:00"]
    assert cursors(here) == [("a", 2)]
    assert here.shell.value("select count(*) from @missed") == 0


@POSTGRES
async def test_the_locks_of_a_dead_one_hold_up_nobody_and_end_with_its_connection(
    here: World, elsewhere: World
) -> None:
    await here.book.schedules.set("a", **HOURLY)
    await here.book.schedules.set("b", **HOURLY)
    dead = scheduler(here)
    pool = here.database.inner
    async with pool._connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        plan = dead._advance(here.clock.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        await work_off(scheduler(elsewhere))
        assert periods(here) == [], "what is locked is passed by, and what is not committed is not there"
        connection.terminate()
    while not periods(here):
        await work_off(scheduler(elsewhere))
    assert periods(here) == ["a/2030-01-07T12:00", "b/2030-01-07T12:00"]
    assert cursors(here) == [("a", 2), ("b", 2)]


# A scheduler and an owner


async def test_an_edit_just_before_a_scheduler_is_what_it_sees(here: World, elsewhere: World) -> None:
    await here.book.schedules.set("a", **HOURLY)
    held = here.database.hold("lock_due_schedules")

    async def edit() -> None:
        assert held.entered
        await elsewhere.book.schedules.set("a", **{**HOURLY, "recurrence": "30 * * * *"})
        held.open()

    await asyncio.gather(scheduler(here).step(), edit())
    here.clock.advance(HOUR.total_seconds())
    await work_off(scheduler(here))
    assert periods(here) == ["a/2030-01-07T12:00", "a/2030-01-07T12:30"]


@POSTGRES
@pytest.mark.parametrize("wish", ["set", "pause", "remove"])
async def test_an_owner_waits_for_a_scheduler_and_then_finds_its_work_done(
    here: World, elsewhere: World, wish: str
) -> None:
    await here.book.schedules.set("a", **HOURLY)
    room = elsewhere.book.schedules
    calls = {
        "set": lambda: room.set("a", **{**HOURLY, "recurrence": "0,30 * * * *"}),
        "pause": lambda: room.pause("a", reason="on holiday"),
        "remove": lambda: room.remove("a"),
    }
    pool = here.database.inner
    async with pool._connection() as connection, connection.transaction():
        plan = scheduler(here)._advance(here.clock.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        waiting: asyncio.Task[Any] = asyncio.create_task(calls[wish]())
        await somebody_waits_for(connection)
        assert not waiting.done()
    answer = await waiting
    assert answer.result == {"set": "changed", "pause": "paused", "remove": "removed"}[wish]
    assert periods(here) == ["a/2030-01-07T12:00"]
    state = await here.book.find("digest", "a/2030-01-07T12:00")
    assert state is not None
    assert state.state is (State.CANCELLED if wish == "remove" else State.SCHEDULED)
    assert here.shell.value("select count(*) from @missed") == 0


@POSTGRES
@pytest.mark.parametrize("ending", ["commit", "rollback"])
async def test_a_scheduler_passes_by_what_an_owner_is_about_to_remove(
    here: World, elsewhere: World, ending: str
) -> None:
    await here.book.schedules.set("a", **HOURLY)
    pool = here.database.inner
    async with pool._connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        for plan in (here.store.lock_schedules(["a"]), here.store.delete_schedule("a")):
            await drive_async(plan, lambda statement: _execute(connection, statement))
        await work_off(scheduler(elsewhere))
        assert periods(here) == []
        await (transaction.commit() if ending == "commit" else transaction.rollback())
    await work_off(scheduler(elsewhere))
    assert periods(here) == ([] if ending == "commit" else ["a/2030-01-07T12:00"])


async def test_two_who_create_one_schedule_at_once_agree(here: World, elsewhere: World) -> None:
    for number in range(20):
        rivals = [world.book.schedules.set(f"s{number}", **HOURLY) for world in (here, elsewhere)]
        answers = await asyncio.gather(*rivals)
        assert sorted(answer.result for answer in answers) == ["created", "unchanged"]
    assert len(cursors(here)) == 20


# Deadlines


async def pending(world: World) -> Sequence[str]:
    return sorted(n.key for n in await world.book.search() if n.state is State.SCHEDULED)


async def test_of_two_who_set_one_deadline_at_once_the_last_is_reminded_of_alone(here: World, elsewhere: World) -> None:
    for number in range(20):
        key = f"d{number:02}"
        rivals = [
            world.book.deadlines.set("renewal", key, on=on, **RENEWAL)
            for world, on in zip((here, elsewhere, here), DATES, strict=True)
        ]
        answers = await asyncio.gather(*rivals)
        assert sorted(answer.term for answer in answers) == [1, 2, 3]
        assert sorted(answer.result for answer in answers) == ["created", "moved", "moved"]
        last = max(answers, key=lambda answer: answer.term)
        wanted = {f"{key}/3/{step.days}d" for step in last.steps if step.left_out is None}
        assert {name for name in await pending(here) if name.startswith(f"{key}/")} == wanted
        found = await here.book.deadlines.find("renewal", key)
        assert found is not None
        assert found.term == 3


@pytest.mark.parametrize("wish", ["set", "complete"])
async def test_a_deadline_that_changes_as_a_reminder_begins_is_answered_with_the_truth(
    here: World, elsewhere: World, wish: str
) -> None:
    keys = [f"d{number:02}" for number in range(40)]
    for key in keys:
        await here.book.deadlines.set("renewal", key, on=DATES[0], **RENEWAL)
    claimed = await here.claim(kinds=("renewal",))
    assert len(claimed) == 40

    async def change(key: str) -> Any:
        room = elsewhere.book.deadlines
        if wish == "complete":
            return await room.complete("renewal", key)
        return await room.set("renewal", key, on=DATES[2], **RENEWAL)

    async def begin(n: Any) -> set[int]:
        return await here.database.ask(here.store.begin("mail", [intent_of(n, here.clock.now())], here.clock.now()))

    begun_first = 0
    for number, n in enumerate(claimed):
        rivals: list[Any] = [change(n.key.partition("/")[0]), begin(n)]
        done = await asyncio.gather(*(rivals if number % 2 else reversed(rivals)))
        answer, begun = done if number % 2 else reversed(done)
        now = await here.book.find("renewal", n.key)
        assert now is not None
        if begun:
            assert (now.state, answer.too_late, answer.cancelled) == (State.SENDING, 1, 1)
            assert now.cancel_request is not None
        else:
            assert (now.state, answer.too_late, answer.cancelled) == (State.CANCELLED, 0, 2)
        begun_first += bool(begun)
    assert begun_first > 0
    assert not [key for key in await pending(here) if "/1/" in key]


@POSTGRES
async def test_a_step_that_begins_while_its_deadline_moves_counts_as_sent(crew: Crew) -> None:
    crew.channel()
    crew.kind("once", deadline=DeadlinePolicy(days=(7,), repeat=False))
    world = crew.world
    await world.book.deadlines.set("once", "d", on=DATES[0], **RENEWAL)
    await world.claim(kinds=("once",))
    at = "'2030-01-07T12:00:00Z'"
    begun = f"state = 'sending', event = 'begin', version = 3, number = 1, message = '{{}}', begun_at = {at}"

    def begin() -> None:
        world.shell.run(f"update @notifications set {begun}")

    world.database.before("lock_groups", begin)
    answer = await world.book.deadlines.set("once", "d", on=DATES[1], **RENEWAL)
    assert (answer.too_late, [step.left_out for step in answer.steps]) == (1, ["sent already, for the date before"])
    assert await pending(world) == []


@POSTGRES
async def test_forgetting_a_person_withdraws_what_a_scheduler_was_about_to_commit(
    here: World, elsewhere: World
) -> None:
    await here.book.schedules.set("a", **HOURLY)
    pool = here.database.inner
    async with pool._connection() as connection, connection.transaction():
        plan = scheduler(here)._advance(here.clock.now())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        waiting = asyncio.create_task(elsewhere.book.forget("ann"))
        await somebody_waits_for(connection)
    await waiting
    n = await here.book.find("digest", "a/2030-01-07T12:00")
    assert n is not None
    assert n.recipient.startswith("forgotten-")
    assert n.state is State.CANCELLED
    assert cursors(here) == []


@POSTGRES
async def test_forgetting_a_person_withdraws_what_a_deadline_was_about_to_promise(
    here: World, elsewhere: World
) -> None:
    pool = here.database.inner
    await here.book.deadlines.set("renewal", "d", on=DATES[0], **RENEWAL)
    room = Deadlines(Context("test", here.registry.kinds, here.store, here.clock))
    async with pool._connection() as connection, connection.transaction():
        plan = room.set("renewal", "d", on=DATES[1], **RENEWAL).plan(Wakes())
        await drive_async(plan, lambda statement: _execute(connection, statement))
        waiting = asyncio.create_task(elsewhere.book.forget("ann"))
        await somebody_waits_for(connection)
    await waiting
    assert await pending(here) == []
    found = await here.book.deadlines.find("renewal", "d")
    assert found is not None
    assert (found.state, found.term) == ("completed", 2)
