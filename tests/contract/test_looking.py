"""What agents and people see without changing anything."""

from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.policy import Priority
from duebook.domain.recovery import Evidence
from duebook.domain.story import Sight
from tests.support.worlds import EPOCH, LEASE, QUIET, World, moved


async def test_peek_answers_when_the_next_one_wants_to_be_claimed(world: World) -> None:
    async def peek(channel: str = "mail", kinds: tuple[str, ...] = ("mail",)) -> float | None:
        at = await world.do(world.store.peek(channel, kinds, EPOCH))
        return (at - world.clock.now()).total_seconds() if at else None

    assert await peek() is None
    await world.schedule("a", due=60, priority=Priority.BULK)
    assert await peek() == 60
    await world.schedule("b", due=30, priority=Priority.URGENT)
    await world.schedule("c", due=5, kind="chat")
    await world.schedule("d", due=1, channel="push")
    assert (await peek(), await peek(kinds=("mail", "chat")), await peek("push"), await peek(kinds=())) == (
        30, 5, 1, None,
    )  # fmt: skip


async def test_peek_sees_a_suspect_whatever_the_floor(world: World) -> None:
    n = await world.claimed("a")
    past = world.clock.now() - timedelta(hours=1)
    await world.apply(moved(n, Event.LOSE, world.clock.now(), wake_at=past, alone=True))
    assert await world.do(world.store.peek("mail", ["mail"], world.clock.now())) == past


async def test_one_look_sees_what_every_agent_has_to_do(world: World) -> None:
    channels, kinds = ("mail", "push", "post"), ("mail",)
    assert await world.do(world.store.look(channels, kinds)) == Sight(
        dict.fromkeys(channels), dict.fromkeys(channels), None, None, None, None
    )
    now = world.clock.now()
    await world.bring("u", State.UNCERTAIN)
    await world.claimed("held")
    await world.schedule("a", due=60, expires_at=world.clock.at(90))
    await world.schedule("b", due=20, channel="push", priority=Priority.URGENT)
    await world.schedule("c", due=1, channel="push", kind="unknown")
    await world.bring("r", State.REVIEW)
    n = await world.claimed("suspect", channel="post")
    await world.apply(moved(n, Event.LOSE, now, wake_at=world.clock.at(2), alone=True))
    u = await world.read("u")
    await world.do(world.store.record_evidence([Evidence(u.id, 1, now, "late_report", "unknown")]))
    sight = await world.do(world.store.look(channels, kinds))
    assert sight.wakes == {"mail": world.clock.at(60), "push": world.clock.at(20), "post": None}
    assert sight.suspects == {"mail": None, "push": None, "post": world.clock.at(2)}
    assert (sight.lease, sight.expiry, sight.attention, sight.evidence) == (
        world.clock.at(LEASE), world.clock.at(90), now + QUIET, now,
    )  # fmt: skip


async def test_the_backlog_counts_what_waits_and_how_old_the_oldest_is(world: World) -> None:
    await world.bring("u", State.UNCERTAIN)
    world.clock.advance(10)
    await world.bring("r", State.REVIEW)
    await world.bring("x", State.ACCEPTED)
    await world.claimed("held")
    world.clock.advance(LEASE + 1)
    await world.sending("wire")
    await world.schedule("due", due=-100)
    await world.schedule("later", due=60)
    backlog = await world.do(world.store.read_backlog(world.clock.now()))
    assert (backlog.due, backlog.in_flight, backlog.expired_leases, backlog.uncertain, backlog.review) == (
        1,
        2,
        1,
        1,
        1,
    )
    assert backlog.oldest_due_at == world.clock.now() - timedelta(seconds=100)
    assert backlog.oldest_uncertain_at == world.clock.now() - timedelta(seconds=26)
    assert backlog.oldest_review_at == world.clock.now() - timedelta(seconds=16)
    assert backlog.next_wake_at == world.clock.at(60)


async def test_states_are_counted_by_kind_and_channel_and_closed_ones_are_not(world: World) -> None:
    await world.bring("x", State.ACCEPTED)
    await world.schedule("a", "b", due=60)
    await world.schedule("c", due=30, kind="chat", channel="push")
    counted = await world.do(world.store.count_states())
    assert [(kind, channel, state, count) for kind, channel, state, count, _ in counted] == [
        ("chat", "push", State.SCHEDULED, 1), ("mail", "mail", State.SCHEDULED, 2),
    ]  # fmt: skip
    assert counted[1][4] == world.clock.at(60)


