from collections.abc import Sequence
from datetime import timedelta

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Notification
from duebook.domain.policy import Priority
from tests.support.worlds import EPOCH, World, moved

U, N, B = Priority.URGENT, Priority.NORMAL, Priority.BULK


def keys(found: Sequence[Notification]) -> list[str]:
    return [n.key for n in found]


async def fill(world: World) -> None:
    """Three of each class, the older ones later in the alphabet and with the lower ids."""
    for name, priority in (("u", U), ("n", N), ("b", B)):
        for i in (3, 2, 1):
            await world.schedule(f"{name}{i}", due=-10 * i, priority=priority)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((9, 9, 9), {"u1", "u2", "u3", "n1", "n2", "n3", "b1", "b2", "b3"}),
        ((2, 1, 1), {"u3", "u2", "n3", "b3"}),
        ((0, 2, 0), {"n3", "n2"}),
        ((0, 0, 1), {"b3"}),
        ((0, 0, 0), set()),
    ],
)
async def test_each_class_yields_its_oldest_up_to_its_limit(
    world: World, limits: tuple[int, int, int], expected: set[str]
) -> None:
    await fill(world)
    assert set(keys(await world.claim(limits=limits))) == expected


async def test_a_claim_holds_under_a_lease_and_a_holder(world: World) -> None:
    await world.schedule("a")
    world.clock.advance(1)
    (n,) = await world.claim(holder="worker-7", lease=15)
    assert n == await world.read("a")
    assert (n.state, n.event, n.version, n.holder) == (State.CLAIMED, Event.CLAIM, 2, "worker-7")
    assert (n.lease_until, n.wake_at, n.moved_at) == (world.clock.at(15), None, world.clock.now())


async def test_nothing_is_claimed_before_it_is_due_or_twice(world: World) -> None:
    await world.schedule("now", "also")
    await world.schedule("later", due=0.000001)
    assert set(keys(await world.claim())) == {"now", "also"}
    assert await world.claim() == []
    world.clock.advance(0.000001)
    assert keys(await world.claim()) == ["later"]


async def test_a_claim_looks_no_further_back_than_its_floor(world: World) -> None:
    await fill(world)
    assert set(keys(await world.claim(floor=world.clock.now() - timedelta(seconds=20)))) == {
        "u1", "u2", "n1", "n2", "b1", "b2",
    }  # fmt: skip
    assert set(keys(await world.claim(floor=EPOCH))) == {"u3", "n3", "b3"}


@pytest.mark.parametrize(
    ("kinds", "expected"), [(("mail",), ["a"]), (("chat",), ["b"]), (("mail", "chat"), ["a", "b"]), ((), [])]
)
async def test_only_kinds_this_process_serves_are_claimed(
    world: World, kinds: Sequence[str], expected: list[str]
) -> None:
    await world.schedule("a")
    await world.schedule("b", kind="chat")
    assert keys(await world.claim(kinds=kinds)) == expected


async def test_only_its_own_channel_is_claimed(world: World) -> None:
    await world.schedule("a")
    await world.schedule("b", channel="push")
    assert keys(await world.claim(channel="push")) == ["b"]


@pytest.mark.parametrize(
    ("scope", "claimable"),
    [
        ("everything", []),
        ("channel:mail", []),
        ("kind:mail", ["b"]),
        ("kind:chat", ["a"]),
        ("channel:push", ["a", "b"]),
        ("channel:mai", ["a", "b"]),
    ],
)
async def test_what_is_paused_is_not_claimed_until_it_is_resumed(
    world: World, scope: str, claimable: list[str]
) -> None:
    await world.schedule("a")
    await world.schedule("b", kind="chat")
    await world.do(world.store.set_pause(scope, True, "maintenance", "ops", world.clock.now()))
    assert keys(await world.claim(kinds=("mail", "chat"))) == claimable
    await world.do(world.store.set_pause(scope, False, "done", "ops", world.clock.now()))
    assert keys(await world.claim(kinds=("mail", "chat"))) == [key for key in "ab" if key not in claimable]


async def test_a_throttled_channel_is_not_claimed_until_its_time_is_over(world: World) -> None:
    await world.schedule("a")
    await world.do(world.store.throttle("mail", world.clock.at(30), "429", "worker-1", world.clock.now()))
    assert await world.claim() == []
    world.clock.advance(29.999999)
    assert await world.claim() == []
    world.clock.advance(0.000001)
    assert keys(await world.claim()) == ["a"]


async def test_a_suspect_travels_alone_and_only_where_nothing_else_is_due(world: World) -> None:
    for key in ("s1", "s2"):
        n = await world.claimed(key)
        await world.apply(moved(n, Event.LOSE, world.clock.now(), wake_at=world.clock.now(), alone=True))
    await world.schedule("a")
    assert keys(await world.claim()) == ["a"], "a suspect must not share a batch"
    assert await world.claim(alone=0) == []
    first = await world.claim(limits=(0, 0, 0))
    assert (len(first), first[0].alone) == (1, True)
    second = await world.claim()
    assert {*keys(first), *keys(second)} == {"s1", "s2"}
    assert await world.claim() == []


async def test_a_suspect_that_is_moved_on_is_no_suspect_any_more(world: World) -> None:
    n = await world.claimed("a")
    await world.apply(moved(n, Event.LOSE, world.clock.now(), wake_at=world.clock.now(), alone=True))
    (n,) = await world.claim()
    await world.apply(moved(n, Event.DEFER, world.clock.now(), wake_at=world.clock.now(), reason="not now"))
    assert not (await world.read("a")).alone


@pytest.mark.parametrize("state", [state for state in State if state is not State.SCHEDULED])
async def test_nothing_but_scheduled_is_claimed(world: World, state: State) -> None:
    await world.bring("a", state)
    world.clock.advance(10_000)
    assert await world.claim() == []
