"""Reports about one bad item among good ones, about giving up, and about what lies far ahead; by their ids."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from duebook import Backoff, Due, Duebook, Email, Rejected, Retry, State, Uncertain
from duebook.testing import Timeline
from tests.app.desk import START
from tests.app.places import Place

TEN = [f"item-{number}" for number in range(1, 11)]
AT_ONCE = timedelta(0)


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("mail", channel="mail", retry=Backoff(attempts=5, ceiling=timedelta(minutes=5)))(told)
    return book


def told(due: Due) -> Email:
    if due.data.get("broken"):
        raise RuntimeError("nobody thought of this")
    return Email(to=f"{due.recipient}@example.org", subject=due.key, text="…")


@pytest.fixture
def office(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


async def states(office: Timeline, *keys: str) -> list[State]:
    found = [await office.book.find("mail", key) for key in keys]
    return [n.state for n in found if n is not None]


async def test_h19_a_step_that_makes_nothing_is_never_recorded_as_sent(office: Timeline) -> None:
    office.book.kind("empty", channel="mail", retry=Backoff(attempts=2))(lambda due: None)  # type: ignore[type-var]
    await office.book.schedule("empty", "k", recipient="ann", after=AT_ONCE)
    await office.advance(days=1)
    found = await office.book.find("empty", "k")
    assert found is not None
    assert found.state is State.REVIEW
    assert "NoneType, which is no decision" in (found.reason or "")
    assert office.attempts() == []


async def test_h49_one_that_is_refused_costs_its_neighbours_nothing_however_often_one_runs(office: Timeline) -> None:
    for key in "abc":
        await office.book.schedule("mail", key, recipient=key, after=AT_ONCE)
    office.channel("mail").next(Rejected("554 sender refused"), to="b")
    for _ in range(5):
        await office.run_due()
    assert [one.key for one in office.sent()] == ["a", "c"]
    assert await states(office, "a", "b", "c") == [State.ACCEPTED, State.REVIEW, State.ACCEPTED]
    assert len(office.attempts(key="b")) == 1
    refused = await office.book.find("mail", "b")
    assert refused is not None
    assert refused.reason == "554 sender refused"


async def test_h52_a_redriven_one_gets_a_fresh_budget_and_keeps_its_history(office: Timeline) -> None:
    await office.book.schedule("mail", "k", recipient="ann", after=AT_ONCE)
    office.channel("mail").next(*[Retry("451 greylisted")] * 5)
    await office.advance(days=1)
    assert await states(office, "k") == [State.REVIEW]
    assert await office.book.redrive("mail", "k", reason="the provider is healthy again")
    await office.run_due()
    story = await office.book.explain("mail", "k")
    assert story is not None
    assert [attempt.outcome for attempt in story.attempts] == ["retry"] * 5 + ["accepted"]
    assert len(office.sent()) == 1


async def test_h52_where_the_last_attempt_is_in_doubt_redriving_says_so(office: Timeline) -> None:
    await office.book.schedule("mail", "k", recipient="ann", after=AT_ONCE)
    office.channel("mail").next(*[Retry("451 greylisted")] * 4, Uncertain("no reply", "data"))
    await office.advance(days=1)
    answer = await office.book.redrive("mail", "k", reason="again")
    assert (answer.result, answer.state) == ("not_in_review", State.UNCERTAIN)
    assert office.sent() == []


async def test_h53_an_exception_nobody_thought_of_undoes_nobody_elses_record(office: Timeline) -> None:
    for key in TEN:
        await office.book.schedule("mail", key, recipient="ann", after=AT_ONCE, data={"broken": key == "item-7"})
    await office.advance(days=1)
    assert sorted(one.key for one in office.sent()) == sorted(key for key in TEN if key != "item-7")
    broken = await office.book.find("mail", "item-7")
    assert broken is not None
    assert broken.state is State.REVIEW
    assert "nobody thought of this" in (broken.reason or "")
    assert await office.run_due() == []


async def test_h75_a_task_whose_only_recipient_opted_out_ends_and_blocks_nothing(office: Timeline) -> None:
    await office.book.schedule("mail", "k", recipient="ann", after=timedelta(hours=1))
    await office.book.schedule("mail", "next", recipient="bob", after=timedelta(hours=1))
    await office.book.people.opt_out("ann", kind="mail")
    await office.advance(hours=1)
    assert await states(office, "k", "next") == [State.SKIPPED, State.ACCEPTED]
    backlog = await office.book.backlog()
    assert (backlog.due, backlog.in_flight, backlog.review) == (0, 0, 0)


async def test_h76_what_lies_far_ahead_is_not_claimed_and_does_not_delay_what_is_near(office: Timeline) -> None:
    for number in range(200):
        await office.book.schedule("mail", f"far-{number}", recipient="ann", after=timedelta(days=45))
    await office.book.schedule("mail", "near", recipient="ann", after=timedelta(seconds=10))
    (sent,) = await office.advance(seconds=10)
    assert (sent.key, sent.at) == ("near", START + timedelta(seconds=10))
    far = await office.book.search(kind="mail", state="scheduled", limit=1_000)
    assert [n.version for n in far] == [1] * 200


@pytest.mark.parametrize("days", [30, 60, 400])
async def test_h77_no_reminder_is_too_far_ahead_to_fire_at_its_instant(office: Timeline, days: int) -> None:
    await office.book.schedule("mail", "k", recipient="ann", after=timedelta(days=days))
    assert await office.advance(days=days - 1) == []
    (sent,) = await office.advance(days=1)
    assert sent.at == START + timedelta(days=days)
