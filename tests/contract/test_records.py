"""What is written beside a move: the ledger, the history, the wish of an owner, and later evidence."""

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from duebook.domain.recovery import Evidence, lose
from tests.support.worlds import QUIET, World, moved, retry, uncertain

ENDS: list[tuple[Outcome, State, str]] = [
    (Accepted("p-1"), State.ACCEPTED, "accepted"),
    (Rejected("550 no such user"), State.REVIEW, "rejected"),
    (Retry("451 later"), State.SCHEDULED, "retry"),
    (Throttled("429 slow down"), State.SCHEDULED, "throttled"),
    (Uncertain("no reply", "data"), State.UNCERTAIN, "uncertain"),
]


@pytest.mark.parametrize(("outcome", "state", "name"), ENDS, ids=[name for *_, name in ENDS])
async def test_an_outcome_moves_the_row_and_fills_the_ledger(
    world: World, outcome: Outcome, state: State, name: str
) -> None:
    intent = await world.sending("a")
    world.clock.advance(2)
    assert await world.settle(intent, outcome)
    story = await world.story("a")
    n, (attempt,) = story.notification, story.attempts
    assert n is not None
    assert (n.state, n.holder, n.lease_until) == (state, None, None)
    assert (attempt.number, attempt.outcome, attempt.holder) == (1, name, "worker-1")
    assert (attempt.begun_at, attempt.ended_at) == (intent.at, world.clock.now())
    assert attempt.reason == getattr(outcome, "reason", None) == n.reason
    assert (n.doubt, n.provider_id) == (int(state is State.UNCERTAIN), getattr(outcome, "provider_id", None))
    assert story.history == []


async def test_numbers_of_attempts_have_no_gaps_whatever_happened_in_between(world: World) -> None:
    world.declare()
    n = await world.claimed("a")
    for outcome in (retry(), Throttled(), Rejected("no")):
        (intent,) = await world.begin(n)
        await world.settle(intent, outcome)
        if isinstance(outcome, Rejected):
            await world.book.redrive("mail", "a", reason="address corrected")
        world.clock.advance(60)
        (n,) = await world.claim()
        await world.apply(moved(n, Event.DEFER, world.clock.now(), wake_at=world.clock.now(), reason="quiet"))
        (n,) = await world.claim()
    (intent,) = await world.begin(n)
    await world.apply(lose(await world.read("a"), 5, world.clock.now(), "rescuer", QUIET))
    story = await world.story("a")
    assert [a.number for a in story.attempts] == [1, 2, 3, 4]
    assert [a.outcome for a in story.attempts] == ["retry", "throttled", "rejected", "lost"]
    assert (await world.read("a")).number == 4


async def test_every_move_that_is_no_attempt_is_in_the_history(world: World) -> None:
    world.declare()
    n = await world.claimed("a")
    await world.apply(moved(n, Event.DEFER, world.clock.now(), wake_at=world.clock.now(), reason="quiet", by="lane"))
    world.clock.advance(1)
    await world.book.send_now("mail", "a")
    await world.book.cancel("mail", "a", reason="read")
    entries = (await world.story("a")).history
    assert [(e.version, e.by, e.event, e.state, e.next, e.reason) for e in entries] == [
        (3, "lane", "defer", "claimed", "scheduled", "quiet"),
        (4, "app", "reschedule", "scheduled", "scheduled", "sent now on its owner's wish"),
        (5, "app", "cancel", "scheduled", "cancelled", "read"),
    ]
    assert entries[1].at == world.clock.now()


async def test_a_batch_of_moves_records_each_with_its_own(world: World) -> None:
    await world.schedule("a", "b", "c")
    a, b, c = await world.claim()
    assert await world.begin(b)
    await world.apply(
        lose(await world.read("b"), 5, world.clock.now(), "rescuer", QUIET),
        moved(c, Event.SKIP, world.clock.now(), reason="read"),
        moved(a, Event.REJECT, world.clock.now(), reason="broken"),
    )
    stories = {key: await world.story(key) for key in "abc"}
    assert {key: len(story.attempts) for key, story in stories.items()} == {"a": 0, "b": 1, "c": 0}
    assert {key: [e.event for e in story.history] for key, story in stories.items()} == {
        "a": ["reject"], "b": [], "c": ["skip"],
    }  # fmt: skip


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


