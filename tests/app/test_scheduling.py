import asyncio
from datetime import timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from duebook import Accepted, New, Scheduled, State, local
from duebook.errors import AlreadyScheduled, InvalidInput
from tests.app.desk import DAY, HOUR, MINUTE, START, Desk

BERLIN = ZoneInfo("Europe/Berlin")


def new(key_: str, **changes: Any) -> New:
    return New(**{"kind": "note", "key": key_, "recipient": "ann", "after": HOUR, **changes})


async def test_a_new_identity_is_created_and_the_next_call_is_told_so(desk: Desk) -> None:
    first = await desk.book.schedule("note", "a", recipient="ann", after=HOUR)
    assert (first.created, first.existing, first.state, first.due_at) == (True, False, State.SCHEDULED, START + HOUR)
    second = await desk.book.schedule("note", "a", recipient="bob", after=DAY)
    assert (second.created, second.existing, second.id) == (False, True, first.id)
    assert (second.state, second.due_at) == (State.SCHEDULED, START + HOUR)
    assert (await desk.read("a")).recipient == "ann"
    assert desk.place.count() == 1


async def test_what_was_promised_is_on_record(desk: Desk) -> None:
    at = local("2030-03-31 02:30", "Europe/Berlin")
    await desk.book.schedule(
        "note", "ä/1", recipient="Zoë", at=at, data={"id": 7, "of": ["ü", None]}, group="unread:42:ann", tenant="acme"
    )
    n = await desk.read("ä/1")
    assert (n.recipient, n.tenant, n.group, n.namespace, n.channel) == ("Zoë", "acme", "unread:42:ann", "test", "mail")
    assert (n.wall, n.zone, n.rule) == ("2030-03-31T02:30:00", "Europe/Berlin", "compatible")
    assert n.due_at.isoformat() == "2030-03-31T01:30:00+00:00"
    assert n.expires_at is None


async def test_a_utc_time_is_an_instant_and_a_zoned_one_a_local_promise(desk: Desk) -> None:
    await desk.book.schedule("note", "utc", recipient="ann", at=START + HOUR)
    await desk.book.schedule("note", "berlin", recipient="ann", at=(START + HOUR).astimezone(BERLIN))
    utc, berlin = await desk.read("utc"), await desk.read("berlin")
    assert (utc.due_at, utc.zone) == (berlin.due_at, None)
    assert (berlin.zone, berlin.wall) == ("Europe/Berlin", "2030-01-07T14:00:00")


async def test_a_past_time_is_kept_as_promised_and_due_at_once(desk: Desk) -> None:
    answer = await desk.book.schedule("note", "a", recipient="ann", at=START - MINUTE * 30)
    n = await desk.read("a")
    assert answer.due_at == n.due_at == START - MINUTE * 30
    assert n.wake_at == START


@pytest.mark.parametrize(
    ("lateness", "expires", "wanted"),
    [
        (None, None, None),
        (2 * DAY, None, HOUR + 2 * DAY),
        (2 * DAY, DAY, DAY),
        (None, DAY, DAY),
    ],
)
async def test_it_is_worth_nothing_after_what_the_caller_or_the_kind_says(
    bare: Desk, lateness: timedelta | None, expires: timedelta | None, wanted: timedelta | None
) -> None:
    bare.channel()
    bare.kind(max_lateness=lateness)
    await bare.schedule("a", after=HOUR, expires_at=None if expires is None else START + expires)
    assert (await bare.read("a")).expires_at == (None if wanted is None else START + wanted)


# An identity that exists


CHANGED = {"reschedule", "rearm"}


@pytest.mark.parametrize("if_exists", ["keep", "reschedule", "rearm", "raise"])
@pytest.mark.parametrize("state", State)
async def test_the_caller_says_what_becomes_of_one_that_exists(desk: Desk, state: State, if_exists: Any) -> None:
    async with desk.worker():
        await desk.bring(state, "a")
        before = await desk.read("a")
        again: Any = {"recipient": "bob", "after": DAY, "data": {"n": 2}, "if_exists": if_exists}
        if if_exists == "raise":
            with pytest.raises(AlreadyScheduled) as refused:
                await desk.book.schedule("note", "a", **again)
            assert (refused.value.kind, refused.value.key, refused.value.state) == ("note", "a", state)
            return
        answer = await desk.book.schedule("note", "a", **again)
    movable = state in (State.SCHEDULED, State.CLAIMED)
    changed = (if_exists in CHANGED and movable) or (if_exists == "rearm" and state is State.CANCELLED)
    assert (answer.created, answer.changed, answer.id) == (False, changed, before.id)
    assert answer.state == (State.SCHEDULED if changed else state)
    assert answer.due_at == (START + DAY if changed else before.due_at)
    if changed:
        n = await desk.read("a")
        assert (n.state, n.due_at, n.wake_at, n.data.replace(" ", "")) == (
            State.SCHEDULED, START + DAY, START + DAY, '{"n":2}',
        )  # fmt: skip
        assert n.number == 0


