"""When nobody knows whether it was sent: it waits, it is repeated lawfully, or the kind's stated policy speaks."""

from datetime import timedelta
from typing import Any

import pytest

from duebook import Accepted, Backoff, Due, Email, Event, Rejected, Retry, State, Uncertain
from duebook.errors import UnsafeSetting
from tests.app.desk import DAY, HOUR, MINUTE, SECOND, SETTINGS, Desk, die, mail, soon

QUIET = timedelta(seconds=SETTINGS.lease_seconds + SETTINGS.grace_seconds + 15)
CUT_OFF = Uncertain("no reply after the final dot", phase="data")


def ready(desk: Desk, on_uncertain: Any, key_window: timedelta | None = DAY, **policies: Any) -> Desk:
    desk.channel(key_window=key_window)
    desk.kind(on_uncertain=on_uncertain, **policies)
    return desk


async def reconcile(desk: Desk, after: timedelta) -> None:
    """Let time pass, and the reconciler look."""
    desk.clock.advance(after)
    await desk.step("reconciler")


async def doubt(desk: Desk, key: str = "a") -> None:
    desk.outcomes[key] = CUT_OFF
    async with desk.worker():
        await desk.schedule(key)
        await desk.until(State.UNCERTAIN, key)


async def test_an_uncertain_one_is_held_for_a_person_and_never_sent_blindly(bare: Desk) -> None:
    desk = ready(bare, "hold")
    await doubt(desk)
    n = await desk.read("a")
    assert (n.reason, n.doubt, n.attention_at) == (CUT_OFF.reason, 1, n.moved_at + QUIET)
    await reconcile(desk, QUIET + HOUR)
    await reconcile(desk, 30 * DAY)
    async with desk.worker():
        await desk.schedule("b")
        await desk.until(State.ACCEPTED, "b")
    assert (await desk.read("a")).state is State.UNCERTAIN
    assert desk.copies("a") == 1


async def test_assume_sent_closes_it_after_the_quiet_time_and_says_so(bare: Desk) -> None:
    desk = ready(bare, "assume_sent", key_window=None)
    await doubt(desk)
    await reconcile(desk, QUIET - SECOND)
    assert (await desk.read("a")).state is State.UNCERTAIN
    await reconcile(desk, 2 * SECOND)
    n = await desk.read("a")
    assert (n.state, n.basis, n.event) == (State.ACCEPTED, "assumed", Event.ASSUME)
    assert desk.copies("a") == 1


async def test_resend_repeats_the_same_bytes_under_the_same_key(bare: Desk) -> None:
    desk = ready(bare, "resend")
    words = iter(["the first words", "other words"])
    desk.decisions["a"] = lambda due: Email(to="a@b.example", subject="s", text=next(words))
    await doubt(desk)
    await reconcile(desk, QUIET + SECOND)
    desk.outcomes["a"] = Accepted("p-1")
    async with desk.worker():
        n = await desk.until(State.ACCEPTED, "a")
    (first, one), (second, two) = desk.sent
    assert first == second
    assert (one.idempotency_key, one.message_id, one.rendered_at) == (two.idempotency_key, two.message_id,
                                                                      two.rendered_at)  # fmt: skip
    assert (one.number, two.number) == (1, 2)
    assert desk.asked[-1].in_doubt
    assert (n.basis, n.provider_id) == ("reported", "p-1")


async def test_resend_repeats_nothing_once_the_provider_would_have_forgotten(bare: Desk) -> None:
    desk = ready(bare, "resend", key_window=HOUR)
    await doubt(desk)
    await reconcile(desk, HOUR)
    assert (await desk.read("a")).state is State.UNCERTAIN


async def test_a_repeat_whose_window_closes_while_it_waits_is_not_sent(bare: Desk) -> None:
    desk = ready(bare, "resend", key_window=HOUR)
    await doubt(desk)
    await reconcile(desk, QUIET + SECOND)
    assert (await desk.read("a")).state is State.SCHEDULED
    desk.clock.advance(HOUR)
    async with desk.worker():
        n = await desk.until(State.UNCERTAIN, "a")
    assert desk.copies("a") == 1
    assert "would notice a repeat is over" in (n.reason or "")


async def test_resend_is_bounded_by_the_attempts_of_its_kind(bare: Desk) -> None:
    desk = ready(bare, "resend", retry=Backoff(attempts=3))
    await doubt(desk)
    for _ in range(6):
        await reconcile(desk, QUIET + SECOND)
        async with desk.worker():
            await desk.until(State.UNCERTAIN, "a")
    assert desk.copies("a") == 3


async def test_resend_on_a_channel_without_keys_is_refused_when_the_worker_starts(bare: Desk) -> None:
    desk = ready(bare, "resend", key_window=None)
    with pytest.raises(UnsafeSetting, match="key_window"):
        async with desk.book.worker():
            raise AssertionError("it started")


async def test_a_provable_refusal_after_doubt_proves_nothing_about_the_first(bare: Desk) -> None:
    desk = ready(bare, "hold", key_window=None)
    await doubt(desk)
    desk.outcomes["a"] = Rejected("550 no such user")
    await desk.book.resolve("note", "a", "resend", reason="she says it never came")
    async with desk.worker():
        n = await desk.until_true("a", lambda n: n.number == 2 and n.state is not State.SENDING)
    assert (n.state, n.wanted, n.doubt) == (State.UNCERTAIN, State.REVIEW, 1)


