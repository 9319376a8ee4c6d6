"""One identity is one notification, however often and by whomever it is scheduled."""

from __future__ import annotations

import json
from datetime import timedelta

from ....domain.lifecycle import Event, State
from ....domain.walltime import LocalTime, promise
from ....features.drafting import New
from .clauses import Contract, Trial, clause
from .life import names, retry

HOUR = timedelta(hours=1)


class Scheduling(Contract):
    """The verb `schedule`, and who may take an identity again."""

    @clause()
    async def test_a_new_identity_is_created_as_scheduled(self, trial: Trial) -> None:
        created = await trial.schedule("a", due=60)
        n = await trial.read("a")
        assert created == {"a": n.id}
        assert (n.state, n.event, n.version, n.number, n.doubt) == (State.SCHEDULED, Event.SCHEDULE, 1, 0, 0)
        assert (n.wake_at, n.due_at, n.age_from) == (trial.at(60), trial.at(60), None)

    @clause()
    async def test_everything_in_a_draft_comes_back(self, trial: Trial) -> None:
        due = promise(LocalTime(trial.now().replace(tzinfo=None), "America/New_York"))
        draft = trial.draft(
            "a", recipient="Zoë", tenant="acme", group="g:1",
            data='{"id": 7, "deep": {"list": [1.5, null, true, "ü"]}}', promise=due, wake_at=due.due_at,
            expires_at=due.due_at + HOUR, channel="post", namespace="prod",
        )  # fmt: skip
        await trial.do(trial.store.schedule([draft]))
        n = await trial.read("a")
        assert (n.recipient, n.tenant, n.group, n.namespace, n.channel) == ("Zoë", "acme", "g:1", "prod", "post")
        assert (n.due_at, n.wall, n.zone, n.rule) == (due.due_at, due.wall, due.zone, due.rule)
        assert n.tzdata == due.tzdata
        assert n.expires_at == due.due_at + HOUR
        assert json.loads(n.data) == {"id": 7, "deep": {"list": [1.5, None, True, "ü"]}}

    @clause()
    async def test_an_identity_that_exists_is_left_alone_and_not_answered(self, trial: Trial) -> None:
        first = await trial.schedule("a", due=60)
        assert await trial.schedule("a", "b", due=900) == {"b": (await trial.read("b")).id}
        n = await trial.read("a")
        assert (n.id, n.version, n.due_at) == (first["a"], 1, trial.at(60))

    @clause()
    async def test_an_identity_twice_in_one_batch_is_one_notification(self, trial: Trial) -> None:
        drafts = [trial.draft("a", due=60), trial.draft("b"), trial.draft("a", due=900), trial.draft("a", due=60)]
        created = await trial.do(trial.store.schedule(drafts))
        assert names(created) == {"a", "b"}
        assert len(await trial.book.search()) == 2

    @clause()
    async def test_the_same_key_under_two_kinds_is_two_identities(self, trial: Trial) -> None:
        await trial.schedule("a")
        assert await trial.schedule("a", kind="chat")
        assert (await trial.read("a")).id != (await trial.read("a", "chat")).id

    @clause()
    async def test_ids_rise_in_the_order_of_the_batch(self, trial: Trial) -> None:
        created = await trial.schedule("c", "a", "b")
        assert sorted(created, key=created.__getitem__) == ["c", "a", "b"]

    @clause()
    async def test_scheduling_twice_answers_existing_with_the_truth(self, trial: Trial) -> None:
        trial.declare()
        first = await trial.book.schedule("mail", "a", recipient="ann", after=HOUR)
        await trial.bring("b", State.UNCERTAIN)
        again = await trial.book.schedule("mail", "a", recipient="bob", after=HOUR * 2)
        assert (first.created, again.created, again.id, again.due_at) == (True, False, first.id, first.due_at)
        assert (await trial.book.schedule("mail", "b", recipient="ann", after=HOUR)).state is State.UNCERTAIN

    @clause()
    async def test_many_are_answered_in_the_order_they_were_asked(self, trial: Trial) -> None:
        trial.declare()
        await trial.schedule("c")
        news = [New(kind="mail", key=key, recipient="ann", after=HOUR) for key in "dcbda"]
        answers = await trial.book.schedule_many(news)
        assert [(a.key, a.created) for a in answers] == [
            ("d", True), ("c", False), ("b", True), ("d", False), ("a", True),
        ]  # fmt: skip
        assert answers[0].id == answers[3].id

    @clause(
        (State.SCHEDULED, True, State.SCHEDULED),
        (State.CLAIMED, True, State.SCHEDULED),
        (State.CANCELLED, True, State.SCHEDULED),
        (State.SENDING, False, State.SENDING),
        (State.UNCERTAIN, False, State.UNCERTAIN),
        (State.ACCEPTED, False, State.ACCEPTED),
        (State.SKIPPED, False, State.SKIPPED),
        (State.REVIEW, False, State.REVIEW),
    )
    async def test_rearm_takes_back_a_cancelled_one_and_answers_the_truth_otherwise(
        self, trial: Trial, state: State, changed: bool, after: State
    ) -> None:
        before = await trial.bring("a", state)
        answer = await trial.book.schedule("mail", "a", recipient="ann", after=HOUR, data={"new": 1}, if_exists="rearm")
        n = await trial.read("a")
        assert (answer.changed, answer.state, n.state) == (changed, after, after)
        assert n.id == before.id
        assert ("new" in n.data) is changed
        assert (n.due_at == trial.now() + HOUR) is changed

    @clause()
    async def test_one_that_reached_the_wire_is_not_rearmed(self, trial: Trial) -> None:
        trial.declare()
        intent = await trial.sending("a")
        assert (await trial.book.cancel("mail", "a", reason="no")).result == "too_late"
        assert await trial.settle(intent, retry())
        assert await trial.state("a") is State.CANCELLED
        answer = await trial.book.schedule("mail", "a", recipient="ann", after=HOUR, if_exists="rearm")
        assert (answer.changed, answer.state) == (False, State.CANCELLED)
