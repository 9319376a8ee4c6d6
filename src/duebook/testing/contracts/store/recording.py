"""What is written beside a move: the ledger, the history, the wish of an owner, and later evidence."""

from __future__ import annotations

from ....domain.lifecycle import Event, State
from ....domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from ....domain.recovery import Evidence, lose
from .clauses import Contract, Trial, clause
from .life import QUIET, moved, retry, uncertain

ENDS: list[tuple[Outcome, State, str]] = [
    (Accepted("p-1"), State.ACCEPTED, "accepted"),
    (Rejected("550 no such user"), State.REVIEW, "rejected"),
    (Retry("451 later"), State.SCHEDULED, "retry"),
    (Throttled("429 slow down"), State.SCHEDULED, "throttled"),
    (Uncertain("no reply", "data"), State.UNCERTAIN, "uncertain"),
]

WAYS_BACK = {
    "retry": (State.SENDING, State.CANCELLED),
    "throttle": (State.SENDING, State.CANCELLED),
    "reject": (State.SENDING, State.CANCELLED),
    "accept": (State.SENDING, State.ACCEPTED),
    "time out": (State.SENDING, State.UNCERTAIN),
    "absence": (State.UNCERTAIN, State.CANCELLED),
    "disprove": (State.UNCERTAIN, State.CANCELLED),
    "confirm": (State.UNCERTAIN, State.ACCEPTED),
    "resend while in doubt": (State.UNCERTAIN, State.UNCERTAIN),
}

OUTCOMES: dict[str, Outcome] = {
    "retry": Retry("later"), "throttle": Throttled(), "reject": Rejected("no"), "accept": Accepted(),
    "time out": Uncertain("silence"),
}  # fmt: skip


def report(id: int, trial: Trial, number: int = 1, says: str = "accepted", source: str = "late_report") -> Evidence:
    return Evidence(id, number, trial.now(), source, says, "p-9", "250 ok")  # type: ignore[arg-type]


