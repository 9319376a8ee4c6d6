"""A worker asks the handler, does what it decides, and sends once."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest

from duebook import (
    Accepted,
    Backoff,
    Cancel,
    Defer,
    Due,
    Email,
    Event,
    New,
    Reject,
    Retry,
    SendContext,
    Skip,
    State,
    Throttled,
)
from tests.app.desk import DAY, HOUR, MINUTE, SECOND, START, Desk, mail, soon


async def test_what_is_due_is_sent_once_with_all_it_needs(desk: Desk) -> None:
    async with desk.worker():
        await desk.schedule("sub-1/2027", data={"id": 7}, tenant="acme")
        n = await desk.until(State.ACCEPTED, "sub-1/2027")
        await desk.schedule("another")
        await desk.until(State.ACCEPTED, "another")
    (due, _), ((message, context), _) = desk.asked, desk.sent
    assert (due.kind, due.key, due.recipient, due.tenant, due.number) == ("note", "sub-1/2027", "ann", "acme", 1)
    assert (due.data, due.due_at, due.now, due.in_doubt) == ({"id": 7}, START, START, False)
    assert message == mail(due)
    assert (context.kind, context.key, context.recipient, context.number) == ("note", "sub-1/2027", "ann", 1)
    assert context.idempotency_key == "test:note:sub-1/2027"
    assert context.message_id.endswith("@mail.example.org>")
    assert (context.rendered_at, context.deadline_seconds) == (START, 15.0)
    assert (n.basis, n.provider_id, n.number, n.doubt) == ("reported", "p-sub-1/2027", 1, 0)
    assert (n.closed_at, n.begun_at) == (START, START)


async def test_a_late_one_is_sent_and_its_lateness_is_known(desk: Desk) -> None:
    late = timedelta(seconds=1.776)
    async with desk.worker():
        await desk.schedule("a", at=START - late)
        await desk.until(State.ACCEPTED, "a")
    assert (desk.asked[0].lateness, len(desk.sent)) == (late, 1)


@pytest.mark.parametrize("late", [HOUR - SECOND, HOUR, HOUR + DAY])
async def test_only_a_stated_lateness_drops_a_late_one(bare: Desk, late: timedelta) -> None:
    bare.channel()
    bare.kind(max_lateness=HOUR)
    await bare.schedule("a")
    bare.clock.advance(late)
    async with bare.worker():
        n = await bare.until(State.ACCEPTED if late < HOUR else State.SKIPPED, "a")
    if late >= HOUR:
        assert (n.reason or "").startswith("expired: worth nothing after")
        assert bare.sent == []


@pytest.mark.parametrize("ahead", [MINUTE, 30 * DAY, 60 * DAY, 400 * DAY])
async def test_what_is_far_ahead_is_neither_claimed_nor_sent_before_its_instant(desk: Desk, ahead: timedelta) -> None:
    await desk.schedule("far", after=ahead)
    async with desk.worker():
        await desk.schedule("near")
        await desk.until(State.ACCEPTED, "near")
        n = await desk.read("far")
        assert (n.state, n.version) == (State.SCHEDULED, 1)
        desk.clock.advance(ahead - SECOND)
        await desk.schedule("nearer")
        await desk.until(State.ACCEPTED, "nearer")
        assert (await desk.read("far")).version == 1
        desk.clock.advance(SECOND)
        await desk.until(State.ACCEPTED, "far")
    assert [due.now for due in desk.asked if due.key == "far"] == [START + ahead]


async def test_of_very_many_only_the_due_one_is_touched(desk: Desk) -> None:
    far = [New(kind="note", key=f"far{n}", recipient="ann", after=45 * DAY) for n in range(2_000)]
    await desk.book.schedule_many(far)
    async with desk.worker():
        await desk.schedule("near")
        await desk.until(State.ACCEPTED, "near")
    assert desk.place.ask("select count(*) from @notifications where version > 1")[0][0] == 1
    assert len(desk.asked) == 1


DECISIONS: list[tuple[Any, State, str]] = [
    (Skip("read"), State.SKIPPED, "read"),
    (Cancel("she left"), State.CANCELLED, "she left"),
    (Reject("no address"), State.REVIEW, "no address"),
]


@pytest.mark.parametrize(("decision", "state", "reason"), DECISIONS, ids=[type(row[0]).__name__ for row in DECISIONS])
async def test_a_decision_not_to_send_is_carried_out(desk: Desk, decision: Any, state: State, reason: str) -> None:
    desk.decisions["a"] = decision
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until(state, "a")
    assert (n.reason, n.number, desk.sent) == (reason, 0, [])


async def test_a_deferred_one_is_asked_again_and_costs_nothing(desk: Desk) -> None:
    desk.decisions["a"] = lambda due: mail(due) if due.now >= START + HOUR else Defer("quiet hours", START + HOUR)
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until_true("a", lambda n: n.event is Event.DEFER, "deferred")
        assert (n.state, n.wake_at, n.reason, n.budget_used) == (State.SCHEDULED, START + HOUR, "quiet hours", 0)
        desk.clock.advance(HOUR)
        n = await desk.until(State.ACCEPTED, "a")
    assert (n.due_at, n.number, len(desk.asked)) == (START, 1, 2)


async def test_deferring_for_longer_than_the_kinds_patience_ends_in_review(bare: Desk) -> None:
    bare.channel()
    bare.kind(patience=HOUR)
    bare.decisions["a"] = Defer("not yet", uses_attempt=False)
    async with bare.worker():
        await bare.schedule("a")
        await bare.until_true("a", lambda n: n.event is Event.DEFER, "deferred")
        bare.clock.advance(HOUR)
        n = await bare.until(State.REVIEW, "a")
    assert "not yet" in (n.reason or "")


async def test_a_message_may_be_moved_to_another_channel(bare: Desk) -> None:
    bare.channel("mail")
    bare.channel("post")
    bare.kind()
    bare.decisions["a"] = lambda due: Email(to="a@b.example", subject="s", text="t", channel="post")
    async with bare.worker():
        await bare.schedule("a")
        n = await bare.until(State.ACCEPTED, "a")
    assert (n.channel, n.number, n.budget_used) == ("post", 1, 0)
    assert len(bare.sent) == 1
    (attempt,) = (await bare.story("a")).attempts
    assert attempt.channel == "post"


async def test_a_message_for_a_channel_nobody_has_does_not_vanish(desk: Desk) -> None:
    desk.decisions["a"] = lambda due: Email(to="a@b.example", subject="s", text="t", channel="psot")
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until_true("a", lambda n: n.version > 2, "decided")
    assert "psot" in (n.reason or "")
    assert n.state is State.REVIEW


async def test_plain_functions_run_beside_the_loop(bare: Desk) -> None:
    threads: dict[str, str] = {}

    @bare.book.channel("mail")
    def provider(message: Email, context: SendContext) -> Accepted:
        threads["provider"] = threading.current_thread().name
        return Accepted("p-1")

    @bare.book.kind("note", channel="mail")
    def handler(due: Due) -> Email:
        threads["handler"] = threading.current_thread().name
        return Email(to="a@b.example", subject="s", text="t")

    async with bare.worker():
        await bare.schedule("a")
        assert (await bare.until(State.ACCEPTED, "a")).provider_id == "p-1"
    assert threading.current_thread().name not in threads.values()


class Handler:
    """An object that is called, and awaited."""

    async def __call__(self, due: Due) -> Any:
        return mail(due)


async def answered(due: Due) -> Any:
    return mail(due)


def later(due: Due) -> Any:
    return answered(due)


@pytest.mark.parametrize("handler", [answered, later, Handler()], ids=["async", "plain, answers a coroutine", "object"])
async def test_a_handler_may_be_anything_whose_answer_is_awaited(bare: Desk, handler: Any) -> None:
    bare.channel()
    bare.book.kind("note", channel="mail")(handler)
    async with bare.worker():
        await bare.schedule("a")
        await bare.until_true("a", lambda n: n.version > 3 or n.budget_used > 0, "decided")
        assert (await bare.read("a")).budget_used == 0


async def test_a_retry_waits_and_carries_the_same_keys(desk: Desk) -> None:
    outcomes = iter([Retry("451 later"), Retry("451 later", after=MINUTE), Accepted()])
    desk.outcomes["a"] = lambda _: next(outcomes)
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until_put_off("a", 1)
        assert n.wake_at is not None
        assert START + SECOND <= n.wake_at <= START + 2 * SECOND
        desk.clock.advance(2 * SECOND)
        n = await desk.until_put_off("a", 2)
        assert n.wake_at == desk.clock.now() + MINUTE
        desk.clock.advance(MINUTE)
        n = await desk.until(State.ACCEPTED, "a")
    assert (n.number, n.budget_used) == (3, 2)
    assert len({(context.idempotency_key, context.message_id) for _, context in desk.sent}) == 1
    assert [due.number for due in desk.asked] == [1, 2, 3]


async def test_attempts_are_bounded_and_review_keeps_the_last_words(bare: Desk) -> None:
    bare.channel()
    bare.kind(retry=Backoff(attempts=3))
    bare.outcomes["a"] = lambda context: Retry(f"451 number {context.number}")
    async with bare.worker():
        await bare.schedule("a")
        for number in (1, 2):
            await bare.until_put_off("a", number)
            bare.clock.advance(MINUTE)
        n = await bare.until(State.REVIEW, "a")
    assert (n.number, n.budget_used, n.reason) == (3, 3, "451 number 3")


async def test_one_that_is_always_throttled_is_bounded_by_age(bare: Desk) -> None:
    bare.channel(pause=HOUR)
    bare.kind(retry=Backoff(age=2 * HOUR))
    bare.outcomes["a"] = Throttled("429")
    async with bare.worker():
        await bare.schedule("a")
        for number in (1, 2):
            await bare.until_put_off("a", number)
            bare.clock.advance(HOUR + SECOND)
        n = await bare.until(State.REVIEW, "a")
    assert (n.number, n.budget_used) == (3, 0)


async def test_no_more_are_on_the_wire_than_a_channel_allows(bare: Desk) -> None:
    bare.channel(concurrency=2)
    bare.kind()
    gates = {key: bare.gate(Accepted()) for key in "abcdef"}
    bare.outcomes.update(gates)
    async with bare.worker():
        await bare.schedule(*gates)
        await soon(asyncio.gather(gates["a"].entered.wait(), gates["b"].entered.wait()))
        states = [(await bare.read(key)).state for key in gates]
        assert states.count(State.SENDING) == 2
        assert not any(gates[key].entered.is_set() for key in "cdef")
        for gate in gates.values():
            gate.open.set()
        await bare.until(State.ACCEPTED, *gates)


async def test_urgent_ones_overtake_and_nobody_starves(bare: Desk) -> None:
    bare.channel(concurrency=10)
    for name in ("bulk", "normal", "urgent"):
        bare.kind(name, priority=name)
        await bare.schedule(*(f"{name}{n}" for n in range(30)), kind=name)
    async with bare.worker():
        for name in ("bulk", "normal", "urgent"):
            await bare.until(State.ACCEPTED, *(f"{name}{n}" for n in range(30)), kind=name)
    order = [context.kind for _, context in bare.sent]
    assert order[:10] == ["urgent"] * 10
    assert order[:40].count("urgent") >= 20
    assert {"normal", "bulk"} < set(order[:40])


# A worker that stops


async def test_stopping_gives_back_what_has_not_begun_and_settles_what_is_on_the_wire(bare: Desk) -> None:
    bare.channel(concurrency=1)
    bare.kind()
    wire, handler = bare.gate(Accepted("p-1")), bare.gate(mail)
    bare.outcomes["wire"], bare.decisions["asked"] = wire, handler
    async with bare.book.worker() as worker:
        await bare.schedule("wire")
        await soon(wire.entered.wait())
        await bare.schedule("asked", "waiting")
        await soon(handler.entered.wait())
        stopping = asyncio.create_task(worker.stop())
        for key in ("asked", "waiting"):
            n = await bare.until(State.SCHEDULED, key)
            assert (n.number, n.budget_used, n.wake_at) == (0, 0, START)
        assert (await bare.read("wire")).state is State.SENDING
        wire.open.set()
        await soon(stopping)
    assert (await bare.read("wire")).state is State.ACCEPTED
    assert [context.key for _, context in bare.sent] == ["wire"]


async def test_a_stop_waits_no_longer_than_it_may_and_then_nobody_knows(bare: Desk) -> None:
    bare.channel()
    bare.kind()
    wire = bare.outcomes["a"] = bare.gate(Accepted())
    async with bare.book.worker(stop_seconds=0.05):
        await bare.schedule("a")
        await soon(wire.entered.wait())
    assert (await bare.read("a")).state is State.SENDING


class HardOfHearing:
    """An agent whose client library swallows the first cancellation."""

    name = "hard of hearing"
    pace_seconds = 0.0

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.swallowed = False

    async def step(self) -> bool:
        self.entered.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            if self.swallowed:
                raise
            self.swallowed = True
        return True


async def test_a_stop_survives_a_cancellation_that_was_swallowed(bare: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("duebook.worker.CANCEL_SECONDS", 0.01)
    agent = HardOfHearing()
    worker = bare.book.wired.worker(None, "mail.example.org", 1.0)
    worker.agents = [*worker.agents, agent]
    await worker.start()
    await soon(agent.entered.wait())
    await soon(worker.stop())
    assert agent.swallowed


async def test_a_worker_may_be_started_again_and_two_may_share_the_work(desk: Desk) -> None:
    keys = [f"k{n:02}" for n in range(40)]
    async with desk.worker():
        await desk.schedule("first")
        await desk.until(State.ACCEPTED, "first")
    async with desk.worker(), desk.worker():
        await desk.schedule(*keys)
        await desk.until(State.ACCEPTED, *keys)
    assert sorted(context.key for _, context in desk.sent) == ["first", *keys]


async def test_a_worker_leaves_kinds_it_does_not_know_alone(bare: Desk) -> None:
    bare.channel()
    bare.kind()
    bare.book.declare("other", channel="mail")
    async with bare.worker():
        await bare.schedule("a", kind="other")
        await bare.schedule("b")
        await bare.until(State.ACCEPTED, "b")
        assert (await bare.read("a", "other")).version == 1
