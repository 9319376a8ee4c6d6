"""Owners, reviewers and operators are answered with the truth, whatever state a notification is in."""

import asyncio
from typing import Any

import pytest

from duebook import Accepted, Answer, GroupAnswer, New, Retry, State
from tests.app.desk import HOUR, START, Desk, mail, soon

S = State
OPEN = (S.SCHEDULED, S.CLAIMED)
CLOSED = (S.ACCEPTED, S.SKIPPED, S.CANCELLED, S.DROPPED)
WISHES: dict[str, Any] = {
    "cancel": lambda book, key: book.cancel("note", key, reason="withdrawn"),
    "reschedule": lambda book, key: book.reschedule("note", key, after=2 * HOUR),
    "send_now": lambda book, key: book.send_now("note", key),
    "redrive": lambda book, key: book.redrive("note", key, reason="fixed", force=True),
    "drop": lambda book, key: book.drop("note", key, reason="no use"),
    "sent": lambda book, key: book.resolve("note", key, "sent", reason="she has it"),
    "resend": lambda book, key: book.resolve("note", key, "resend", reason="it never came"),
    "drop it": lambda book, key: book.resolve("note", key, "drop", reason="no use"),
}
DONE = {
    **{("cancel", state): S.CANCELLED for state in (*OPEN, S.REVIEW)},
    **{("reschedule", state): S.SCHEDULED for state in OPEN},
    ("send_now", S.SCHEDULED): S.SCHEDULED,
    ("redrive", S.REVIEW): S.SCHEDULED,
    ("drop", S.REVIEW): S.DROPPED,
    ("sent", S.UNCERTAIN): S.ACCEPTED,
    ("resend", S.UNCERTAIN): S.SCHEDULED,
    ("drop it", S.UNCERTAIN): S.DROPPED,
}


def refusal(wish: str, state: State) -> str:
    if wish in ("redrive", "drop"):
        return "not_in_review"
    if wish in ("sent", "resend", "drop it"):
        return "not_uncertain"
    return "already_closed" if state in CLOSED else "too_late"


@pytest.mark.parametrize("state", State)
async def test_every_wish_in_every_state_is_done_or_refused_with_the_truth(desk: Desk, state: State) -> None:
    async with desk.worker() as worker:
        await desk.bring(state, *WISHES)
        before = {wish: await desk.read(wish) for wish in WISHES}
        for tasks in (tasks for _, tasks in worker.lanes):
            tasks.stopping = True
        for wish, call in WISHES.items():
            answer: Answer = await call(desk.book, wish)
            after = await desk.read(wish)
            if (wish, state) in DONE:
                assert (answer.result, answer.state) == ("done", DONE[wish, state]), wish
                assert answer
            else:
                assert (answer.result, answer.state) == (refusal(wish, state), state), wish
                assert answer.reason == before[wish].reason
                assert not answer
                assert after.version == before[wish].version


@pytest.mark.parametrize("wish", WISHES)
async def test_a_wish_about_something_unknown_is_answered_not_found(desk: Desk, wish: str) -> None:
    assert await WISHES[wish](desk.book, "nobody") == Answer("not_found")


async def test_repeating_a_cancel_gives_the_same_state_and_the_first_reason(desk: Desk) -> None:
    await desk.schedule("a", after=HOUR)
    assert await desk.book.cancel("note", "a", reason="read") == Answer("done", S.CANCELLED, "read")
    assert await desk.book.cancel("note", "a", reason="again") == Answer("already_closed", S.CANCELLED, "read")


async def test_a_cancel_while_no_worker_runs_is_not_forgotten(desk: Desk) -> None:
    async with desk.worker():
        await desk.schedule("a", after=HOUR)
    assert await desk.book.cancel("note", "a")
    desk.clock.advance(HOUR)
    async with desk.worker():
        await desk.schedule("b")
        await desk.until(S.ACCEPTED, "b")
    assert [context.key for _, context in desk.sent] == ["b"]


async def test_a_cancel_that_came_too_late_ends_what_comes_back(desk: Desk) -> None:
    gate = desk.outcomes["a"] = desk.gate(Retry("451 later"))
    async with desk.worker():
        await desk.schedule("a")
        await soon(gate.entered.wait())
        assert await desk.book.cancel("note", "a", reason="read") == Answer("too_late", S.SENDING, None)
        gate.open.set()
        n = await desk.until(S.CANCELLED, "a")
    assert (n.reason, n.number) == ("read", 1)
    assert len(desk.sent) == 1


async def test_a_cancel_that_came_too_late_does_not_deny_what_was_accepted(desk: Desk) -> None:
    gate = desk.outcomes["a"] = desk.gate(Accepted("p-1"))
    async with desk.worker():
        await desk.schedule("a")
        await soon(gate.entered.wait())
        assert not await desk.book.cancel("note", "a")
        gate.open.set()
        await desk.until(S.ACCEPTED, "a")
        assert (await desk.book.cancel("note", "a")).result == "already_closed"


