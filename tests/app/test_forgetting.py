"""A person's data is erased everywhere; that something was promised, and how it ended, stays."""

from typing import Any

import pytest

from duebook import Accepted, Due, Email, Rejected, Retry, Skip, State, Uncertain
from tests.app.desk import HOUR, START, Desk, soon

WHO = "ann.perkins@example.net"
TRACES = (WHO, "ann.perkins", "Perkins", "secret-pregnancy")


def letter(due: Due) -> Email:
    return Email(to=WHO, to_name="Ann Perkins", subject="For Ann Perkins", text="about your secret-pregnancy")


@pytest.fixture
def full(bare: Desk) -> Desk:
    """A desk whose kind keeps whole copies, and which writes to Ann."""
    bare.channel()
    bare.kind(keep_copy="full")
    return bare


async def promise(desk: Desk, key: str, **changes: Any) -> None:
    desk.decisions.setdefault(key, letter)
    await desk.schedule(key, recipient=WHO, data={"name": "Ann Perkins", "topic": "secret-pregnancy"}, **changes)


def nothing_left(desk: Desk) -> None:
    everything = desk.place.everything()
    assert [trace for trace in TRACES if trace in everything] == []


ENDS: list[tuple[str, Any, Any, State]] = [
    ("accepted", letter, Accepted("p-1"), State.ACCEPTED),
    ("skipped", Skip(f"{WHO} has read it"), None, State.SKIPPED),
    ("refused", letter, Rejected(f"550 {WHO}: no such user"), State.REVIEW),
    ("raised", ValueError(f"no account for {WHO}"), None, State.SCHEDULED),
    ("put off", letter, Retry(f"451 {WHO} is over quota"), State.SCHEDULED),
]


@pytest.mark.parametrize(("decision", "outcome", "state"), [row[1:] for row in ENDS], ids=[row[0] for row in ENDS])
async def test_nothing_of_the_person_is_left_in_any_table(
    full: Desk, decision: Any, outcome: Any, state: State
) -> None:
    full.decisions["a"], full.outcomes["a"] = decision, outcome
    async with full.worker():
        await promise(full, "a", tenant="acme")
        await full.until_true("a", lambda n: n.state is state and n.version > 1)
    assert WHO in full.place.everything()
    assert await full.book.forget(WHO) == 1
    nothing_left(full)
    n = await full.read("a")
    assert n.state is (State.CANCELLED if state in (State.SCHEDULED, State.REVIEW) else state)
    assert n.recipient.startswith("forgotten-")
    assert (n.data, n.message) == ("{}", None)


async def test_what_is_pending_is_cancelled_and_never_asked_about(full: Desk) -> None:
    await promise(full, "a", after=HOUR)
    await promise(full, "b", after=2 * HOUR, group="unread:42")
    await full.schedule("another", recipient="bob", after=HOUR)
    assert await full.book.forget(WHO) == 2
    full.clock.advance(3 * HOUR)
    async with full.worker():
        await full.until(State.ACCEPTED, "another")
    assert [due.recipient for due in full.asked] == ["bob"]
    nothing_left(full)


async def test_a_persons_name_in_a_wish_or_a_group_is_erased_too(full: Desk) -> None:
    full.outcomes["a"] = Uncertain("no reply")
    async with full.worker():
        await promise(full, "a", group=f"unread:42:{WHO}")
        await full.until(State.UNCERTAIN, "a")
        await full.book.cancel("note", "a", reason="Perkins has read it")
        await full.book.resolve("note", "a", "drop", reason="Perkins said so")
    await full.book.forget(WHO)
    nothing_left(full)


async def test_what_is_on_the_wire_keeps_no_trace_once_it_has_ended(full: Desk) -> None:
    gate = full.outcomes["a"] = full.gate(Accepted("p-1"))
    async with full.worker():
        await promise(full, "a")
        await soon(gate.entered.wait())
        await full.book.forget(WHO)
        gate.open.set()
        n = await full.until(State.ACCEPTED, "a")
    assert n.recipient.startswith("forgotten-")
    nothing_left(full)


async def test_a_forgotten_person_gets_no_second_try_of_what_was_on_the_wire(full: Desk) -> None:
    gate = full.outcomes["a"] = full.gate(Retry("451 later"))
    async with full.worker():
        await promise(full, "a")
        await soon(gate.entered.wait())
        await full.book.forget(WHO)
        gate.open.set()
        n = await full.until_true("a", lambda n: n.state is not State.SENDING)
    assert n.state is State.CANCELLED
    assert len(full.asked) == len(full.sent) == 1


async def test_what_may_have_been_sent_keeps_its_words_only_while_it_is_in_doubt(full: Desk) -> None:
    full.outcomes["a"] = Uncertain("no reply")
    async with full.worker():
        await promise(full, "a")
        await full.until(State.UNCERTAIN, "a")
        await full.book.forget(WHO)
        await full.book.resolve("note", "a", "sent", reason="the provider lists it")
    nothing_left(full)


async def test_the_fact_stays_and_the_identity_is_still_taken(full: Desk) -> None:
    async with full.worker():
        await promise(full, "a")
        await full.until(State.ACCEPTED, "a")
    await full.book.forget(WHO)
    again = await full.book.schedule("note", "a", recipient=WHO, after=HOUR)
    assert (again.created, again.state) == (False, State.ACCEPTED)
    story = await full.story("a")
    assert story.identity.state is State.ACCEPTED
    assert [attempt.outcome for attempt in story.attempts] == ["accepted"]
    assert await full.book.search(recipient=WHO) == []


async def test_an_alias_tells_two_people_apart_and_not_who_they_were(full: Desk) -> None:
    for key, who in (("a", WHO), ("b", WHO), ("c", "bob")):
        await full.schedule(key, recipient=who, after=HOUR)
    await full.book.forget(WHO)
    await full.book.forget("bob")
    a, b, c = [(await full.read(key)).recipient for key in "abc"]
    assert a == b != c


async def test_forgetting_somebody_unknown_touches_nothing(full: Desk) -> None:
    await full.schedule("a", recipient="bob", at=START + HOUR)
    assert await full.book.forget(WHO) == 0
    assert (await full.read("a")).state is State.SCHEDULED
