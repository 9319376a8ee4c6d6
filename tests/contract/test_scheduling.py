import json
from datetime import timedelta

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.walltime import LocalTime, promise
from duebook.errors import AlreadyScheduled
from duebook.features.drafting import New
from tests.support.worlds import World, names, retry, uncertain

HOUR = timedelta(hours=1)


async def test_a_new_identity_is_created_as_scheduled(world: World) -> None:
    created = await world.schedule("a", due=60)
    n = await world.read("a")
    assert created == {"a": n.id}
    assert (n.state, n.event, n.version, n.number, n.doubt) == (State.SCHEDULED, Event.SCHEDULE, 1, 0, 0)
    assert (n.wake_at, n.due_at, n.age_from) == (world.clock.at(60), world.clock.at(60), None)


async def test_everything_in_a_draft_comes_back(world: World) -> None:
    due = promise(LocalTime(world.clock.now().replace(tzinfo=None), "America/New_York"))
    draft = world.draft(
        "a", recipient="Zoë", tenant="acme", group="g:1", data='{"id": 7, "deep": {"list": [1.5, null, true, "ü"]}}',
        promise=due, wake_at=due.due_at, expires_at=due.due_at + HOUR, channel="post", namespace="prod",
    )  # fmt: skip
    await world.do(world.store.schedule([draft]))
    n = await world.read("a")
    assert (n.recipient, n.tenant, n.group, n.namespace, n.channel) == ("Zoë", "acme", "g:1", "prod", "post")
    assert (n.due_at, n.wall, n.zone, n.rule) == (due.due_at, due.wall, due.zone, due.rule)
    assert n.tzdata == due.tzdata
    assert n.expires_at == due.due_at + HOUR
    assert json.loads(n.data) == {"id": 7, "deep": {"list": [1.5, None, True, "ü"]}}


async def test_an_identity_that_exists_is_left_alone_and_not_answered(world: World) -> None:
    first = await world.schedule("a", due=60)
    assert await world.schedule("a", "b", due=900) == {"b": (await world.read("b")).id}
    n = await world.read("a")
    assert (n.id, n.version, n.due_at) == (first["a"], 1, world.clock.at(60))


async def test_an_identity_twice_in_one_batch_is_one_notification(world: World) -> None:
    drafts = [world.draft("a", due=60), world.draft("b"), world.draft("a", due=900), world.draft("a", due=60)]
    created = await world.do(world.store.schedule(drafts))
    assert names(created) == {"a", "b"}
    assert world.shell.value("select count(*) from @notifications") == 2
    assert world.shell.value("select count(*) from @identities") == 2


async def test_the_same_key_under_two_kinds_is_two_identities(world: World) -> None:
    await world.schedule("a")
    assert await world.schedule("a", kind="chat")
    assert (await world.read("a")).id != (await world.read("a", "chat")).id


async def test_ids_rise_in_the_order_of_the_batch(world: World) -> None:
    created = await world.schedule("c", "a", "b")
    assert sorted(created, key=created.__getitem__) == ["c", "a", "b"]


async def test_an_identity_without_a_notification_is_still_taken(world: World) -> None:
    await world.schedule("a")
    world.shell.run("delete from @notifications")
    assert await world.schedule("a") == {}


async def test_scheduling_twice_answers_existing_with_the_truth(world: World) -> None:
    world.declare()
    first = await world.book.schedule("mail", "a", recipient="ann", after=HOUR)
    await world.bring("b", State.UNCERTAIN)
    again = await world.book.schedule("mail", "a", recipient="bob", after=HOUR * 2)
    assert (first.created, again.created, again.id, again.due_at) == (True, False, first.id, first.due_at)
    assert (await world.book.schedule("mail", "b", recipient="ann", after=HOUR)).state is State.UNCERTAIN


async def test_many_are_answered_in_the_order_they_were_asked(world: World) -> None:
    world.declare()
    await world.schedule("c")
    news = [New(kind="mail", key=key, recipient="ann", after=HOUR) for key in "dcbda"]
    answers = await world.book.schedule_many(news)
    assert [(a.key, a.created) for a in answers] == [
        ("d", True), ("c", False), ("b", True), ("d", False), ("a", True),
    ]  # fmt: skip
    assert answers[0].id == answers[3].id


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


@pytest.mark.parametrize(
    ("state", "changed", "after"),
    [
        (State.SCHEDULED, True, State.SCHEDULED),
        (State.CLAIMED, True, State.SCHEDULED),
        (State.CANCELLED, True, State.SCHEDULED),
        (State.SENDING, False, State.SENDING),
        (State.UNCERTAIN, False, State.UNCERTAIN),
        (State.ACCEPTED, False, State.ACCEPTED),
        (State.SKIPPED, False, State.SKIPPED),
        (State.REVIEW, False, State.REVIEW),
    ],
)
async def test_rearm_takes_back_a_cancelled_one_and_answers_the_truth_otherwise(
    world: World, state: State, changed: bool, after: State
) -> None:
    before = await world.bring("a", state)
    answer = await world.book.schedule("mail", "a", recipient="ann", after=HOUR, data={"new": 1}, if_exists="rearm")
    n = await world.read("a")
    assert (answer.changed, answer.state, n.state) == (changed, after, after)
    assert n.id == before.id
    assert ("new" in n.data) is changed
    assert (n.due_at == world.clock.now() + HOUR) is changed


async def test_one_that_reached_the_wire_is_not_rearmed(world: World) -> None:
    world.declare()
    intent = await world.sending("a")
    assert (await world.book.cancel("mail", "a", reason="no")).result == "too_late"
    assert await world.settle(intent, retry())
    assert await world.state("a") is State.CANCELLED
    answer = await world.book.schedule("mail", "a", recipient="ann", after=HOUR, if_exists="rearm")
    assert (answer.changed, answer.state) == (False, State.CANCELLED)


async def test_an_uncertain_one_answers_its_state_to_if_exists_raise(world: World) -> None:
    intent = await world.sending("a")
    await world.settle(intent, uncertain())
    world.declare()
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
