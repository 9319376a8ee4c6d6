"""Lease, holder and version: who may still write about a notification."""

import json
from datetime import timedelta

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Move
from tests.support.worlds import LEASE, World, intent_of, moved, uncertain


async def test_begin_records_the_message_before_anything_is_sent(world: World) -> None:
    n = await world.claimed("a")
    world.clock.advance(1)
    (intent,) = await world.begin(n, text="Hello, Zoë 👋")
    now = await world.read("a")
    assert (now.state, now.version, now.number, now.holder) == (State.SENDING, n.version + 1, 1, n.holder)
    assert now.message is not None
    assert json.loads(now.message)["text"] == "Hello, Zoë 👋"
    assert now.begun_at == now.first_begun_at == now.rendered_at == world.clock.now()
    assert (now.lease_until, intent.version) == (n.lease_until, now.version)


async def test_begin_is_fenced_by_the_version(world: World) -> None:
    n = await world.claimed("a")
    assert await world.begin(n._replace(version=n.version - 1)) == []
    assert await world.begin(n._replace(version=n.version + 1)) == []
    assert await world.begin(n)
    assert await world.begin(n) == []
    assert (await world.read("a")).number == 1


@pytest.mark.parametrize(("elapsed", "begins"), [(LEASE - 0.000001, True), (LEASE, False), (LEASE + 60, False)])
async def test_begin_is_fenced_by_a_lease_that_still_runs(world: World, elapsed: float, begins: bool) -> None:
    n = await world.claimed("a")
    world.clock.advance(elapsed)
    assert bool(await world.begin(n)) is begins
    assert await world.state("a") is (State.SENDING if begins else State.CLAIMED)


@pytest.mark.parametrize(
    ("scope", "begins"),
    [("everything", False), ("channel:mail", False), ("kind:mail", False), ("channel:push", True), ("kind:chat", True)],
)
async def test_a_pause_is_heard_by_what_is_claimed_already(world: World, scope: str, begins: bool) -> None:
    n = await world.claimed("a")
    await world.do(world.store.set_pause(scope, True, "stop", "ops", world.clock.now()))
    assert bool(await world.begin(n)) is begins, "book.pause says: nothing of it begins until it is resumed"


async def test_a_throttle_is_heard_by_what_is_claimed_already(world: World) -> None:
    n = await world.claimed("a")
    await world.do(world.store.throttle("mail", world.clock.at(5), "429", "worker-2", world.clock.now()))
    assert await world.begin(n) == []
    world.clock.advance(5)
    assert await world.begin(n)


async def test_begin_takes_what_it_can_of_a_batch(world: World) -> None:
    await world.schedule("a", "b", "c")
    a, b, c = await world.claim()
    await world.apply(moved(b, Event.CANCEL, world.clock.now(), reason="read"))
    stored = await world.begin(c, b, a)
    assert {intent.id for intent in stored} == {a.id, c.id}


async def test_extend_is_no_transition(world: World) -> None:
    n = await world.claimed("a")
    intent = await world.sending("b")
    world.clock.advance(10)
    held = [(n.id, n.version), (intent.id, intent.version)]
    assert await world.do(world.store.extend(held, world.clock.now(), world.clock.at(LEASE))) == {n.id, intent.id}
    for key, before in (("a", n), ("b", None)):
        now = await world.read(key)
        assert now.lease_until == world.clock.at(LEASE)
        if before is not None:
            assert now._replace(lease_until=before.lease_until) == before


async def test_a_lease_that_ran_out_or_was_taken_is_not_extended(world: World) -> None:
    await world.schedule("gone", "late", "held")
    gone, late, held = await world.claim()
    await world.apply(moved(gone, Event.RESCHEDULE, world.clock.now(), wake_at=world.clock.now()))
    world.shell.run(f"update @notifications set lease_until = '2030-01-07T12:00:05.000000Z' where id = {late.id}")
    world.clock.advance(5)
    asked = [(n.id, n.version) for n in (held, gone, late)]
    assert await world.do(world.store.extend(asked, world.clock.now(), world.clock.at(LEASE))) == {held.id}


