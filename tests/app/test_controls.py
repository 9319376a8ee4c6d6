"""Pauses, throttles and modes steer every worker that shares the database."""

from datetime import timedelta
from typing import Any

import pytest

from duebook import Duebook, Skip, State, Throttled
from tests.app.desk import HOUR, MINUTE, SETTINGS, START, Desk, mail, soon

SCOPES: list[tuple[str, dict[str, str]]] = [
    ("a channel", {"channel": "mail"}),
    ("a kind", {"kind": "note"}),
    ("everything", {}),
]


@pytest.mark.parametrize("scope", [scope for _, scope in SCOPES], ids=[name for name, _ in SCOPES])
async def test_what_is_paused_waits_and_nothing_else_does(bare: Desk, scope: dict) -> None:
    bare.channel("mail")
    bare.channel("post")
    bare.kind("note")
    bare.kind("other", channel="post")
    async with bare.worker():
        await bare.book.pause(**scope, reason="the provider is on fire")
        await bare.schedule("a")
        if scope:
            await bare.schedule("b", kind="other")
            await bare.until(State.ACCEPTED, "b", kind="other")
        (control,) = await bare.book.controls()
        assert (control.reason, control.by, control.paused_at) == ("the provider is on fire", "app", START)
        assert (await bare.read("a")).state is State.SCHEDULED
        assert bare.copies("a") == 0
        await bare.book.resume(**scope)
        await bare.until(State.ACCEPTED, "a")
    (control,) = await bare.book.controls()
    assert (control.paused_at, control.paused_until, control.reason) == (None, None, "resumed")


@pytest.mark.parametrize("scope", [scope for _, scope in SCOPES], ids=[name for name, _ in SCOPES])
async def test_a_pause_is_heard_between_the_question_and_the_wire(desk: Desk, scope: dict) -> None:
    gate = desk.decisions["a"] = desk.gate(mail)
    async with desk.worker():
        await desk.schedule("a")
        await soon(gate.entered.wait())
        await desk.book.pause(**scope)
        gate.open.set()
        n = await desk.until(State.SCHEDULED, "a")
        assert (n.number, n.budget_used) == (0, 0)
    assert not desk.sent


async def test_a_throttled_channel_rests_for_every_worker_and_no_attempt_is_used(desk: Desk) -> None:
    desk.outcomes["a"] = Throttled("429 slow down", START + 2 * MINUTE)
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until_put_off("a", 1)
        assert (n.budget_used, n.wake_at, n.reason) == (0, START + 2 * MINUTE, "429 slow down")
    (control,) = await desk.book.controls()
    assert (control.scope, control.paused_until, control.paused_at) == ("channel:mail", START + 2 * MINUTE, None)

    other = Duebook(desk.place.url, namespace="test", settings=SETTINGS)
    neighbour = Desk(other, desk.clock, desk.place)
    neighbour.channel()
    neighbour.kind()
    async with neighbour.worker():
        await neighbour.schedule("b")
        await neighbour.book.search()
        assert not neighbour.sent
        desk.clock.advance(2 * MINUTE + timedelta(seconds=1))
        await neighbour.until(State.ACCEPTED, "a", "b")
    await other.close()
    assert [attempt.outcome for attempt in (await desk.story("a")).attempts] == ["throttled", "accepted"]


async def test_resuming_ends_a_throttle(desk: Desk) -> None:
    desk.outcomes["a"] = Throttled("429", START + HOUR)
    async with desk.worker():
        await desk.schedule("a")
        await desk.until_put_off("a", 1)
        await desk.book.resume(channel="mail", reason="they raised our limit")
        await desk.schedule("b")
        await desk.until(State.ACCEPTED, "b")


async def test_shadow_decides_and_records_and_sends_nothing(desk: Desk) -> None:
    desk.decisions["b"] = Skip("read")
    await desk.book.set_mode("note", "shadow", reason="beside the old script")
    async with desk.worker():
        await desk.schedule("a", "b")
        n = await desk.until(State.SKIPPED, "a")
        assert (await desk.until(State.SKIPPED, "b")).reason == "read"
    assert n.reason == "shadow: it would have been sent"
    assert "note a for ann" in (n.message or "")
    assert (n.number, desk.sent, len(desk.asked)) == (0, [], 2)


async def test_off_skips_on_record_and_asks_nobody(desk: Desk) -> None:
    await desk.book.set_mode("note", "off")
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until(State.SKIPPED, "a")
    assert (n.reason, desk.asked, desk.sent) == ("kind note is switched off", [], [])


@pytest.mark.parametrize("modes", [("shadow", "live"), ("off", "shadow", "live"), ("live",)])
async def test_a_mode_is_switched_while_workers_run(desk: Desk, modes: Any) -> None:
    ends = {"shadow": State.SKIPPED, "off": State.SKIPPED, "live": State.ACCEPTED}
    async with desk.worker():
        for number, mode in enumerate(modes):
            await desk.book.set_mode("note", mode)
            desk.clock.advance(MINUTE)
            await desk.schedule(f"k{number}")
            await desk.until(ends[mode], f"k{number}")
    assert len(desk.sent) == modes.count("live")


async def test_one_kind_in_shadow_leaves_the_others_live(bare: Desk) -> None:
    bare.channel()
    bare.kind("note")
    bare.kind("other")
    await bare.book.set_mode("note", "shadow")
    async with bare.worker():
        await bare.schedule("a")
        await bare.schedule("b", kind="other")
        await bare.until(State.SKIPPED, "a")
        await bare.until(State.ACCEPTED, "b", kind="other")


async def test_the_backlog_counts_what_an_operator_looks_at(desk: Desk) -> None:
    async with desk.worker():
        await desk.bring(State.UNCERTAIN, "u")
        await desk.bring(State.REVIEW, "r1", "r2")
        await desk.bring(State.ACCEPTED, "done")
        await desk.bring(State.SENDING, "wire")
        await desk.book.pause()
        await desk.schedule("due", at=START - HOUR)
        await desk.schedule("later", after=HOUR)
        backlog = await desk.book.backlog()
        assert (backlog.due, backlog.in_flight, backlog.uncertain, backlog.review) == (1, 1, 1, 2)
        assert backlog.expired_leases == 0
        assert backlog.oldest_due_at is not None
        assert backlog.oldest_due_at <= START
