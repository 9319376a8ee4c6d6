"""What a channel is told to answer ends where the engine takes it."""

from datetime import timedelta
from functools import partial

import pytest

from duebook import (
    Accepted,
    Cancel,
    Due,
    Duebook,
    Email,
    Rejected,
    Retry,
    SendContext,
    Throttled,
    Uncertain,
)
from duebook.testing import Crash, RecordingChannel, SyncTimeline, Timeline, accept_then
from tests.testing.conftest import a_book, mail

NOW = timedelta(0)
LOST = Uncertain("no reply after the final dot")


async def schedule(timeline: Timeline, *keys: str, kind: str = "renewal", recipient: str = "ann") -> None:
    for key in keys:
        await timeline.book.schedule(kind, key, recipient=recipient, after=NOW)


async def test_a_refusal_waits_in_review_and_may_be_redriven(timeline: Timeline) -> None:
    timeline.channel("email").next(Rejected("550 no such user"))
    await schedule(timeline, "a")
    assert await timeline.run_due() == []
    timeline.expect("renewal", "a").in_review(reason="no such user").attempts(1)
    assert await timeline.book.redrive("renewal", "a", reason="the address was mended", force=True)
    assert len(await timeline.run_due()) == 1
    timeline.expect("renewal", "a").accepted().attempts(2)


async def test_retries_run_at_their_times(timeline: Timeline) -> None:
    start = timeline.now
    timeline.channel("email").next(Retry("451"), Retry("451"), Retry("wait", after=timedelta(minutes=7)))
    await schedule(timeline, "a")
    await timeline.run_due()
    timeline.expect("renewal", "a").scheduled(at=start + timedelta(seconds=2), reason="451").attempts(1)
    await timeline.advance(hours=1)
    timeline.expect("renewal", "a").accepted().attempts(4)
    seconds = [(attempt.at - start).total_seconds() for attempt in timeline.attempts(key="a")]
    assert seconds == [0, 2, 6, 426]
    assert len(timeline.sent(key="a")) == 1


async def test_retries_are_used_up(timeline: Timeline) -> None:
    timeline.channel("email").next(*[Retry("451")] * 9)
    await schedule(timeline, "a")
    await timeline.advance(days=1)
    timeline.expect("renewal", "a").in_review(reason="451").attempts(5)


async def test_a_throttle_pauses_the_channel_and_no_other(timeline: Timeline) -> None:
    start = timeline.now
    timeline.channel("email").next(Throttled("429", until=start + timedelta(minutes=10)))
    await schedule(timeline, "a")
    await timeline.run_due()
    await schedule(timeline, "b")
    await schedule(timeline, "c", kind="receipt")
    assert [one.key for one in await timeline.advance(minutes=9)] == ["c"]
    assert sorted(one.key for one in await timeline.advance(minutes=1)) == ["a", "b"]
    timeline.expect("renewal", "a").accepted().attempts(2)


async def test_an_uncertain_one_is_held_for_a_person(timeline: Timeline) -> None:
    timeline.channel("email").next(LOST)
    await schedule(timeline, "a")
    assert await timeline.advance(days=30) == []
    timeline.expect("renewal", "a").uncertain(reason="no reply").attempts(1)
    assert await timeline.book.resolve("renewal", "a", "resend", reason="she says it never came")
    assert len(await timeline.run_due()) == 1


async def test_a_keyed_channel_makes_one_copy_of_a_repeat(timeline: Timeline) -> None:
    timeline.channel("keyed").next(accept_then(LOST))
    await schedule(timeline, "a", kind="receipt")
    await timeline.advance(hours=1)
    timeline.expect("receipt", "a").accepted().attempts(2)
    first, second = timeline.attempts(key="a")
    assert (first.taken, second.taken, second.duplicate) == (True, False, True)
    assert first.idempotency_key == second.idempotency_key == "shop:receipt:a"
    assert first.message == second.message
    assert timeline.sent(key="a") == [first]


async def test_a_lost_reply_of_what_was_not_taken_is_repeated_by_key(timeline: Timeline) -> None:
    timeline.channel("keyed").next(LOST)
    await schedule(timeline, "a", kind="receipt")
    (copy,) = await timeline.advance(hours=1)
    assert (copy.number, copy.duplicate) == (2, False)


@pytest.mark.parametrize("answer", [Crash(), accept_then(Crash())], ids=["before", "after"])
async def test_a_worker_that_dies_leaves_it_uncertain(timeline: Timeline, answer: object) -> None:
    timeline.channel("email").next(answer)  # type: ignore[arg-type]
    await schedule(timeline, "a")
    await timeline.run_due()
    assert timeline.expect("renewal", "a").attempts(1).state == "sending"
    await timeline.advance(minutes=1)
    timeline.expect("renewal", "a").uncertain(reason="vanished")
    assert len(timeline.sent()) == (answer.__class__ is not Crash)


async def test_a_crash_takes_no_neighbour_along(timeline: Timeline) -> None:
    timeline.channel("email").next(Crash(), to="ann")
    await schedule(timeline, "a")
    await schedule(timeline, *"bcdefgh", recipient="bob")
    assert len(await timeline.run_due()) == 7
    await timeline.advance(minutes=1)
    timeline.expect("renewal", "a").uncertain()


async def test_a_worker_that_dies_before_it_sends_costs_nothing(timeline: Timeline) -> None:
    workers = iter(["dies", "lives"])

    @timeline.book.kind("poison", channel="email")
    def poison(due: Due) -> Email:
        if next(workers) == "dies":
            raise Crash
        return mail(due)

    await schedule(timeline, "a", kind="poison")
    assert await timeline.run_due() == []
    assert timeline.expect("poison", "a").state == "claimed"
    (one,) = await timeline.advance(minutes=1)
    assert one.number == 1


