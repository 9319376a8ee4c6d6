"""What a channel is told to answer ends where the engine takes it."""

from datetime import timedelta

import pytest

from duebook import (
    Accepted,
    Cancel,
    Due,
    Email,
    Rejected,
    Retry,
    SendContext,
    Throttled,
    Uncertain,
)
from duebook.testing import Crash, RecordingChannel, Timeline, accept_then
from tests.testing.conftest import mail

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
    assert await timeline.book.redrive("renewal", "a", reason="the address was mended")
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


async def test_what_a_dead_worker_held_goes_out_later(timeline: Timeline) -> None:
    timeline.channel("email").next(Crash(), to="ann")
    await schedule(timeline, "a")
    await schedule(timeline, *"bcdefgh", recipient="bob")
    await timeline.advance(minutes=1)
    timeline.expect("renewal", "a").uncertain()
    states = {key: timeline.expect("renewal", key).state.value for key in "bcdefgh"}
    assert set(states.values()) <= {"accepted", "uncertain"}


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

    timeline.book.kind("odd", channel="email")(lambda due: later(due))
    await schedule(timeline, "a", kind="odd")
    assert len(await timeline.run_due()) == 1


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
    from duebook import Duebook

    book, outbox = Duebook("sqlite://", namespace="shop"), []

    @book.channel("file")
    def file(message: Email, context: SendContext) -> Accepted:
        outbox.append(message)
        return Accepted()

    book.kind("note", channel="file")(mail)
    with Timeline(book, keep=["file"]) as timeline:
        timeline.channel("file").next(Retry("disk full"))
        await schedule(timeline, "a", kind="note")
        await timeline.run_due()
        assert outbox == []
        (one,) = await timeline.advance(minutes=1)
        assert outbox == [one.message]


async def test_a_recording_channel_of_the_books_own_is_used() -> None:
    from duebook import Duebook

    book, own = Duebook("sqlite://"), RecordingChannel("sms", concurrency=1)
    book.add_channel("sms", own)
    book.kind("note", channel="sms")(mail)
    with Timeline(book) as timeline:
        await schedule(timeline, "a", kind="note")
        assert own.sent == await timeline.run_due()
        assert repr(own) == "RecordingChannel('sms', 1 attempts)"
        with pytest.raises(KeyError, match="no channel 'smss'.*known: sms"):
            timeline.channel("smss")