STALE: dict[str, tuple[State, Event]] = {
    "accept": (State.SENDING, Event.ACCEPT),
    "reject": (State.SENDING, Event.REJECT),
    "retry": (State.SENDING, Event.RETRY),
    "throttle": (State.SENDING, Event.THROTTLE),
    "time out": (State.SENDING, Event.TIME_OUT),
    "exhaust": (State.SENDING, Event.EXHAUST),
    "lose": (State.SENDING, Event.LOSE),
    "skip": (State.CLAIMED, Event.SKIP),
    "defer": (State.CLAIMED, Event.DEFER),
    "cancel": (State.CLAIMED, Event.CANCEL),
    "reschedule": (State.SCHEDULED, Event.RESCHEDULE),
    "expire": (State.SCHEDULED, Event.EXPIRE),
    "confirm": (State.UNCERTAIN, Event.CONFIRM),
    "repeat": (State.UNCERTAIN, Event.REPEAT),
    "redrive": (State.REVIEW, Event.REDRIVE),
    "drop": (State.REVIEW, Event.DROP),
    "rearm": (State.CANCELLED, Event.REARM),
}


def the_move(world: World, n: object, event: Event) -> Move:
    changes = {}
    if event in (Event.ACCEPT, Event.CONFIRM):
        changes["basis"] = "reported"
    return moved(n, event, world.clock.now(), reason="stale", wake_at=world.clock.now(), **changes)


@pytest.mark.parametrize("name", STALE)
async def test_a_write_from_another_version_changes_nothing(world: World, name: str) -> None:
    state, event = STALE[name]
    n = await world.bring("a", state)
    before = await world.story("a")
    move = the_move(world, n, event)
    for off in (-1, 1):
        assert await world.apply(move._replace(version=move.version + off)) == {}
        assert await world.story("a") == before


async def test_a_stale_worker_learns_which_of_its_writes_held(world: World) -> None:
    await world.schedule("a", "b")
    a, b = await world.claim()
    moves = [moved(n, Event.SKIP, world.clock.now(), reason="read") for n in (b, a)]
    await world.apply(moved(a, Event.CANCEL, world.clock.now(), reason="withdrawn"))
    assert await world.apply(*moves) == {b.id: State.SKIPPED}
    assert await world.state("a") is State.CANCELLED


@pytest.mark.parametrize("verb", ["begin", "extend", "postpone"])
async def test_no_other_verb_writes_from_an_old_version(world: World, verb: str) -> None:
    n = await world.bring("a", State.UNCERTAIN if verb == "postpone" else State.CLAIMED)
    before = await world.story("a")
    old = (n.id, n.version - 1)
    now, until = world.clock.now(), world.clock.at(600)
    if verb == "begin":
        await world.do(world.store.begin("mail", [intent_of(n._replace(version=n.version - 1), now)], now))
    elif verb == "extend":
        await world.do(world.store.extend([old], now, until))
    else:
        await world.do(world.store.postpone([(*old, until)]))
    assert await world.story("a") == before


async def test_postpone_is_no_transition_and_only_for_what_is_open(world: World) -> None:
    uncertain_one = await world.bring("a", State.UNCERTAIN)
    closed = await world.bring("b", State.ACCEPTED)
    later = world.clock.at(3600)
    await world.do(world.store.postpone([(n.id, n.version, later) for n in (closed, uncertain_one)]))
    assert await world.read("a") == uncertain_one._replace(attention_at=later)
    assert await world.read("b") == closed


@pytest.mark.parametrize(("grace", "found"), [(0.0, ["c", "s"]), (0.000001, [])])
async def test_expired_leases_are_found_whatever_they_were_held_for(
    world: World, grace: float, found: list[str]
) -> None:
    await world.claimed("c")
    await world.sending("s")
    before = world.clock.at(LEASE + 0.000001) - timedelta(seconds=grace)
    lost = await world.do(world.store.lock_expired_leases(before, 10))
    assert sorted(n.key for n in lost) == found


async def test_the_message_of_a_doubtful_attempt_stays_while_it_goes_out_again(world: World) -> None:
    intent = await world.sending("a")
    await world.settle(intent, uncertain())
    await world.apply(
        moved(await world.read("a"), Event.RESOLVE_RESEND, world.clock.now(), wake_at=world.clock.now(), permit="ruled")
    )
    world.clock.advance(5)
    (n,) = await world.claim()
    (again,) = await world.begin(n, text="Something else")
    assert (again.message, again.rendered_at, again.number) == (intent.message, intent.rendered_at, 2)
    now = await world.read("a")
    assert (now.message, now.first_begun_at) == (intent.message, intent.at)
