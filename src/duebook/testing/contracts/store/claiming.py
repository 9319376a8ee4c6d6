"""Who gets what is due, in which order, and what nobody gets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ....domain.lifecycle import Event, State
from ....domain.notification import Notification
from ....domain.policy import Priority
from .clauses import Contract, Trial, clause
from .life import EPOCH, moved

U, N, B = Priority.URGENT, Priority.NORMAL, Priority.BULK


def keys(found: Sequence[Notification]) -> list[str]:
    return [n.key for n in found]


async def fill(trial: Trial) -> None:
    """Three of each class, the older ones later in the alphabet and with the lower ids."""
    for name, priority in (("u", U), ("n", N), ("b", B)):
        for i in (3, 2, 1):
            await trial.schedule(f"{name}{i}", due=-10 * i, priority=priority)


class Claiming(Contract):
    """The verb `claim`."""

    @clause(
        ((9, 9, 9), {"u1", "u2", "u3", "n1", "n2", "n3", "b1", "b2", "b3"}),
        ((2, 1, 1), {"u3", "u2", "n3", "b3"}),
        ((0, 2, 0), {"n3", "n2"}),
        ((0, 0, 1), {"b3"}),
        ((0, 0, 0), set()),
    )
    async def test_each_class_yields_its_oldest_up_to_its_limit(
        self, trial: Trial, limits: tuple[int, int, int], expected: set[str]
    ) -> None:
        await fill(trial)
        assert set(keys(await trial.claim(limits=limits))) == expected

    @clause()
    async def test_a_claim_holds_under_a_lease_and_a_holder(self, trial: Trial) -> None:
        await trial.schedule("a")
        trial.advance(1)
        (n,) = await trial.claim(holder="worker-7", lease=15)
        assert n == await trial.read("a")
        assert (n.state, n.event, n.version, n.holder) == (State.CLAIMED, Event.CLAIM, 2, "worker-7")
        assert (n.lease_until, n.wake_at, n.moved_at) == (trial.at(15), None, trial.now())

    @clause()
    async def test_nothing_is_claimed_before_it_is_due_or_twice(self, trial: Trial) -> None:
        await trial.schedule("now", "also")
        await trial.schedule("later", due=0.000001)
        assert set(keys(await trial.claim())) == {"now", "also"}
        assert await trial.claim() == []
        trial.advance(0.000001)
        assert keys(await trial.claim()) == ["later"]

    @clause()
    async def test_a_claim_looks_no_further_back_than_its_floor(self, trial: Trial) -> None:
        await fill(trial)
        assert set(keys(await trial.claim(floor=trial.now() - timedelta(seconds=20)))) == {
            "u1", "u2", "n1", "n2", "b1", "b2",
        }  # fmt: skip
        assert set(keys(await trial.claim(floor=EPOCH))) == {"u3", "n3", "b3"}

    @clause((("mail",), ["a"]), (("chat",), ["b"]), (("mail", "chat"), ["a", "b"]), ((), []))
    async def test_only_kinds_this_process_serves_are_claimed(
        self, trial: Trial, kinds: Sequence[str], expected: list[str]
    ) -> None:
        await trial.schedule("a")
        await trial.schedule("b", kind="chat")
        assert keys(await trial.claim(kinds=kinds)) == expected

    @clause()
    async def test_only_its_own_channel_is_claimed(self, trial: Trial) -> None:
        await trial.schedule("a")
        await trial.schedule("b", channel="push")
        assert keys(await trial.claim(channel="push")) == ["b"]

    @clause(
        ("everything", []),
        ("channel:mail", []),
        ("kind:mail", ["b"]),
        ("kind:chat", ["a"]),
        ("channel:push", ["a", "b"]),
        ("channel:mai", ["a", "b"]),
    )
    async def test_what_is_paused_is_not_claimed_until_it_is_resumed(
        self, trial: Trial, scope: str, claimable: list[str]
    ) -> None:
        await trial.schedule("a")
        await trial.schedule("b", kind="chat")
        await trial.do(trial.store.set_pause(scope, True, "maintenance", "ops", trial.now()))
        assert keys(await trial.claim(kinds=("mail", "chat"))) == claimable
        await trial.do(trial.store.set_pause(scope, False, "done", "ops", trial.now()))
        assert keys(await trial.claim(kinds=("mail", "chat"))) == [key for key in "ab" if key not in claimable]

    @clause()
    async def test_a_throttled_channel_is_not_claimed_until_its_time_is_over(self, trial: Trial) -> None:
        await trial.schedule("a")
        await trial.do(trial.store.throttle("mail", trial.at(30), "429", "worker-1", trial.now()))
        assert await trial.claim() == []
        trial.advance(29.999999)
        assert await trial.claim() == []
        trial.advance(0.000001)
        assert keys(await trial.claim()) == ["a"]

    @clause()
    async def test_a_suspect_travels_alone_and_only_where_nothing_else_is_due(self, trial: Trial) -> None:
        for key in ("s1", "s2"):
            n = await trial.claimed(key)
            await trial.apply(moved(n, Event.LOSE, trial.now(), wake_at=trial.now(), alone=True))
        await trial.schedule("a")
        assert keys(await trial.claim()) == ["a"], "a suspect must not share a batch"
        assert await trial.claim(alone=0) == []
        first = await trial.claim(limits=(0, 0, 0))
        assert (len(first), first[0].alone) == (1, True)
        second = await trial.claim()
        assert {*keys(first), *keys(second)} == {"s1", "s2"}
        assert await trial.claim() == []

    @clause()
    async def test_a_suspect_that_is_moved_on_is_no_suspect_any_more(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        await trial.apply(moved(n, Event.LOSE, trial.now(), wake_at=trial.now(), alone=True))
        (n,) = await trial.claim()
        await trial.apply(moved(n, Event.DEFER, trial.now(), wake_at=trial.now(), reason="not now"))
        assert not (await trial.read("a")).alone

    @clause(*[state for state in State if state is not State.SCHEDULED])
    async def test_nothing_but_scheduled_is_claimed(self, trial: Trial, state: State) -> None:
        await trial.bring("a", state)
        trial.advance(10_000)
        assert await trial.claim() == []
