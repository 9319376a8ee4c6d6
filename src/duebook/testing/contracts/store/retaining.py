"""Retention: each part has its own age, an identity outlives them all, and nothing open is ever touched."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from ....domain.lifecycle import CLOSED, Event, State
from ....domain.outcome import Accepted
from ....domain.policy import Kind, Retention
from ....domain.recovery import Evidence
from .clauses import Contract, Trial, clause
from .life import moved, retry, uncertain

DAY = 86_400.0

KEEP = Retention(timedelta(days=1), timedelta(days=2), timedelta(days=3), timedelta(days=5))


async def closed(trial: Trial, key: str = "a") -> Kind:
    """One that was retried, redriven and accepted: it has a message, attempts, history and evidence."""
    kind = trial.declare(retention=KEEP, keep_copy="full")
    await trial.doubted(key, retry())
    trial.advance(60)
    (n,) = await trial.claim()
    (intent,) = await trial.begin(n)
    await trial.settle(intent, Accepted("p-1"))
    await trial.do(trial.store.record_evidence([Evidence(n.id, 1, trial.now(), "late_report", "unknown")]))
    return kind


async def prune(trial: Trial, kind: Kind, limit: int = 10) -> int:
    gone = await trial.do(trial.store.prune(kind, trial.now(), limit))
    return gone + await trial.do(trial.store.prune_identities(kind, trial.now(), limit))


FORGOTTEN: Sequence[tuple[State, State]] = [
    (State.SCHEDULED, State.CANCELLED),
    (State.CLAIMED, State.CANCELLED),
    (State.REVIEW, State.CANCELLED),
    (State.SENDING, State.SENDING),
    (State.UNCERTAIN, State.UNCERTAIN),
    (State.ACCEPTED, State.ACCEPTED),
    (State.SKIPPED, State.SKIPPED),
]


class Retaining(Contract):
    """The verbs `prune`, `prune_identities` and `forget`."""

    @clause()
    async def test_each_part_goes_at_its_own_age(self, trial: Trial) -> None:
        kind = await closed(trial)
        seen = []
        for _ in range(6):
            await prune(trial, kind)
            found = await trial.do(trial.store.read_story("mail", "a"))
            if found is None:
                seen.append("forgotten")
            elif found.notification is None:
                seen.append(f"identity only, pruned {found.pruned}")
            else:
                body = "body" if found.notification.message else "no body"
                records = (len(found.attempts), len(found.history) > 0, len(found.evidence))
                seen.append(f"{body}, {records}, pruned {found.pruned}")
            trial.advance(DAY + 1)
        assert seen == [
            "body, (3, True, 1), pruned 0",
            "no body, (3, True, 1), pruned 1",
            "no body, (0, False, 0), pruned 2",
            "identity only, pruned 3",
            "identity only, pruned 3",
            "forgotten",
        ]

    @clause()
    async def test_an_identity_outlives_its_notification_and_remembers_the_end(self, trial: Trial) -> None:
        kind = await closed(trial)
        ended = await trial.read("a")
        trial.advance(3 * DAY + 1)
        for _ in range(3):
            await prune(trial, kind)
        identity = (await trial.story("a")).identity
        assert (identity.state, identity.due_at, identity.closed_at, identity.recipient, identity.provider_id) == (
            State.ACCEPTED, ended.due_at, ended.closed_at, "ann", "p-1",
        )  # fmt: skip
        assert await trial.schedule("a") == {}
        answer = await trial.book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1))
        assert (answer.created, answer.state) == (False, State.ACCEPTED)

    @clause()
    async def test_a_kind_without_a_stated_memory_never_forgets(self, trial: Trial) -> None:
        await closed(trial)
        kind = trial.declare(retention=Retention(timedelta(0), timedelta(0), timedelta(0)))
        trial.advance(1)
        for _ in range(3):
            await prune(trial, kind)
        trial.advance(10_000 * DAY)
        await prune(trial, kind)
        assert (await trial.story("a")).notification is None

    @clause(*[state for state in State if state not in CLOSED])
    async def test_nothing_open_is_ever_pruned_however_old(self, trial: Trial, state: State) -> None:
        await trial.bring("a", state)
        await trial.bring("old", State.SKIPPED)
        before = await trial.story("a")
        kind = trial.declare(retention=Retention(timedelta(0), timedelta(0), timedelta(0), timedelta(0)))
        trial.advance(10_000 * DAY)
        for _ in range(4):
            await prune(trial, kind)
        assert await trial.story("a") == before
        assert await trial.do(trial.store.read_story("mail", "old")) is None

    @clause()
    async def test_pruning_is_bounded_oldest_first_and_only_its_kind(self, trial: Trial) -> None:
        kind = trial.declare(retention=KEEP)
        for key in "abc":
            await trial.bring(key, State.SKIPPED)
            trial.advance(60)
        await trial.bring("chat", State.SKIPPED, kind="chat")
        trial.advance(DAY + 60)
        assert await prune(trial, kind, 2) == 2
        assert [(await trial.story(key)).pruned for key in "abc"] == [1, 1, 0]
        assert (await trial.story("chat", "chat")).pruned == 0

    @clause()
    async def test_one_that_is_rearmed_is_whole_again(self, trial: Trial) -> None:
        kind = trial.declare(retention=KEEP)
        await trial.bring("a", State.CANCELLED)
        trial.advance(DAY + 1)
        await prune(trial, kind)
        assert (await trial.story("a")).pruned == 1
        await trial.book.schedule("mail", "a", recipient="ann", after=timedelta(0), data={"n": 1}, if_exists="rearm")
        story = await trial.story("a")
        assert story.pruned == 0
        trial.advance(100 * DAY)
        await prune(trial, kind)
        assert (await trial.read("a")).data != "{}"

    @clause(*FORGOTTEN)
    async def test_a_forgotten_person_leaves_the_fact(self, trial: Trial, state: State, after: State) -> None:
        trial.declare(keep_copy="full")
        await trial.bring("a", state, recipient="ann@example.org", data='{"name": "Ann"}')
        await trial.schedule("b", recipient="bob@example.org", data='{"name": "Bob"}')
        assert await trial.book.forget("ann@example.org") == 1
        n = await trial.read("a")
        assert (n.state, n.data, n.recipient.startswith("forgotten-")) == (after, "{}", True)
        if state not in (State.SENDING, State.UNCERTAIN):
            assert "ann@example.org" not in str(await trial.story("a"))
        assert (await trial.read("b")).data != "{}"
        assert await trial.book.forget("ann@example.org") == 0

    @clause(State.SENDING, State.UNCERTAIN)
    async def test_what_is_on_the_wire_when_a_person_is_forgotten_does_not_come_back_to_be_sent(
        self, trial: Trial, state: State
    ) -> None:
        """Its data is gone, so a repeat would go to an alias with an empty body; and she asked to be left alone."""
        trial.declare()
        intent = await trial.sending("a")
        if state is State.UNCERTAIN:
            await trial.settle(intent, uncertain())
        await trial.book.forget("ann")
        if state is State.SENDING:
            await trial.settle(intent, retry())
        else:
            now = trial.now()
            n = await trial.read("a")
            await trial.apply(moved(n, Event.REPEAT, now, wake_at=now, doubt=0, reason="absent"))
        assert await trial.state("a") is State.CANCELLED

    @clause()
    async def test_a_forgotten_message_does_not_outlive_its_sending(self, trial: Trial) -> None:
        trial.declare(keep_copy="full")
        intent = await trial.sending("a", recipient="ann@example.org")
        await trial.book.forget("ann@example.org")
        await trial.settle(intent, Accepted("p-1"))
        assert "ann@example.org" not in str((await trial.read("a")).message)
