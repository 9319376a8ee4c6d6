"""Retention: each part has its own age, an identity outlives them all, and nothing open is ever touched."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from duebook.domain.lifecycle import CLOSED, Event, State
from duebook.domain.outcome import Accepted
from duebook.domain.policy import Kind, Retention
from duebook.domain.recovery import Evidence
from tests.support.worlds import World, moved, retry, uncertain

DAY = 86_400.0
KEEP = Retention(timedelta(days=1), timedelta(days=2), timedelta(days=3), timedelta(days=5))


async def closed(world: World, key: str = "a") -> Kind:
    """One that was retried, redriven and accepted: it has a message, attempts, history and evidence."""
    kind = world.declare(retention=KEEP, keep_copy="full")
    await world.doubted(key, retry())
    world.clock.advance(60)
    (n,) = await world.claim()
    (intent,) = await world.begin(n)
    await world.settle(intent, Accepted("p-1"))
    await world.do(world.store.record_evidence([Evidence(n.id, 1, world.clock.now(), "late_report", "unknown")]))
    return kind


async def prune(world: World, kind: Kind, limit: int = 10) -> int:
    gone = await world.do(world.store.prune(kind, world.clock.now(), limit))
    return gone + await world.do(world.store.prune_identities(kind, world.clock.now(), limit))


async def test_each_part_goes_at_its_own_age(world: World) -> None:
    kind = await closed(world)
    seen = []
    for _ in range(6):
        await prune(world, kind)
        found = await world.do(world.store.read_story("mail", "a"))
        if found is None:
            seen.append("forgotten")
        elif found.notification is None:
            seen.append(f"identity only, pruned {found.pruned}")
        else:
            body = "body" if found.notification.message else "no body"
            records = (len(found.attempts), len(found.history) > 0, len(found.evidence))
            seen.append(f"{body}, {records}, pruned {found.pruned}")
        world.clock.advance(DAY + 1)
    assert seen == [
        "body, (3, True, 1), pruned 0",
        "no body, (3, True, 1), pruned 1",
        "no body, (0, False, 0), pruned 2",
        "identity only, pruned 3",
        "identity only, pruned 3",
        "forgotten",
    ]


async def test_an_identity_outlives_its_notification_and_remembers_the_end(world: World) -> None:
    kind = await closed(world)
    ended = await world.read("a")
    world.clock.advance(3 * DAY + 1)
    for _ in range(3):
        await prune(world, kind)
    identity = (await world.story("a")).identity
    assert (identity.state, identity.due_at, identity.closed_at, identity.recipient, identity.provider_id) == (
        State.ACCEPTED, ended.due_at, ended.closed_at, "ann", "p-1",
    )  # fmt: skip
    assert await world.schedule("a") == {}
    answer = await world.book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))
    assert (answer.created, answer.state) == (False, State.ACCEPTED)
    assert world.shell.value("select count(*) from @attempts") == 0
    assert world.shell.value("select count(*) from @history") == 0


async def test_a_kind_without_a_stated_memory_never_forgets(world: World) -> None:
    await closed(world)
    kind = world.declare(retention=Retention(timedelta(0), timedelta(0), timedelta(0)))
    world.clock.advance(1)
    for _ in range(3):
        await prune(world, kind)
    world.clock.advance(10_000 * DAY)
    await prune(world, kind)
    assert (await world.story("a")).notification is None


@pytest.mark.parametrize("state", [state for state in State if state not in CLOSED])
async def test_nothing_open_is_ever_pruned_however_old(world: World, state: State) -> None:
    await world.bring("a", state)
    await world.bring("old", State.SKIPPED)
    before = await world.story("a")
    kind = world.declare(retention=Retention(timedelta(0), timedelta(0), timedelta(0), timedelta(0)))
    world.clock.advance(10_000 * DAY)
    for _ in range(4):
        await prune(world, kind)
    assert await world.story("a") == before
    assert await world.do(world.store.read_story("mail", "old")) is None


async def test_pruning_is_bounded_oldest_first_and_only_its_kind(world: World) -> None:
    kind = world.declare(retention=KEEP)
    for key in "abc":
        await world.bring(key, State.SKIPPED)
        world.clock.advance(60)
    await world.bring("chat", State.SKIPPED, kind="chat")
    world.clock.advance(DAY + 60)
    assert await prune(world, kind, 2) == 2
    assert [(await world.story(key)).pruned for key in "abc"] == [1, 1, 0]
    assert (await world.story("chat", "chat")).pruned == 0


async def test_one_that_is_rearmed_is_whole_again(world: World) -> None:
    kind = world.declare(retention=KEEP)
    await world.bring("a", State.CANCELLED)
    world.clock.advance(DAY + 1)
    await prune(world, kind)
    assert (await world.story("a")).pruned == 1
    await world.book.schedule("mail", "a", recipient="ann", after=timedelta(0), data={"n": 1}, if_exists="rearm")
    story = await world.story("a")
    assert story.pruned == 0
    world.clock.advance(100 * DAY)
    await prune(world, kind)
    assert (await world.read("a")).data != "{}"


FORGOTTEN: Sequence[tuple[State, State]] = [
    (State.SCHEDULED, State.CANCELLED),
    (State.CLAIMED, State.CANCELLED),
    (State.REVIEW, State.CANCELLED),
    (State.SENDING, State.SENDING),
    (State.UNCERTAIN, State.UNCERTAIN),
    (State.ACCEPTED, State.ACCEPTED),
    (State.SKIPPED, State.SKIPPED),
]


@pytest.mark.parametrize(("state", "after"), FORGOTTEN)
async def test_a_forgotten_person_leaves_the_fact_and_nothing_else(world: World, state: State, after: State) -> None:
    world.declare(keep_copy="full")
    await world.bring("a", state, recipient="ann@example.org", data='{"name": "Ann"}')
    await world.schedule("b", recipient="bob@example.org", data='{"name": "Bob"}')
    assert await world.book.forget("ann@example.org") == 1
    n = await world.read("a")
    assert (n.state, n.data, n.recipient.startswith("forgotten-")) == (after, "{}", True)
    on_record = "".join(str(world.shell.run(f"select * from @{table}")) for table in (
        "notifications", "identities", "attempts", "history", "evidence",
    ))  # fmt: skip
    if state not in (State.SENDING, State.UNCERTAIN):
        assert "ann@example.org" not in on_record
    assert "bob@example.org" in on_record
    assert (await world.read("b")).data != "{}"
    assert await world.book.forget("ann@example.org") == 0


@pytest.mark.parametrize("state", [State.SENDING, State.UNCERTAIN])
async def test_what_is_on_the_wire_when_a_person_is_forgotten_does_not_come_back_to_be_sent(
    world: World, state: State
) -> None:
    """Its data is gone, so a repeat would go to an alias with an empty body; and she asked to be left alone."""
    world.declare()
    intent = await world.sending("a")
    if state is State.UNCERTAIN:
        await world.settle(intent, uncertain())
    await world.book.forget("ann")
    if state is State.SENDING:
        await world.settle(intent, retry())
    else:
        now = world.clock.now()
        n = await world.read("a")
        await world.apply(moved(n, Event.REPEAT, now, wake_at=now, doubt=0, reason="absent"))
    assert await world.state("a") is State.CANCELLED


async def test_a_forgotten_message_does_not_outlive_its_sending(world: World) -> None:
    world.declare(keep_copy="full")
    intent = await world.sending("a", recipient="ann@example.org")
    await world.book.forget("ann@example.org")
    await world.settle(intent, Accepted("p-1"))
    on_record = str(world.shell.run("select message from @notifications"))
    assert "ann@example.org" not in on_record