async def test_the_same_key_under_another_kind_is_another_promise(bare: Desk) -> None:
    bare.channel()
    bare.kind()
    bare.kind("other")
    await bare.schedule("a")
    assert (await bare.book.schedule("other", "a", recipient="ann", after=HOUR)).created


async def test_a_key_is_remembered_after_its_notification_is_done(desk: Desk) -> None:
    async with desk.worker():
        await desk.schedule("nightly/2026-12-01")
        await desk.until(State.ACCEPTED, "nightly/2026-12-01")
        late = await desk.book.schedule("note", "nightly/2026-12-01", recipient="ann", after=timedelta(0))
    assert (late.created, late.state) == (False, State.ACCEPTED)
    assert len(desk.sent) == 1


async def test_of_many_who_schedule_one_identity_at_once_one_creates_it(desk: Desk) -> None:
    calls = [desk.book.schedule("note", "k", recipient="ann", after=HOUR, data={"n": n}) for n in range(12)]
    answers = await asyncio.gather(*calls)
    assert sum(answer.created for answer in answers) == 1
    assert len({answer.id for answer in answers}) == 1
    assert desk.place.count() == desk.place.count("identities") == 1


# Many at once


async def test_many_are_answered_in_the_order_of_the_arguments(desk: Desk) -> None:
    await desk.schedule("b", after=DAY)
    answers = await desk.book.schedule_many([new("c"), new("b"), new("a", after=MINUTE)])
    assert [(answer.key, answer.created, answer.due_at) for answer in answers] == [
        ("c", True, START + HOUR),
        ("b", False, START + DAY),
        ("a", True, START + MINUTE),
    ]


async def test_of_two_with_one_identity_in_one_call_the_first_is_kept_and_the_second_told(desk: Desk) -> None:
    news = [new("a", data={"n": 1}), new("b"), new("a", data={"n": 2}, after=DAY)]
    first, _, second = await desk.book.schedule_many(news)
    assert (first.created, second.created, second.existing) == (True, False, True)
    assert (second.id, second.due_at) == (first.id, START + HOUR)
    assert (await desk.read("a")).data.replace(" ", "") == '{"n":1}'


async def test_of_two_with_one_identity_in_one_call_the_last_may_be_wanted(desk: Desk) -> None:
    news = [new("a", data={"n": 1}), new("a", data={"n": 2}, after=DAY)]
    answers = await desk.book.schedule_many(news, if_exists="reschedule")
    assert [(answer.created, answer.changed, answer.due_at) for answer in answers] == [
        (True, False, START + HOUR),
        (False, True, START + DAY),
    ]
    assert (await desk.read("a")).due_at == START + DAY


async def test_more_than_fit_in_one_statement_are_scheduled_all_the_same(desk: Desk) -> None:
    news = [new(f"k{n:04}") for n in range(1_500)]
    answers = await desk.book.schedule_many(iter([*news, news[3]]))
    assert sum(answer.created for answer in answers) == 1_500
    assert (answers[-1].created, answers[-1].id) == (False, answers[3].id)
    assert desk.place.count() == 1_500


async def test_none_at_all_is_no_mistake(desk: Desk) -> None:
    answers: list[Scheduled] = await desk.book.schedule_many([])
    assert answers == []


@pytest.mark.parametrize(
    ("bad", "field"),
    [({"key": ""}, "key"), ({"kind": "nte"}, "kind"), ({"after": None}, "at"), ({"data": {"x": {1}}}, "data")],
)
async def test_one_that_cannot_be_stored_is_named_by_position_and_none_is_stored(
    desk: Desk, bad: dict, field: str
) -> None:
    with pytest.raises(InvalidInput) as refused:
        await desk.book.schedule_many([new("a"), new("b"), new("c", **bad), new("d", key="")])
    assert refused.value.field == f"[2].{field}"
    assert desk.place.count() == 0


@pytest.mark.parametrize("count", [2, 1_100])
async def test_all_or_none_are_scheduled_when_the_caller_wants_to_be_told_of_one_that_exists(
    desk: Desk, count: int
) -> None:
    await desk.schedule("k0001", after=DAY)
    with pytest.raises(AlreadyScheduled):
        await desk.book.schedule_many([new(f"k{n:04}") for n in range(count)], if_exists="raise")
    assert desk.place.count() == 1


async def test_a_promise_is_kept_by_whoever_runs_a_worker(desk: Desk) -> None:
    desk.outcomes["a"] = Accepted("provider-1")
    async with desk.worker():
        await desk.schedule("a")
        n = await desk.until(State.ACCEPTED, "a")
    assert (n.provider_id, n.basis, n.number) == ("provider-1", "reported", 1)
