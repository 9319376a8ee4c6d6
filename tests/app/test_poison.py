"""One that goes wrong goes to review with its reason; the rest go out, once each. H50: one kills its worker, too."""

import asyncio
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from duebook import (
    Accepted,
    Backoff,
    Defer,
    Email,
    Notification,
    Push,
    Rejected,
    Retry,
    Skip,
    State,
    Throttled,
    Uncertain,
    Webhook,
)
from tests.app.desk import MINUTE, SETTINGS, START, Desk, die, mail, soon

NAIVE = START.replace(tzinfo=None)
OTHERS = ("b", "c", "d", "e")


@pytest.fixture
def once(bare: Desk) -> Desk:
    """A desk whose kind has one attempt and little time for its handler."""
    bare.channel()
    bare.kind(retry=Backoff(attempts=1), handler_seconds=0.2)
    return bare


async def forever(_: Any) -> Any:
    await asyncio.Event().wait()


async def own_timeout(_: Any) -> Any:
    async with asyncio.timeout(0):
        await asyncio.Event().wait()


def deep(_: Any) -> Any:
    return deep(_)


def made_of(**changes: Any) -> Any:
    return lambda due: Email(**{"to": "a@b.example", "subject": "s", "text": "t", **changes})


BAD_HANDLERS: list[tuple[str, Any, str]] = [
    ("raises", ValueError("no such account"), "ValueError: no such account"),
    ("raises a system error", OSError("the database of the application is down"), "OSError"),
    ("raises a cancellation", asyncio.CancelledError(), "CancelledError"),
    ("raises a timeout of its own", own_timeout, "own_timeout"),
    ("recurses without end", deep, "RecursionError"),
    ("says something unprintable", ValueError("a\x00b\ud800"), "ValueError: a"),
    ("says very much", ValueError("x" * 100_000), "ValueError: x"),
    ("answers nothing", lambda due: None, "NoneType"),
    ("answers a text", lambda due: "sent", "str"),
    ("answers a class", lambda due: {"skip": 1}, "dict"),
    ("skips without a reason", lambda due: Skip(None), "reason"),  # type: ignore[arg-type]
    ("defers to a text", lambda due: Defer("later", until="tomorrow"), ""),  # type: ignore[arg-type]
    ("overruns", forever, "took longer than 0.2 s"),
    ("makes a bad address", made_of(to="not an address"), "not one e-mail address"),
    ("injects a header", made_of(subject="Hi\r\nBcc: x@example.org"), "U+000D"),
    ("makes what cannot be stored", made_of(text="a\x00b"), "U+0000"),
    ("makes too much", made_of(text="x" * 2_000_000), "the limit is 1,048,576"),
    ("makes what is not JSON", lambda due: Webhook(body={"at": START}), "datetime"),
    ("makes NaN", lambda due: Push(to="t", title="t", data={"x": float("nan")}), "cannot be stored"),
]  # fmt: skip


@pytest.mark.parametrize(("decision", "says"), [row[1:] for row in BAD_HANDLERS], ids=[row[0] for row in BAD_HANDLERS])
async def test_a_handler_that_fails_ends_in_review_and_the_rest_go_out(once: Desk, decision: Any, says: str) -> None:
    once.decisions["a"] = decision
    async with once.worker():
        await once.schedule("b", "a", "c", "d", "e")
        await once.until(State.ACCEPTED, *OTHERS)
        n = await once.until(State.REVIEW, "a")
    assert says in (n.reason or "")
    assert n.number == 0
    assert sorted(context.key for _, context in once.sent) == sorted(OTHERS)


async def test_a_handler_that_raises_keeps_its_traceback(once: Desk) -> None:
    def explode(due: Any) -> Any:
        raise KeyError("account 1842")

    once.decisions["a"] = explode
    async with once.worker():
        await once.schedule("a")
        n = await once.until(State.REVIEW, "a")
    assert "Traceback" in (n.reason or "")
    assert "in explode" in (n.reason or "")
    assert "KeyError: 'account 1842'" in (n.reason or "")


def put_off(used: int, n: Notification) -> bool:
    return n.budget_used == used and n.state is State.SCHEDULED


async def test_a_handler_that_fails_uses_an_attempt_and_is_asked_again(bare: Desk) -> None:
    bare.channel()
    bare.kind(retry=Backoff(attempts=3))
    bare.decisions["a"] = lambda due: mail(due) if len(bare.asked) > 2 else 1 / 0
    async with bare.worker():
        await bare.schedule("a")
        for used in (1, 2):
            await bare.until_true("a", partial(put_off, used))
            bare.clock.advance(MINUTE)
        n = await bare.until(State.ACCEPTED, "a")
    assert (n.number, n.budget_used) == (1, 2)