async def test_an_edit_of_what_is_being_sent_is_refused_and_sends_nothing_later(desk: Desk) -> None:
    gate = desk.outcomes["a"] = desk.gate(Accepted("p-1"))
    async with desk.worker():
        await desk.schedule("a")
        await soon(gate.entered.wait())
        late = await desk.book.reschedule("note", "a", after=HOUR)
        assert (late.result, late.state) == ("too_late", S.SENDING)
        gate.open.set()
        await desk.until(S.ACCEPTED, "a")
        desk.clock.advance(2 * HOUR)
        await desk.schedule("b")
        await desk.until(S.ACCEPTED, "b")
    assert desk.copies("a") == 1


async def test_an_owner_wins_while_the_handler_is_being_asked(desk: Desk) -> None:
    gate = desk.decisions["a"] = desk.gate(mail)
    async with desk.worker():
        await desk.schedule("a")
        await soon(gate.entered.wait())
        assert await desk.book.cancel("note", "a", reason="read") == Answer("done", S.CANCELLED, "read")
        gate.open.set()
        await desk.schedule("b")
        await desk.until(S.ACCEPTED, "b")
    assert desk.copies("a") == 0


async def test_whenever_a_cancel_comes_its_answer_and_the_copies_agree(desk: Desk) -> None:
    keys = [f"k{n:03}" for n in range(120)]
    async with desk.worker():
        await desk.book.schedule_many([New(kind="note", key=key, recipient="ann", at=START) for key in keys])
        answers = await asyncio.gather(*(desk.book.cancel("note", key) for key in keys))
        for key, answer in zip(keys, answers, strict=True):
            assert answer.result in ("done", "too_late", "already_closed")
            await desk.until(S.CANCELLED if answer else S.ACCEPTED, key)
            assert desk.copies(key) == (0 if answer else 1)


async def test_sending_now_keeps_the_promise_on_record_and_the_handler_decides(desk: Desk) -> None:
    async with desk.worker():
        await desk.schedule("a", after=HOUR)
        assert await desk.book.send_now("note", "a")
        n = await desk.until(S.ACCEPTED, "a")
    assert (n.due_at, desk.asked[0].due_at, desk.asked[0].now) == (START + HOUR, START + HOUR, START)


async def test_a_redriven_one_has_a_fresh_budget_and_the_same_keys(desk: Desk) -> None:
    async with desk.worker():
        await desk.bring(S.REVIEW, "a")
        desk.outcomes["a"] = Accepted("p-2")
        assert await desk.book.redrive("note", "a", reason="she has an account now", force=True)
        n = await desk.until(S.ACCEPTED, "a")
    first, second = (context for _, context in desk.sent)
    assert (first.idempotency_key, first.message_id) == (second.idempotency_key, second.message_id)
    assert (first.number, second.number, n.budget_used) == (1, 2, 0)
    assert [attempt.outcome for attempt in (await desk.story("a")).attempts] == ["rejected", "accepted"]


async def test_what_was_refused_stays_until_its_data_or_its_recipients_record_is_new(desk: Desk) -> None:
    async with desk.worker():
        await desk.bring(S.REVIEW, "a", "b")
        for key in "ab":
            answer = await desk.book.redrive("note", key, reason="again")
            assert (answer.result, answer.state) == ("refused", S.REVIEW)
        desk.outcomes["a"] = desk.outcomes["b"] = Accepted("p-2")
        assert await desk.book.redrive("note", "a", reason="another account", data={"account": 7})
        await desk.until(S.ACCEPTED, "a")
        desk.clock.advance(HOUR)
        await desk.book.people.set("ann", addresses={"mail": "ann@example.org"})
        assert await desk.book.redrive("note", "b", reason="another address")
        await desk.until(S.ACCEPTED, "b")
    assert [(due.key, due.data) for due in desk.asked if due.number == 2] == [("a", {"account": 7}), ("b", {})]


async def test_a_group_is_withdrawn_whole_and_the_late_ones_are_counted(desk: Desk) -> None:
    group = "unread:42:ann"
    gates = [desk.gate(Retry("451")), desk.gate(mail)]
    desk.outcomes["sending"], desk.decisions["claimed"] = gates
    async with desk.worker():
        await desk.schedule("sending", "claimed", group=group)
        await asyncio.gather(*(soon(gate.entered.wait()) for gate in gates))
        await desk.schedule("waiting", "waiting too", group=group, after=HOUR)
        await desk.schedule("another", group="unread:42:bob", after=HOUR)
        await desk.schedule("none", after=HOUR)
        assert await desk.book.cancel_group(group, reason="read") == GroupAnswer(cancelled=3, too_late=1)
        gates[0].open.set()
        await desk.until(S.CANCELLED, "sending", "claimed", "waiting", "waiting too")
    assert {(await desk.read(key)).state for key in ("another", "none")} == {S.SCHEDULED}
    assert await desk.book.cancel_group(group, reason="read") == GroupAnswer(0, 0)
    assert await desk.book.cancel_group("nobody's", reason="read") == GroupAnswer(0, 0)


async def test_a_key_is_free_for_the_next_message_once_the_one_before_was_read(desk: Desk) -> None:
    await desk.schedule("unread/1", group="g", after=HOUR)
    await desk.book.cancel_group("g", reason="read")
    assert (await desk.book.schedule("note", "unread/2", recipient="ann", after=HOUR, group="g")).created
    again = await desk.book.schedule("note", "unread/1", recipient="ann", after=HOUR, if_exists="rearm")
    assert (again.changed, again.state) == (True, S.SCHEDULED)