async def test_lateness_is_from_the_promise_to_the_last_begin(world: World) -> None:
    await world.do(world.store.register_kinds([world.declare()], world.clock.now()))
    await world.bring("a", State.ACCEPTED, due=-7)
    await world.bring("b", State.SKIPPED, due=-7)
    since = world.clock.now()
    assert await world.do(world.store.read_lateness(since, 10)) == [timedelta(seconds=7)]
    assert await world.do(world.store.read_lateness(since + timedelta(seconds=1), 10)) == []


async def test_worthless_ones_are_found_only_while_scheduled(world: World) -> None:
    until = world.clock.at(60)
    await world.schedule("a", "b", due=10, expires_at=until)
    await world.claimed("held", expires_at=until)
    await world.schedule("for ever")
    found = [await world.do(world.store.lock_worthless(at, 10)) for at in (world.clock.at(59), until)]
    assert [[n.key for n in some] for some in found] == [[], ["a", "b"]]


@pytest.mark.parametrize(("seconds", "found"), [(-0.000001, []), (0, ["u"])])
async def test_uncertain_ones_are_found_once_their_quiet_time_is_over(
    world: World, seconds: float, found: list[str]
) -> None:
    await world.bring("u", State.UNCERTAIN)
    await world.bring("r", State.REVIEW)
    at = world.clock.now() + QUIET + timedelta(seconds=seconds)
    assert [n.key for n in await world.do(world.store.lock_uncertain(["mail"], at, 10))] == found


async def test_a_search_goes_page_by_page_newest_first(world: World) -> None:
    await world.schedule(*"abcdef")
    first = await world.book.search(limit=4)
    second = await world.book.search(limit=4, before=first[-1].id)
    assert [n.key for n in first + second] == list("fedcba")


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"kind": "chat"}, {"c"}),
        ({"state": "accepted"}, {"x"}),
        ({"channel": "push"}, {"c"}),
        ({"tenant": "acme"}, {"t"}),
        ({"kind": "mail", "state": "scheduled"}, {"a", "t"}),
        ({"recipient": "bob"}, {"a"}),
        ({"recipient": "ann", "state": "accepted"}, {"x"}),
        ({"recipient": "bob", "kind": "chat"}, set()),
        ({"recipient": "nobody"}, set()),
        ({"kind": "%"}, set()),
    ],
)
async def test_a_search_filters(world: World, filters: dict[str, Any], found: set[str]) -> None:
    await world.bring("x", State.ACCEPTED)
    await world.schedule("a", recipient="bob")
    await world.schedule("t", tenant="acme")
    await world.schedule("c", kind="chat", channel="push")
    assert {n.key for n in await world.book.search(**filters)} == found


async def test_an_address_is_found_in_stored_messages_and_is_no_pattern(world: World) -> None:
    await world.bring("sent", State.ACCEPTED)
    await world.schedule("to", recipient="ANN@example.org")
    assert {n.key for n in await world.book.search_address("ann@Example.org")} == {"sent", "to"}
    assert await world.book.search_address("a_n@example.org") == []


async def test_a_story_tells_everything_about_one_identity(world: World) -> None:
    world.declare()
    n = await world.doubted("a", None)
    story = await world.story("a")
    assert story.notification == n
    assert (story.identity.notification_id, story.identity.state, story.pruned) == (n.id, State.SCHEDULED, 0)
    assert [a.outcome for a in story.attempts] == ["uncertain"]
    assert [e.event for e in story.history] == ["resolve_resend"]
    assert await world.do(world.store.read_story("mail", "never")) is None


async def test_kinds_are_noted_and_noted_again(world: World) -> None:
    mail = world.declare(priority=Priority.BULK)
    await world.do(world.store.register_kinds([mail, world.declare("chat")], world.clock.now()))
    later = world.clock.advance(60)
    await world.do(world.store.register_kinds([world.declare(channel="push")], later))
    await world.do(world.store.register_kinds([], later))
    found = await world.do(world.store.read_kinds())
    assert [(k.kind, k.channel, k.priority, k.seen_at == later) for k in found] == [
        ("chat", "mail", Priority.NORMAL, False), ("mail", "push", Priority.NORMAL, True),
    ]  # fmt: skip


async def test_the_schema_version_is_read(world: World) -> None:
    assert await world.do(world.store.read_schema()) == 1
