"""Reports of what went wrong with reminders elsewhere, replayed on unread messages. The ids are those of our list."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from duebook import Rejected, Retry, State, Uncertain
from duebook.testing import Crash, Timeline, accept_then
from tests.app.desk import HOUR, MINUTE, START, Desk
from tests.app.gathered import CHAT, a_book, declare, post
from tests.app.places import Place
from tests.app.times import at, subjects

SECOND = timedelta(seconds=1)


@pytest.fixture
def chat(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


async def read(chat: Timeline, recipient: str = "ann") -> bool:
    return (await chat.book.unread.mark_read(*CHAT, recipient)).moved


async def test_h11_nothing_is_handed_out_before_its_time(chat: Timeline) -> None:
    await post(chat, "m1")
    assert at(await chat.advance(hours=6)) == ["01-07 12:15"]
    assert len(chat.attempts()) == 1


async def test_h13_two_that_see_the_same_reminder_send_it_once(bare: Desk) -> None:
    declare(bare.book)
    bare.channel()
    await bare.book.unread.posted(*CHAT, "m1", author="bob", recipients=["ann"])
    bare.clock.advance(HOUR)
    async with bare.worker(), bare.worker():
        await bare.until(State.ACCEPTED, "room/m1/ann", kind="chat")
    assert bare.copies("room/m1/ann") == 1


async def test_h15_one_more_recipient_is_one_more_mail(chat: Timeline) -> None:
    await post(chat, "m1", author="bob", to=["ann", "cid"])
    assert sorted(one.recipient for one in await chat.advance(hours=1)) == ["ann", "cid"]


async def test_h21_a_late_reading_changes_nothing_about_what_was_sent(chat: Timeline) -> None:
    await post(chat, "m1")
    await chat.advance(minutes=15)
    assert await read(chat)
    chat.expect("chat", "room/m1/ann").accepted().attempts(1)
    assert await chat.advance(hours=2) == []


async def test_h22_a_hundred_and_fifty_readings_withdraw_a_hundred_and_fifty_reminders(chat: Timeline) -> None:
    await post(chat, "m1", to=[f"r{number}" for number in range(150)])
    for number in range(150):
        assert await read(chat, f"r{number}")
    assert await chat.advance(days=1) == []


@pytest.mark.parametrize("before", [240, 61, 1, 0])
async def test_h23_what_is_answered_and_what_is_sent_agree(chat: Timeline, before: int) -> None:
    await post(chat, "m1")
    await chat.advance(seconds=900 - before)
    await read(chat)
    assert await chat.advance(hours=1) == []
    expected = chat.expect("chat", "room/m1/ann")
    if before:
        expected.cancelled(reason="read").attempts(0)
    else:
        expected.accepted().attempts(1)


async def test_h24_read_a_second_before_is_no_mail_and_a_second_after_is_one(chat: Timeline) -> None:
    await post(chat, "m1", to=["ann", "cid"])
    await chat.advance(minutes=14, seconds=59)
    await read(chat, "ann")
    sent = await chat.advance(seconds=2)
    await read(chat, "cid")
    assert [one.recipient for one in sent] == ["cid"]
    assert await chat.advance(hours=1) == []


async def test_h25_a_reading_while_no_worker_runs_is_not_forgotten(chat: Timeline) -> None:
    await post(chat, "m1")
    chat.at(START + 10 * MINUTE)
    await read(chat)
    chat.at(START + HOUR)
    assert await chat.run_due() == []


async def test_h26_reading_again_says_the_same_again(chat: Timeline) -> None:
    await post(chat, "m1")
    answers = [await read(chat) for _ in range(3)]
    assert answers == [True, False, False]
    assert await chat.advance(hours=1) == []


async def test_h27_six_at_once_are_all_named_and_each_says_by_which(chat: Timeline) -> None:
    await post(chat, *"abcdef")
    assert subjects(await chat.advance(hours=1)) == ["6 unread, 6 new"]
    for message in "bcdef":
        chat.expect("chat", f"room/{message}/ann").skipped(reason="covered by room/a/ann")


async def test_h28_the_same_name_in_two_conversations_is_two_messages(chat: Timeline) -> None:
    for conversation in ("a", "b"):
        answer = await chat.book.unread.posted("chat", conversation, "m1", author="bob", recipients=["ann"])
        assert answer.created
    assert len(await chat.advance(hours=1)) == 2


async def test_h29_a_worker_that_died_does_not_hold_up_the_conversation_for_ever(chat: Timeline) -> None:
    await post(chat, "m1")
    chat.channel("mail").next(Crash())
    await chat.advance(minutes=20)
    chat.expect("chat", "room/m1/ann").uncertain()
    await post(chat, "m2")
    assert subjects(await chat.advance(hours=1)) == ["2 unread, 1 new"]


async def test_h31_a_reminder_that_has_ended_keeps_its_message_from_coming_again(chat: Timeline) -> None:
    await post(chat, "m1")
    assert len(await chat.advance(hours=1)) == 1
    await post(chat, "m1")
    assert await chat.advance(days=1) == []


async def test_h32_two_attempts_carry_one_key(chat: Timeline) -> None:
    await post(chat, "m1")
    chat.channel("mail").next(accept_then(Uncertain("no reply")))
    await chat.advance(minutes=20)
    await chat.book.resolve("chat", "room/m1/ann", "resend", reason="she has nothing")
    await chat.advance(hours=1)
    first, second = chat.attempts()
    assert (first.idempotency_key, first.message) == (second.idempotency_key, second.message)


async def test_h55_five_hundred_at_one_instant_are_one_mail_and_not_before_it(chat: Timeline) -> None:
    for number in range(500):
        await post(chat, f"m{number:03}")
    assert await chat.advance(minutes=14, seconds=59) == []
    (sent,) = await chat.advance(hours=1)
    # Which of them speaks for all is nobody's business.
    assert (at([sent]), subjects([sent])) == (["01-07 12:15"], ["500 unread, 500 new"])


async def test_h56_three_redriven_together_are_one_mail_for_the_oldest(chat: Timeline) -> None:
    await post(chat, *"abc")
    refusal: Any = Rejected("no such mailbox")
    chat.channel("mail").next(refusal, refusal, refusal)
    assert await chat.advance(hours=1) == []
    for message in "abc":
        assert await chat.book.redrive("chat", f"room/{message}/ann", reason="a new address", force=True)
    (sent,) = await chat.advance(hours=1)
    assert (sent.key, *subjects([sent])) == ("room/a/ann", "3 unread, 3 new")


async def test_h56_a_retry_does_not_let_a_later_message_tell_less(chat: Timeline) -> None:
    await post(chat, "a", "b")
    chat.channel("mail").next(Retry("not now"), Retry("not now"))
    await chat.advance(minutes=15)
    await post(chat, "c")
    assert subjects(await chat.advance(hours=2)) == ["3 unread, 3 new"]
