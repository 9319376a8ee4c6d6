"""What a book makes of its store when it schedules: what is refused whole, and what others do in between."""

from datetime import timedelta

import pytest

from duebook.domain.lifecycle import State
from duebook.errors import AlreadyScheduled
from duebook.features.drafting import New
from tests.support.worlds import World

HOUR = timedelta(hours=1)


async def test_an_identity_without_a_notification_is_still_taken(world: World) -> None:
    await world.schedule("a")
    world.shell.run("delete from @notifications")
    assert await world.schedule("a") == {}


@pytest.mark.parametrize("size", [3, 1_003])
async def test_many_are_all_or_none_when_one_exists_and_the_caller_asked_to_be_told(world: World, size: int) -> None:
    world.declare()
    await world.schedule("k0001")
    news = [New(kind="mail", key=f"k{i:04}", recipient="ann", after=HOUR) for i in range(size)]
    with pytest.raises(AlreadyScheduled):
        await world.book.schedule_many(news, if_exists="raise")
    assert world.shell.value("select count(*) from @notifications") == 1, "some of a refused batch were stored"


async def test_rescheduling_many_locks_in_one_order_however_the_caller_sorts_them(world: World) -> None:
    world.declare()
    await world.schedule("a", "b", "c")
    orders = []
    for keys in ("abc", "cba"):
        world.database.said.clear()
        news = [New(kind="mail", key=key, recipient="ann", after=HOUR) for key in keys]
        await world.book.schedule_many(news, if_exists="reschedule")
        orders.append([said.parameters["key"] for said in world.database.said if said.verb == "lock"])
    assert orders[0] == orders[1], "two callers with the same identities would deadlock"


async def test_an_uncertain_one_answers_its_state_to_if_exists_raise(world: World) -> None:
    world.declare()
    await world.bring("a", State.UNCERTAIN)
    with pytest.raises(AlreadyScheduled, match="uncertain"):
        await world.book.schedule("mail", "a", recipient="ann", after=HOUR, if_exists="raise")


async def test_an_identity_forgotten_between_the_insert_and_the_answer_is_no_crash(world: World) -> None:
    if world.address == ":memory:":
        return  # nobody else can write between two statements
    world.declare()
    await world.schedule("a")

    def prune() -> None:
        world.shell.run("delete from @notifications")
        world.shell.run("delete from @identities")

    world.database.before("read_identities", prune)
    answer = await world.book.schedule("mail", "a", recipient="ann", after=HOUR)
    assert answer.key == "a"