@pytest.mark.parametrize("way", WAYS_BACK)
async def test_a_cancel_that_came_too_late_is_honoured_on_every_way_back(world: World, way: str) -> None:
    world.declare()
    start, end = WAYS_BACK[way]
    intent = await world.sending("a")
    if start is State.UNCERTAIN:
        await world.settle(intent, uncertain())
    answer = await world.book.cancel("mail", "a", reason="she read it")
    assert (answer.result, answer.state, bool(answer)) == ("too_late", start, False)
    n = await world.read("a")
    assert n.cancel_request == "she read it"
    now = world.clock.now()
    if way in OUTCOMES:
        await world.settle(intent, OUTCOMES[way])
    elif way == "absence":
        await world.apply(moved(n, Event.REPEAT, now, reason="absent", wake_at=now, doubt=0))
    elif way == "disprove":
        await world.apply(moved(n, Event.DISPROVE, now, reason="bounced", doubt=0))
    elif way == "confirm":
        await world.apply(moved(n, Event.CONFIRM, now, reason="receipt", basis="evidence", doubt=0))
    else:
        await world.book.resolve("mail", "a", "resend", reason="try again")
    n = await world.read("a")
    assert n.state is end
    if end is State.CANCELLED:
        assert n.reason == "she read it"
        assert (await world.story("a")).history[-1].event == "cancel"


async def test_a_first_wish_to_cancel_is_kept_and_a_redrive_ends_it(world: World) -> None:
    world.declare()
    intent = await world.sending("a")
    await world.book.cancel("mail", "a", reason="first")
    await world.book.cancel("mail", "a", reason="second")
    assert (await world.read("a")).cancel_request == "first"
    n = await world.bring("b", State.REVIEW)
    assert await world.book.redrive("mail", "b", reason="fixed")
    assert (await world.read("b")).version == n.version + 1
    assert await world.settle(intent, Accepted())


async def test_a_whole_group_in_doubt_ends_as_its_owner_wanted(world: World) -> None:
    """cancel and cancel_group are one wish: what comes too late is remembered by both."""
    world.declare()
    ends = {}
    for key in ("alone", "group"):
        await world.bring(key, State.UNCERTAIN, group=f"g:{key}")
        await world.book.resolve("mail", key, "resend", reason="she says it never came")
        if key == "alone":
            await world.book.cancel("mail", key, reason="read")
        else:
            await world.book.cancel_group("g:group", reason="read")
        n = await world.read(key)
        assert (n.state, n.wanted) == (State.UNCERTAIN, State.CANCELLED)
        await world.apply(moved(n, Event.DISPROVE, world.clock.now(), reason="bounced", doubt=0))
        ends[key] = await world.state(key)
    assert ends == {"alone": State.CANCELLED, "group": State.CANCELLED}


async def test_a_group_is_cancelled_and_the_answer_counts_what_was_too_late(world: World) -> None:
    world.declare()
    await world.sending("flying", group="g:1")
    await world.schedule("a", "b", group="g:1")
    await world.schedule("other", group="g:2")
    await world.bring("held", State.CLAIMED, group="g:1", kind="mail")
    await world.bring("done", State.SKIPPED, group="g:1")
    answer = await world.book.cancel_group("g:1", reason="read")
    assert (answer.cancelled, answer.too_late) == (3, 1)
    assert {key: await world.state(key) for key in ("flying", "a", "other", "done")} == {
        "flying": State.SENDING, "a": State.CANCELLED, "other": State.CLAIMED, "done": State.SKIPPED,
    }  # fmt: skip
    assert (await world.read("flying")).cancel_request == "read"
    assert (await world.book.cancel_group("g:1", reason="again")).cancelled == 0


def report(id: int, world: World, number: int = 1, says: str = "accepted", source: str = "late_report") -> Evidence:
    return Evidence(id, number, world.clock.now(), source, says, "p-9", "250 ok")  # type: ignore[arg-type]


async def test_the_same_evidence_twice_is_one_row(world: World) -> None:
    n = await world.bring("a", State.UNCERTAIN)
    first = report(n.id, world)
    world.clock.advance(5)
    await world.do(world.store.record_evidence([first]))
    await world.do(world.store.record_evidence([report(n.id, world), report(n.id, world, says="rejected")]))
    assert [e.says for e in (await world.story("a")).evidence] == ["accepted", "rejected"]
    assert (await world.story("a")).evidence[0] == first


async def test_evidence_is_found_until_it_has_been_considered(world: World) -> None:
    a, b = await world.bring("a", State.UNCERTAIN), await world.bring("b", State.UNCERTAIN)
    sending = await world.sending("c")
    for id in (a.id, b.id, sending.id):
        await world.do(world.store.record_evidence([report(id, world)]))
    assert [n.key for n in await world.do(world.store.lock_evidenced(["mail"], 10))] == ["a", "b"]
    assert [n.key for n in await world.do(world.store.lock_evidenced(["mail"], 1))] == ["a"]
    known = await world.do(world.store.read_doubtful_evidence([a.id, b.id]))
    assert {id: [e.says for e in found] for id, found in known.items()} == {a.id: ["accepted"], b.id: ["accepted"]}
    await world.do(world.store.consider_evidence([a.id], known[a.id], world.clock.now()))
    assert [n.key for n in await world.do(world.store.lock_evidenced(["mail"], 10))] == ["b"]
    assert (await world.do(world.store.read_doubtful_evidence([a.id])))[a.id] == []
    assert (await world.story("a")).resolutions == ["accepted"]
    assert (await world.story("b")).resolutions == [None]