class Recording(Contract):
    """The ledger, the history, wishes and evidence."""

    @clause(*ENDS)
    async def test_an_outcome_moves_the_row_and_fills_the_ledger(
        self, trial: Trial, outcome: Outcome, state: State, name: str
    ) -> None:
        intent = await trial.sending("a")
        trial.advance(2)
        assert await trial.settle(intent, outcome)
        story = await trial.story("a")
        n, (attempt,) = story.notification, story.attempts
        assert n is not None
        assert (n.state, n.holder, n.lease_until) == (state, None, None)
        assert (attempt.number, attempt.outcome, attempt.holder) == (1, name, "worker-1")
        assert (attempt.begun_at, attempt.ended_at) == (intent.at, trial.now())
        assert attempt.reason == getattr(outcome, "reason", None) == n.reason
        assert (n.doubt, n.provider_id) == (int(state is State.UNCERTAIN), getattr(outcome, "provider_id", None))
        assert story.history == []

    @clause()
    async def test_numbers_of_attempts_have_no_gaps_whatever_happened_in_between(self, trial: Trial) -> None:
        trial.declare()
        n = await trial.claimed("a")
        for outcome in (retry(), Throttled(), Rejected("no")):
            (intent,) = await trial.begin(n)
            await trial.settle(intent, outcome)
            if isinstance(outcome, Rejected):
                await trial.book.redrive("mail", "a", reason="address corrected", force=True)
            trial.advance(60)
            (n,) = await trial.claim()
            await trial.apply(moved(n, Event.DEFER, trial.now(), wake_at=trial.now(), reason="quiet"))
            (n,) = await trial.claim()
        (intent,) = await trial.begin(n)
        await trial.apply(lose(await trial.read("a"), 5, trial.now(), "rescuer", QUIET))
        story = await trial.story("a")
        assert [a.number for a in story.attempts] == [1, 2, 3, 4]
        assert [a.outcome for a in story.attempts] == ["retry", "throttled", "rejected", "lost"]
        assert (await trial.read("a")).number == 4

    @clause()
    async def test_every_move_that_is_no_attempt_is_in_the_history(self, trial: Trial) -> None:
        trial.declare()
        n = await trial.claimed("a")
        await trial.apply(moved(n, Event.DEFER, trial.now(), wake_at=trial.now(), reason="quiet", by="lane"))
        trial.advance(1)
        await trial.book.send_now("mail", "a")
        await trial.book.cancel("mail", "a", reason="read")
        entries = (await trial.story("a")).history
        assert [(e.version, e.by, e.event, e.state, e.next, e.reason) for e in entries] == [
            (3, "lane", "defer", "claimed", "scheduled", "quiet"),
            (4, "app", "reschedule", "scheduled", "scheduled", "sent now on its owner's wish"),
            (5, "app", "cancel", "scheduled", "cancelled", "read"),
        ]
        assert entries[1].at == trial.now()

    @clause()
    async def test_a_batch_of_moves_records_each_with_its_own(self, trial: Trial) -> None:
        await trial.schedule("a", "b", "c")
        a, b, c = await trial.claim()
        assert await trial.begin(b)
        await trial.apply(
            lose(await trial.read("b"), 5, trial.now(), "rescuer", QUIET),
            moved(c, Event.SKIP, trial.now(), reason="read"),
            moved(a, Event.REJECT, trial.now(), reason="broken"),
        )
        stories = {key: await trial.story(key) for key in "abc"}
        assert {key: len(story.attempts) for key, story in stories.items()} == {"a": 0, "b": 1, "c": 0}
        assert {key: [e.event for e in story.history] for key, story in stories.items()} == {
            "a": ["reject"], "b": [], "c": ["skip"],
        }  # fmt: skip

    @clause(*WAYS_BACK)
    async def test_a_cancel_that_came_too_late_is_honoured_on_every_way_back(self, trial: Trial, way: str) -> None:
        trial.declare()
        start, end = WAYS_BACK[way]
        intent = await trial.sending("a")
        if start is State.UNCERTAIN:
            await trial.settle(intent, uncertain())
        answer = await trial.book.cancel("mail", "a", reason="she read it")
        assert (answer.result, answer.state, bool(answer)) == ("too_late", start, False)
        n = await trial.read("a")
        assert n.cancel_request == "she read it"
        now = trial.now()
        if way in OUTCOMES:
            await trial.settle(intent, OUTCOMES[way])
        elif way == "absence":
            await trial.apply(moved(n, Event.REPEAT, now, reason="absent", wake_at=now, doubt=0))
        elif way == "disprove":
            await trial.apply(moved(n, Event.DISPROVE, now, reason="bounced", doubt=0))
        elif way == "confirm":
            await trial.apply(moved(n, Event.CONFIRM, now, reason="receipt", basis="evidence", doubt=0))
        else:
            await trial.book.resolve("mail", "a", "resend", reason="try again")
        n = await trial.read("a")
        assert n.state is end
        if end is State.CANCELLED:
            assert n.reason == "she read it"
            assert (await trial.story("a")).history[-1].event == "cancel"

    @clause()
    async def test_a_first_wish_to_cancel_is_kept_and_a_redrive_ends_it(self, trial: Trial) -> None:
        trial.declare()
        intent = await trial.sending("a")
        await trial.book.cancel("mail", "a", reason="first")
        await trial.book.cancel("mail", "a", reason="second")
        assert (await trial.read("a")).cancel_request == "first"
        n = await trial.bring("b", State.REVIEW)
        assert await trial.book.redrive("mail", "b", reason="fixed", force=True)
        assert (await trial.read("b")).version == n.version + 1
        assert await trial.settle(intent, Accepted())

    @clause()
    async def test_a_whole_group_in_doubt_ends_as_its_owner_wanted(self, trial: Trial) -> None:
        """cancel and cancel_group are one wish: what comes too late is remembered by both."""
        trial.declare()
        ends = {}
        for key in ("alone", "group"):
            await trial.bring(key, State.UNCERTAIN, group=f"g:{key}")
            await trial.book.resolve("mail", key, "resend", reason="she says it never came")
            if key == "alone":
                await trial.book.cancel("mail", key, reason="read")
            else:
                await trial.book.cancel_group("g:group", reason="read")
            n = await trial.read(key)
            assert (n.state, n.wanted) == (State.UNCERTAIN, State.CANCELLED)
            await trial.apply(moved(n, Event.DISPROVE, trial.now(), reason="bounced", doubt=0))
            ends[key] = await trial.state(key)
        assert ends == {"alone": State.CANCELLED, "group": State.CANCELLED}

    @clause()
    async def test_a_group_is_cancelled_and_the_answer_counts_what_was_too_late(self, trial: Trial) -> None:
        trial.declare()
        await trial.sending("flying", group="g:1")
        await trial.schedule("a", "b", group="g:1")
        await trial.schedule("other", group="g:2")
        await trial.bring("held", State.CLAIMED, group="g:1", kind="mail")
        await trial.bring("done", State.SKIPPED, group="g:1")
        answer = await trial.book.cancel_group("g:1", reason="read")
        assert (answer.cancelled, answer.too_late) == (3, 1)
        assert {key: await trial.state(key) for key in ("flying", "a", "other", "done")} == {
            "flying": State.SENDING, "a": State.CANCELLED, "other": State.CLAIMED, "done": State.SKIPPED,
        }  # fmt: skip
        assert (await trial.read("flying")).cancel_request == "read"
        assert (await trial.book.cancel_group("g:1", reason="again")).cancelled == 0

    @clause()
    async def test_the_same_evidence_twice_is_one_row(self, trial: Trial) -> None:
        n = await trial.bring("a", State.UNCERTAIN)
        first = report(n.id, trial)
        trial.advance(5)
        await trial.do(trial.store.record_evidence([first]))
        await trial.do(trial.store.record_evidence([report(n.id, trial), report(n.id, trial, says="rejected")]))
        assert [e.says for e in (await trial.story("a")).evidence] == ["accepted", "rejected"]
        assert (await trial.story("a")).evidence[0] == first

    @clause()
    async def test_evidence_is_found_until_it_has_been_considered(self, trial: Trial) -> None:
        a, b = await trial.bring("a", State.UNCERTAIN), await trial.bring("b", State.UNCERTAIN)
        sending = await trial.sending("c")
        for id in (a.id, b.id, sending.id):
            await trial.do(trial.store.record_evidence([report(id, trial)]))
        assert [n.key for n in await trial.do(trial.store.lock_evidenced(["mail"], 10))] == ["a", "b"]
        assert [n.key for n in await trial.do(trial.store.lock_evidenced(["mail"], 1))] == ["a"]
        known = await trial.do(trial.store.read_doubtful_evidence([a.id, b.id]))
        assert {id: [e.says for e in found] for id, found in known.items()} == {a.id: ["accepted"], b.id: ["accepted"]}
        await trial.do(trial.store.consider_evidence([a.id], known[a.id], trial.now()))
        assert [n.key for n in await trial.do(trial.store.lock_evidenced(["mail"], 10))] == ["b"]
        assert (await trial.do(trial.store.read_doubtful_evidence([a.id])))[a.id] == []
        assert (await trial.story("a")).resolutions == ["accepted"]
        assert (await trial.story("b")).resolutions == [None]
