"""Recipients who are not to be asked too much, and channels that want less: attention and probes."""

from __future__ import annotations

from datetime import timedelta

from ....domain import attention
from ....domain.attention import Attention
from ....domain.lifecycle import Event, State
from ....domain.notification import Intent, Notification
from ....domain.outcome import Accepted, Outcome, Rejected, Throttled
from ....domain.policy import AttentionLimit
from .clauses import Contract, Trial, clause
from .controlling import CHANNEL, controls
from .life import intent_of, moved, uncertain

A_MINUTE = AttentionLimit("a-minute", 2, timedelta(minutes=1))
TAKEN: dict[str, Outcome | None] = {"on the wire": None, "accepted": Accepted("p-1"), "uncertain": uncertain()}
NOT_TAKEN: dict[str, Outcome | None] = {"rejected": Rejected("no such mailbox"), "throttled": Throttled("429")}


async def read(trial: Trial, n: Notification, limit: AttentionLimit = A_MINUTE) -> Attention:
    return (await trial.do(trial.store.read_attention({n.id: (n.recipient, limit)}, trial.now())))[n.id]


async def begin(trial: Trial, n: Notification, known: Attention) -> Intent | None:
    """Begin by what was known when it was decided; None where the store refused."""
    intent = attention.taken(intent_of(n, trial.now()), known)
    return intent if await trial.do(trial.store.begin("mail", [intent], trial.now())) else None


class Sparing(Contract):
    """What takes a recipient's attention, and who tries out a throttled channel."""

    @clause(*TAKEN, *NOT_TAKEN)
    async def test_what_may_have_reached_somebody_took_their_attention(self, trial: Trial, end: str) -> None:
        n, other = await trial.claimed("a"), await trial.claimed("b")
        assert await read(trial, n) == Attention(A_MINUTE, 0, [])
        at = trial.now()
        intent = await begin(trial, n, await read(trial, n))
        assert intent is not None
        outcome = {**TAKEN, **NOT_TAKEN}[end]
        if outcome is not None:
            await trial.settle(intent, outcome)
        assert await read(trial, other) == Attention(A_MINUTE, 1, [at] if end in TAKEN else [])
        assert (await read(trial, n)).taken == [], "it does not stand in its own way"
        trial.advance(60)
        assert (await read(trial, other)).taken == []

    @clause()
    async def test_of_two_that_knew_the_same_one_begins(self, trial: Trial) -> None:
        a, b = await trial.claimed("a"), await trial.claimed("b")
        known = await read(trial, a)
        assert await begin(trial, a, known)
        assert await begin(trial, b, known) is None
        assert await trial.state("b") is State.CLAIMED
        assert await begin(trial, b, await read(trial, b))
        late = await trial.claimed("c")
        assert len((await read(trial, late)).taken) == 2

    @clause()
    async def test_of_two_in_one_batch_the_first_begins(self, trial: Trial) -> None:
        a, b = await trial.claimed("a"), await trial.claimed("b")
        known = await read(trial, a)
        intents = [attention.taken(intent_of(n, trial.now()), known) for n in (a, b)]
        assert await trial.do(trial.store.begin("mail", intents, trial.now())) == {a.id}

    @clause()
    async def test_others_and_other_limits_have_room_of_their_own(self, trial: Trial) -> None:
        ann, bob = await trial.claimed("a"), await trial.claimed("b", recipient="bob")
        assert await begin(trial, ann, await read(trial, ann))
        assert await read(trial, bob) == Attention(A_MINUTE, 0, [])
        late = await trial.claimed("c")
        assert (await read(trial, late, AttentionLimit("another", 1))).taken == []

    @clause()
    async def test_what_cannot_begin_takes_nothing_of_anybody(self, trial: Trial) -> None:
        a = await trial.claimed("a")
        known = await read(trial, a)
        await trial.apply(moved(a, Event.CANCEL, trial.now(), reason="read"))
        assert await begin(trial, a, known) is None
        assert (await read(trial, await trial.claimed("b"))).taken == []

    @clause()
    async def test_one_worker_tries_out_a_channel_that_has_rested(self, trial: Trial) -> None:
        async def take(holder: str) -> bool:
            return await trial.do(trial.store.take_probe("mail", holder, trial.now(), trial.at(30)))

        assert await take("one") is False
        await trial.do(trial.store.throttle("mail", trial.at(10), "429", "one", trial.now()))
        assert await take("one") is False
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) == "open"
        trial.advance(10)
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) == "waiting"
        assert [await take(holder) for holder in ("one", "two", "one")] == [True, False, True]
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) == "probing"
        trial.advance(30)
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) == "waiting"
        assert await take("two") is True

    @clause()
    async def test_relief_ends_a_throttle_that_has_run_out_and_no_other(self, trial: Trial) -> None:
        await trial.do(trial.store.throttle("mail", trial.at(10), "429", "one", trial.now()))
        await trial.do(trial.store.relieve("mail", trial.now()))
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) == "open"
        trial.advance(10)
        await trial.do(trial.store.take_probe("mail", "one", trial.now(), trial.at(30)))
        await trial.do(trial.store.relieve("mail", trial.now()))
        assert (await controls(trial))[CHANNEL].throttle(trial.now()) is None