async def test_answers_for_one_recipient(timeline: Timeline) -> None:
    channel = timeline.channel("email")
    channel.next(Rejected("no such user"), to="bob")
    channel.next(Rejected("not here"), to="cid@example.org")
    for name in ("ann", "bob", "cid"):
        await schedule(timeline, name, recipient=name)
    assert [one.recipient for one in await timeline.run_due()] == ["ann"]
    timeline.expect("renewal", "bob").in_review(reason="no such user")
    timeline.expect("renewal", "cid").in_review(reason="not here")
    assert timeline.sent(to="ann") == timeline.sent(to="ann@example.org") != []
    assert [attempt.to for attempt in timeline.attempts(to="bob")] == ["bob@example.org"]


async def test_an_exception_is_recorded_as_uncertain(timeline: Timeline) -> None:
    timeline.channel("email").next(ConnectionResetError("by peer"))
    await schedule(timeline, "a")
    await timeline.run_due()
    timeline.expect("renewal", "a").uncertain(reason="ConnectionResetError")


async def test_an_answer_may_depend_on_the_message(timeline: Timeline) -> None:
    def careful(message: Email, context: SendContext) -> Accepted | Rejected:
        return Accepted("p-7") if context.number == 1 else Rejected("again?")

    timeline.channel("email").next(careful)
    await schedule(timeline, "a")
    (one,) = await timeline.run_due()
    assert one.outcome == Accepted("p-7")


async def test_a_handler_that_fails_is_asked_again(timeline: Timeline) -> None:
    asked = []

    @timeline.book.kind("shaky", channel="email")
    def shaky(due: Due) -> Email:
        asked.append(due.now)
        if len(asked) < 3:
            raise LookupError("no such account yet")
        return mail(due)

    await schedule(timeline, "a", kind="shaky")
    await timeline.run_due()
    timeline.expect("shaky", "a").scheduled(reason="no such account yet").attempts(0)
    assert len(await timeline.advance(minutes=1)) == 1


async def test_a_handler_may_be_a_plain_function_that_answers_a_coroutine(timeline: Timeline) -> None:
    async def later(due: Due) -> Email:
        return mail(due)

    timeline.book.kind("odd", channel="email")(partial(later))
    timeline.book.kind("odder", channel="email")(lambda due: later(due))  # noqa: PLW0108 - a plain function is meant
    await schedule(timeline, "a", kind="odd")
    await schedule(timeline, "a", kind="odder")
    assert len(await timeline.run_due()) == 2


async def test_owners_may_withdraw(timeline: Timeline) -> None:
    book = timeline.book

    @book.kind("ended", channel="email")
    def ended(due: Due) -> Cancel:
        return Cancel("the subscription ended")

    await book.schedule("renewal", "a", recipient="ann", after=timedelta(days=1))
    await schedule(timeline, "b", kind="ended")
    await book.cancel("renewal", "a", reason="renewed")
    await timeline.advance(days=2)
    timeline.expect("renewal", "a").cancelled(reason="renewed").attempts(0)
    timeline.expect("ended", "b").cancelled(reason="subscription ended")


async def test_a_kept_channel_really_sends() -> None:
    book, outbox = a_book_of_files()
    with Timeline(book, keep=["file"]) as timeline:
        timeline.channel("file").next(Retry("disk full"))
        await schedule(timeline, "a", kind="note")
        await timeline.run_due()
        assert outbox == []
        (one,) = await timeline.advance(minutes=1)
        assert outbox == [one.message]


def test_a_kept_channel_really_sends_without_an_event_loop() -> None:
    book, outbox = a_book_of_files()
    with SyncTimeline(book, keep=["file"]) as timeline:
        book.sync.schedule("note", "a", recipient="ann", after=NOW)
        (one,) = timeline.run_due()
        assert outbox == [one.message]


def a_book_of_files() -> tuple[Duebook, list[Email]]:
    book = Duebook("sqlite://", namespace="shop")
    outbox: list[Email] = []

    @book.channel("file")
    def file(message: Email, context: SendContext) -> Accepted:
        outbox.append(message)
        return Accepted()

    book.kind("note", channel="file")(mail)
    return book, outbox


async def test_a_recording_channel_of_the_books_own_is_used() -> None:
    book, own = Duebook("sqlite://"), RecordingChannel("sms", concurrency=1)
    book.add_channel("sms", own)
    book.kind("note", channel="sms")(mail)
    with Timeline(book) as timeline:
        await schedule(timeline, "a", kind="note")
        sent = await timeline.run_due()
        assert own.sent == sent != []
        assert repr(own) == "RecordingChannel('sms', 1 attempts)"
        with pytest.raises(KeyError, match=r"no channel 'smss'.*known: sms"):
            timeline.channel("smss")


def test_an_answer_that_is_none_is_refused_at_once(timeline: Timeline) -> None:
    for wrong in ("550", ConnectionResetError, None, accept_then(Uncertain)):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="an answer is an Outcome"):
            timeline.channel("email").next(wrong)  # type: ignore[arg-type]


async def test_the_same_steps_give_the_same_story() -> None:
    def tell(timeline: Timeline) -> list[str]:
        with pytest.raises(AssertionError) as told:
            timeline.expect("receipt", "2").dropped()
        return str(told.value).splitlines()

    told = []
    for _ in range(2):
        with Timeline(a_book()) as timeline:
            timeline.channel("keyed").next(Retry("451"), Crash(), accept_then(LOST), Throttled(), *[Retry("452")] * 3)
            await schedule(timeline, "1", "2", "3", kind="receipt")
            await timeline.advance(days=2)
            told.append((timeline.attempts(), tell(timeline)))
    assert told[0] == told[1]
    assert len(told[0][0]) > 6