BAD_CHANNELS: list[tuple[str, Any, State]] = [
    ("refuses one", Rejected("554 sender refused"), State.REVIEW),
    ("refuses one without a word", Rejected(""), State.REVIEW),
    ("puts one off without a word", Retry(""), State.REVIEW),
    ("raises", ConnectionResetError("peer hung up"), State.UNCERTAIN),
    ("answers nothing", lambda context: None, State.UNCERTAIN),
    ("answers a text", lambda context: "250 OK", State.UNCERTAIN),
    ("accepts under a number", lambda context: Accepted(12345), State.ACCEPTED),  # type: ignore[arg-type]
    ("accepts under a name with a NUL", Accepted("id\x00"), State.ACCEPTED),
    ("accepts under half a character", Accepted("id\ud800"), State.ACCEPTED),
    ("accepts under bytes", lambda context: Accepted(b"id"), State.ACCEPTED),  # type: ignore[arg-type]
    ("accepts under a very long name", Accepted("x" * 100_000), State.ACCEPTED),
    ("wishes for seconds", lambda context: Retry("451", after=30), State.REVIEW),  # type: ignore[arg-type]
    ("throttles until a naive time", lambda context: Throttled("429", until=NAIVE), State.SCHEDULED),
    ("refuses with an exception", lambda context: Rejected(ValueError("550")), State.REVIEW),  # type: ignore[arg-type]
    ("breaks off with a NUL", Uncertain("a\x00", phase="b\x00"), State.UNCERTAIN),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "state"), [row[1:] for row in BAD_CHANNELS], ids=[row[0] for row in BAD_CHANNELS])
async def test_what_a_channel_answers_about_one_never_costs_the_record_of_another(
    once: Desk, outcome: Any, state: State
) -> None:
    gates = [once.gate(Accepted(f"p-{key}")) for key in OTHERS]
    once.outcomes.update(zip(OTHERS, gates, strict=True))
    once.outcomes["a"] = outcome
    async with once.worker():
        await once.schedule("b", "c", "a", "d", "e")
        await soon(asyncio.gather(*(gate.entered.wait() for gate in gates)))
        for gate in gates:
            gate.open.set()
        await once.until(State.ACCEPTED, *OTHERS)
        n = await once.until_true("a", lambda n: n.number == 1 and n.state is not State.SENDING, f"{state}")
        assert n.state is state
    assert {key: once.copies(key) for key in OTHERS} == dict.fromkeys(OTHERS, 1)


async def test_a_channel_that_answers_too_late_leaves_it_uncertain(bare: Desk) -> None:
    bare.channel(send_seconds=0.05)
    bare.kind()
    bare.outcomes["a"] = forever
    async with bare.worker():
        await bare.schedule("a", "b")
        await bare.until(State.ACCEPTED, "b")
        # The lane allows a send one second more than its channel.
        n = await bare.until(State.UNCERTAIN, "a")
    assert (n.reason, n.doubt) == ("no answer within 0.05 s", 1)


async def test_a_channel_that_raises_a_timeout_of_its_own_is_quoted(once: Desk) -> None:
    once.outcomes["a"] = TimeoutError("the provider's gateway gave up")
    async with once.worker():
        await once.schedule("a")
        n = await once.until(State.UNCERTAIN, "a")
    assert "the provider's gateway gave up" in (n.reason or "")


async def test_runs_after_the_first_have_nothing_to_do(once: Desk) -> None:
    once.outcomes["b"] = Rejected("554 sender refused")
    once.decisions["c"] = RuntimeError("unexpected")
    for run in range(3):
        async with once.worker():
            await once.schedule("a", "b", "c", "d", f"run{run}")
            await once.until(State.ACCEPTED, "a", "d", f"run{run}")
            await once.until(State.REVIEW, "b", "c")
    assert {key: once.copies(key) for key in "abcd"} == {"a": 1, "b": 1, "c": 0, "d": 1}


async def test_one_that_kills_its_worker_reaches_review_and_the_others_are_delivered(bare: Desk) -> None:
    bare.channel(concurrency=40)
    bare.kind(retry=Backoff(attempts=2))
    others = [f"k{n:02}" for n in range(20)]
    held = {key: bare.gate() for key in others}
    bare.decisions.update(held)
    await bare.schedule("p", *others)
    deaths = 0
    while (await bare.read("p")).state is not State.REVIEW:
        killer = bare.decisions["p"] = bare.gate()
        async with bare.book.worker() as worker:
            await soon(killer.entered.wait())
            if not deaths:
                await soon(asyncio.gather(*(gate.entered.wait() for gate in held.values())))
            await die(worker)
        deaths += 1
        bare.decisions.clear()
        bare.clock.advance(timedelta(seconds=SETTINGS.lease_seconds + SETTINGS.grace_seconds + 1))
        await bare.step("rescuer")
        bare.clock.advance(timedelta(seconds=3))
        assert deaths < 10
    async with bare.worker():
        await bare.until(State.ACCEPTED, *others)
    assert deaths == 3
    assert (await bare.read("p")).number == 0
    assert {bare.copies(key) for key in others} == {1}
