"""What agents and people see without changing anything."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ....domain.lifecycle import Event, State
from ....domain.policy import Priority
from ....domain.recovery import Evidence
from .clauses import Contract, Trial, clause
from .life import EPOCH, LEASE_SECONDS, QUIET, moved


class Looking(Contract):
    """The verbs that look, search, list and count."""

    @clause()
    async def test_peek_answers_when_the_next_one_wants_to_be_claimed(self, trial: Trial) -> None:
        async def peek(channel: str = "mail", kinds: tuple[str, ...] = ("mail",)) -> float | None:
            at = await trial.do(trial.store.peek(channel, kinds, EPOCH))
            return (at - trial.now()).total_seconds() if at else None

        assert await peek() is None
        await trial.schedule("a", due=60, priority=Priority.BULK)
        assert await peek() == 60
        await trial.schedule("b", due=30, priority=Priority.URGENT)
        await trial.schedule("c", due=5, kind="chat")
        await trial.schedule("d", due=1, channel="push")
        assert (await peek(), await peek(kinds=("mail", "chat")), await peek("push"), await peek(kinds=())) == (
            30, 5, 1, None,
        )  # fmt: skip

    @clause()
    async def test_peek_sees_a_suspect_whatever_the_floor(self, trial: Trial) -> None:
        n = await trial.claimed("a")
        past = trial.now() - timedelta(hours=1)
        await trial.apply(moved(n, Event.LOSE, trial.now(), wake_at=past, alone=True))
        assert await trial.do(trial.store.peek("mail", ["mail"], trial.now())) == past

    @clause()
    async def test_one_look_sees_what_every_agent_has_to_do(self, trial: Trial) -> None:
        channels, kinds = ("mail", "push", "post"), ("mail",)
        sight = await trial.do(trial.store.look(channels, kinds))
        assert sight.wakes == sight.suspects == dict.fromkeys(channels)
        assert (sight.lease, sight.expiry, sight.attention, sight.evidence) == (None, None, None, None)
        now = trial.now()
        await trial.bring("u", State.UNCERTAIN)
        await trial.claimed("held")
        await trial.schedule("a", due=60, expires_at=trial.at(90))
        await trial.schedule("b", due=20, channel="push", priority=Priority.URGENT)
        await trial.schedule("c", due=1, channel="push", kind="unknown")
        await trial.bring("r", State.REVIEW)
        n = await trial.claimed("suspect", channel="post")
        await trial.apply(moved(n, Event.LOSE, now, wake_at=trial.at(2), alone=True))
        u = await trial.read("u")
        await trial.do(trial.store.record_evidence([Evidence(u.id, 1, now, "late_report", "unknown")]))
        sight = await trial.do(trial.store.look(channels, kinds))
        assert sight.wakes == {"mail": trial.at(60), "push": trial.at(20), "post": None}
        assert sight.suspects == {"mail": None, "push": None, "post": trial.at(2)}
        assert (sight.lease, sight.expiry, sight.attention, sight.evidence) == (
            trial.at(LEASE_SECONDS), trial.at(90), now + QUIET, now,
        )  # fmt: skip

    @clause()
    async def test_the_backlog_counts_what_waits_and_how_old_the_oldest_is(self, trial: Trial) -> None:
        await trial.bring("u", State.UNCERTAIN)
        trial.advance(10)
        await trial.bring("r", State.REVIEW)
        await trial.bring("x", State.ACCEPTED)
        await trial.claimed("held")
        trial.advance(LEASE_SECONDS + 1)
        await trial.sending("wire")
        await trial.schedule("due", due=-100)
        await trial.schedule("later", due=60)
        backlog = await trial.do(trial.store.read_backlog(trial.now()))
        assert (backlog.due, backlog.in_flight, backlog.expired_leases, backlog.uncertain, backlog.review) == (
            1,
            2,
            1,
            1,
            1,
        )
        assert backlog.oldest_due_at == trial.now() - timedelta(seconds=100)
        assert backlog.oldest_uncertain_at == trial.now() - timedelta(seconds=26)
        assert backlog.oldest_review_at == trial.now() - timedelta(seconds=16)
        assert backlog.next_wake_at == trial.at(60)

    @clause()
    async def test_states_are_counted_by_kind_and_channel_and_closed_ones_are_not(self, trial: Trial) -> None:
        await trial.bring("x", State.ACCEPTED)
        await trial.schedule("a", "b", due=60)
        await trial.schedule("c", due=30, kind="chat", channel="push")
        counted = await trial.do(trial.store.count_states())
        assert [(kind, channel, state, count) for kind, channel, state, count, _ in counted] == [
            ("chat", "push", State.SCHEDULED, 1), ("mail", "mail", State.SCHEDULED, 2),
        ]  # fmt: skip
        assert counted[1][4] == trial.at(60)

    @clause()
    async def test_lateness_is_from_the_promise_to_the_last_begin(self, trial: Trial) -> None:
        await trial.do(trial.store.register_kinds([trial.declare()], trial.now()))
        await trial.bring("a", State.ACCEPTED, due=-7)
        await trial.bring("b", State.SKIPPED, due=-7)
        since = trial.now()
        assert await trial.do(trial.store.read_lateness(since, 10)) == [timedelta(seconds=7)]
        assert await trial.do(trial.store.read_lateness(since + timedelta(seconds=1), 10)) == []

    @clause()
    async def test_worthless_ones_are_found_only_while_scheduled(self, trial: Trial) -> None:
        until = trial.at(60)
        await trial.schedule("a", "b", due=10, expires_at=until)
        await trial.claimed("held", expires_at=until)
        await trial.schedule("for ever")
        found = [await trial.do(trial.store.lock_worthless(at, 10)) for at in (trial.at(59), until)]
        assert [[n.key for n in some] for some in found] == [[], ["a", "b"]]

    @clause((-0.000001, []), (0, ["u"]))
    async def test_uncertain_ones_are_found_once_their_quiet_time_is_over(
        self, trial: Trial, seconds: float, found: list[str]
    ) -> None:
        await trial.bring("u", State.UNCERTAIN)
        await trial.bring("r", State.REVIEW)
        at = trial.now() + QUIET + timedelta(seconds=seconds)
        assert [n.key for n in await trial.do(trial.store.lock_uncertain(["mail"], at, 10))] == found

    @clause()
    async def test_a_search_goes_page_by_page_newest_first(self, trial: Trial) -> None:
        await trial.schedule(*"abcdef")
        first = await trial.book.search(limit=4)
        second = await trial.book.search(limit=4, before=first[-1].id)
        assert [n.key for n in first + second] == list("fedcba")

    @clause(
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
    )
    async def test_a_search_filters(self, trial: Trial, filters: dict[str, Any], found: set[str]) -> None:
        await trial.bring("x", State.ACCEPTED)
        await trial.schedule("a", recipient="bob")
        await trial.schedule("t", tenant="acme")
        await trial.schedule("c", kind="chat", channel="push")
        assert {n.key for n in await trial.book.search(**filters)} == found

    @clause()
    async def test_an_address_is_found_in_stored_messages_and_is_no_pattern(self, trial: Trial) -> None:
        await trial.bring("sent", State.ACCEPTED)
        await trial.schedule("to", recipient="ANN@example.org")
        assert {n.key for n in await trial.book.search_address("ann@Example.org")} == {"sent", "to"}
        assert await trial.book.search_address("a_n@example.org") == []

    @clause()
    async def test_a_story_tells_everything_about_one_identity(self, trial: Trial) -> None:
        trial.declare()
        n = await trial.doubted("a", None)
        story = await trial.story("a")
        assert story.notification == n
        assert (story.identity.notification_id, story.identity.state, story.pruned) == (n.id, State.SCHEDULED, 0)
        assert [a.outcome for a in story.attempts] == ["uncertain"]
        assert [e.event for e in story.history] == ["resolve_resend"]
        assert await trial.do(trial.store.read_story("mail", "never")) is None

    @clause()
    async def test_kinds_are_noted_and_noted_again(self, trial: Trial) -> None:
        mail = trial.declare(priority=Priority.BULK)
        await trial.do(trial.store.register_kinds([mail, trial.declare("chat")], trial.now()))
        later = trial.advance(60)
        await trial.do(trial.store.register_kinds([trial.declare(channel="push")], later))
        await trial.do(trial.store.register_kinds([], later))
        found = await trial.do(trial.store.read_kinds())
        assert [(k.kind, k.channel, k.priority, k.seen_at == later) for k in found] == [
            ("chat", "mail", Priority.NORMAL, False), ("mail", "push", Priority.NORMAL, True),
        ]  # fmt: skip
