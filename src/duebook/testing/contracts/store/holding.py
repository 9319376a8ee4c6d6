"""Lease, holder and version: who may still write about a notification."""

from __future__ import annotations

import json
from datetime import timedelta

from ....domain.lifecycle import Event, State
from ....domain.notification import Move
from .clauses import Contract, Trial, clause
from .life import LEASE_SECONDS, intent_of, moved, uncertain

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


def the_move(trial: Trial, n: object, event: Event) -> Move:
    changes = {}
    if event in (Event.ACCEPT, Event.CONFIRM):
        changes["basis"] = "reported"
    return moved(n, event, trial.now(), reason="stale", wake_at=trial.now(), **changes)


class Holding(Contract):
    """The verbs `begin`, `extend`, `apply` and `postpone`, and their fence."""

    @clause()
    async def test_begin_records_the_message_before_anything_is_sent(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        trial.advance(1)
        (intent,) = await trial.begin(n, text="Hello, Zoë 👋")
        now = await trial.read("a")
        assert (now.state, now.version, now.number, now.holder) == (State.SENDING, n.version + 1, 1, n.holder)
        assert now.message is not None
        assert json.loads(now.message)["text"] == "Hello, Zoë 👋"
        assert now.begun_at == now.first_begun_at == now.rendered_at == trial.now()
        assert (now.lease_until, intent.version) == (n.lease_until, now.version)

    @clause()
    async def test_begin_is_fenced_by_the_version(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        assert await trial.begin(n._replace(version=n.version - 1)) == []
        assert await trial.begin(n._replace(version=n.version + 1)) == []
        assert await trial.begin(n)
        assert await trial.begin(n) == []
        assert (await trial.read("a")).number == 1

    @clause((LEASE_SECONDS - 0.000001, True), (LEASE_SECONDS, False), (LEASE_SECONDS + 60, False))
    async def test_begin_is_fenced_by_a_lease_that_still_runs(self, trial: Trial, elapsed: float, begins: bool) -> None:
        n = await trial.claimed("a")
        trial.advance(elapsed)
        assert bool(await trial.begin(n)) is begins
        assert await trial.state("a") is (State.SENDING if begins else State.CLAIMED)

    @clause(
        ("everything", False),
        ("channel:mail", False),
        ("kind:mail", False),
        ("channel:push", True),
        ("kind:chat", True),
    )
    async def test_a_pause_is_heard_by_what_is_claimed_already(self, trial: Trial, scope: str, begins: bool) -> None:
        n = await trial.claimed("a")
        await trial.do(trial.store.set_pause(scope, True, "stop", "ops", trial.now()))
        assert bool(await trial.begin(n)) is begins, "book.pause says: nothing of it begins until it is resumed"

    @clause()
    async def test_a_throttle_is_heard_by_what_is_claimed_already(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        await trial.do(trial.store.throttle("mail", trial.at(5), "429", "worker-2", trial.now()))
        assert await trial.begin(n) == []
        trial.advance(5)
        assert await trial.begin(n)

    @clause()
    async def test_begin_takes_what_it_can_of_a_batch(self, trial: Trial) -> None:
        await trial.schedule("a", "b", "c")
        a, b, c = await trial.claim()
        await trial.apply(moved(b, Event.CANCEL, trial.now(), reason="read"))
        stored = await trial.begin(c, b, a)
        assert {intent.id for intent in stored} == {a.id, c.id}

    @clause()
    async def test_extend_is_no_transition(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        intent = await trial.sending("b")
        trial.advance(10)
        held = [(n.id, n.version), (intent.id, intent.version)]
        assert await trial.do(trial.store.extend(held, trial.now(), trial.at(LEASE_SECONDS))) == {n.id, intent.id}
        for key, before in (("a", n), ("b", None)):
            now = await trial.read(key)
            assert now.lease_until == trial.at(LEASE_SECONDS)
            if before is not None:
                assert now._replace(lease_until=before.lease_until) == before

    @clause()
    async def test_a_lease_that_ran_out_or_was_taken_is_not_extended(self, trial: Trial) -> None:
        gone, held = await trial.claimed("gone"), await trial.claimed("held")
        await trial.schedule("late")
        (late,) = await trial.claim(lease=5)
        await trial.apply(moved(gone, Event.RESCHEDULE, trial.now(), wake_at=trial.now()))
        trial.advance(5)
        asked = [(n.id, n.version) for n in (held, gone, late)]
        assert await trial.do(trial.store.extend(asked, trial.now(), trial.at(LEASE_SECONDS))) == {held.id}

    @clause(*STALE)
    async def test_a_write_from_another_version_changes_nothing(self, trial: Trial, name: str) -> None:
        state, event = STALE[name]
        n = await trial.bring("a", state)
        before = await trial.story("a")
        move = the_move(trial, n, event)
        for off in (-1, 1):
            assert await trial.apply(move._replace(version=move.version + off)) == {}
            assert await trial.story("a") == before

    @clause()
    async def test_a_stale_worker_learns_which_of_its_writes_held(self, trial: Trial) -> None:
        await trial.schedule("a", "b")
        a, b = await trial.claim()
        moves = [moved(n, Event.SKIP, trial.now(), reason="read") for n in (b, a)]
        await trial.apply(moved(a, Event.CANCEL, trial.now(), reason="withdrawn"))
        assert await trial.apply(*moves) == {b.id: State.SKIPPED}
        assert await trial.state("a") is State.CANCELLED

    @clause("begin", "extend", "postpone")
    async def test_no_other_verb_writes_from_an_old_version(self, trial: Trial, verb: str) -> None:
        n = await trial.bring("a", State.UNCERTAIN if verb == "postpone" else State.CLAIMED)
        before = await trial.story("a")
        old = (n.id, n.version - 1)
        now, until = trial.now(), trial.at(600)
        if verb == "begin":
            await trial.do(trial.store.begin("mail", [intent_of(n._replace(version=n.version - 1), now)], now))
        elif verb == "extend":
            await trial.do(trial.store.extend([old], now, until))
        else:
            await trial.do(trial.store.postpone([(*old, until)]))
        assert await trial.story("a") == before

    @clause()
    async def test_postpone_is_no_transition_and_only_for_what_is_open(self, trial: Trial) -> None:
        uncertain_one = await trial.bring("a", State.UNCERTAIN)
        closed = await trial.bring("b", State.ACCEPTED)
        later = trial.at(3600)
        await trial.do(trial.store.postpone([(n.id, n.version, later) for n in (closed, uncertain_one)]))
        assert await trial.read("a") == uncertain_one._replace(attention_at=later)
        assert await trial.read("b") == closed

    @clause((0.0, ["c", "s"]), (0.000001, []))
    async def test_expired_leases_are_found_whatever_they_were_held_for(
        self, trial: Trial, grace: float, found: list[str]
    ) -> None:
        await trial.claimed("c")
        await trial.sending("s")
        before = trial.at(LEASE_SECONDS + 0.000001) - timedelta(seconds=grace)
        lost = await trial.do(trial.store.lock_expired_leases(before, 10))
        assert sorted(n.key for n in lost) == found

    @clause()
    async def test_the_message_of_a_doubtful_attempt_stays_while_it_goes_out_again(self, trial: Trial) -> None:
        intent = await trial.sending("a")
        await trial.settle(intent, uncertain())
        await trial.apply(
            moved(await trial.read("a"), Event.RESOLVE_RESEND, trial.now(), wake_at=trial.now(), permit="ruled")
        )
        trial.advance(5)
        (n,) = await trial.claim()
        (again,) = await trial.begin(n, text="Something else")
        assert (again.message, again.rendered_at, again.number) == (intent.message, intent.rendered_at, 2)
        now = await trial.read("a")
        assert (now.message, now.first_begun_at) == (intent.message, intent.at)