@pytest.mark.parametrize(
    ("ruling", "state", "copies"),
    [("sent", State.ACCEPTED, 1), ("drop", State.DROPPED, 1), ("resend", State.ACCEPTED, 2)],
)
async def test_a_person_rules_and_the_ledger_shows_what_happened(
    bare: Desk, ruling: Any, state: State, copies: int
) -> None:
    desk = ready(bare, "hold", key_window=None)
    await doubt(desk)
    desk.outcomes["a"] = Accepted("p-2")
    async with desk.worker():
        assert await desk.book.resolve("note", "a", ruling, reason="she says so")
        n = await desk.until(state, "a")
    assert desk.copies("a") == copies
    assert n.basis == {"sent": "ruled", "drop": None, "resend": "reported"}[ruling]
    assert [attempt.outcome for attempt in (await desk.story("a")).attempts] == ["uncertain", "accepted"][:copies]


async def test_what_expires_while_it_is_in_doubt_is_never_called_skipped(bare: Desk) -> None:
    desk = ready(bare, "hold", key_window=None)
    desk.outcomes["a"] = CUT_OFF
    async with desk.worker():
        await desk.schedule("a", expires_at=desk.clock.now() + HOUR)
        await desk.until(State.UNCERTAIN, "a")
    desk.clock.advance(2 * HOUR)
    await desk.book.resolve("note", "a", "resend", reason="she says it never came")
    async with desk.worker():
        n = await desk.until_true("a", lambda n: n.state is State.UNCERTAIN and n.wanted is not None)
    assert (n.wanted, desk.copies("a")) == (State.SKIPPED, 1)


async def test_a_cancel_of_an_uncertain_one_is_kept_for_the_way_back(bare: Desk) -> None:
    desk = ready(bare, "resend")
    await doubt(desk)
    answer = await desk.book.cancel("note", "a", reason="read")
    assert (answer.result, answer.state) == ("too_late", State.UNCERTAIN)
    await reconcile(desk, QUIET + SECOND)
    n = await desk.read("a")
    assert (n.state, n.cancel_request) == (State.UNCERTAIN, "read")


async def test_a_worker_that_died_before_it_began_costs_nothing(bare: Desk) -> None:
    desk = ready(bare, "hold")
    asked = desk.decisions["a"] = desk.gate(mail)
    async with desk.book.worker() as worker:
        await desk.schedule("a")
        await soon(asked.entered.wait())
        await die(worker)
    desk.decisions["a"] = mail
    desk.clock.advance(timedelta(seconds=SETTINGS.lease_seconds + SETTINGS.grace_seconds - 1))
    await desk.step("rescuer")
    assert (await desk.read("a")).state is State.CLAIMED
    desk.clock.advance(2 * SECOND)
    await desk.step("rescuer")
    n = await desk.read("a")
    assert (n.state, n.event, n.alone, n.budget_used) == (State.SCHEDULED, Event.LOSE, True, 0)
    desk.clock.advance(MINUTE)
    async with desk.worker():
        await desk.until(State.ACCEPTED, "a")
    assert desk.copies("a") == 1


async def test_a_worker_that_died_on_the_wire_leaves_uncertain_never_a_guess(bare: Desk) -> None:
    desk = ready(bare, "hold")
    wire = desk.outcomes["a"] = desk.gate(Accepted())
    async with desk.book.worker() as worker:
        await desk.schedule("a", "b")
        await soon(wire.entered.wait())
        await desk.until(State.ACCEPTED, "b")
        await die(worker)
    desk.clock.advance(timedelta(seconds=SETTINGS.lease_seconds + SETTINGS.grace_seconds + 1))
    await desk.step("rescuer")
    n = await desk.read("a")
    assert (n.state, n.doubt, n.event) == (State.UNCERTAIN, 1, Event.LOSE)
    (attempt,) = (await desk.story("a")).attempts
    assert attempt.outcome == "lost"
    assert desk.copies("a") == 1


async def test_a_retry_after_doubt_repeats_the_same_bytes_and_no_others(bare: Desk) -> None:
    desk = ready(bare, "hold", key_window=None)
    desk.decisions["a"] = _numbered
    await doubt(desk)
    outcomes = iter([Retry("451"), Accepted()])
    desk.outcomes["a"] = lambda _: next(outcomes)
    await desk.book.resolve("note", "a", "resend", reason="she says it never came")
    async with desk.worker():
        await desk.until_put_off("a", 2)
        desk.clock.advance(MINUTE)
        await desk.until(State.ACCEPTED, "a")
    assert len({message.text for message, _ in desk.sent}) == 1  # type: ignore[attr-defined]


async def test_a_provably_unaccepted_one_is_decided_afresh(bare: Desk) -> None:
    desk = ready(bare, "hold")
    desk.decisions["a"] = _numbered
    outcomes = iter([Retry("451"), Accepted()])
    desk.outcomes["a"] = lambda _: next(outcomes)
    async with desk.worker():
        await desk.schedule("a")
        await desk.until_put_off("a", 1)
        desk.clock.advance(MINUTE)
        await desk.until(State.ACCEPTED, "a")
    assert [message.text for message, _ in desk.sent] == ["number 1", "number 2"]  # type: ignore[attr-defined]


def _numbered(due: Due) -> Email:
    return Email(to="a@b.example", subject="s", text=f"number {due.number}")
