"""Deadlines: set, moved, met, and set again; and what their reminders say when they fire."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from duebook import Accepted, DeadlinePolicy, Duebook, Email, NewDeadline, Skip, State
from duebook.errors import InvalidInput
from duebook.testing import SyncTimeline, Timeline
from tests.app.desk import HOUR, MINUTE, START, Desk, soon
from tests.app.places import Place
from tests.app.times import BERLIN, NEW_YORK, at, data, declare, missed, subjects, transaction

MARCH = date(2030, 3, 15)
RENEWAL: dict[str, Any] = {"recipient": "ann", "on": MARCH, "zone": BERLIN}

BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown kind", {"kind": "renewel"}, "kind", "Did you mean 'renewal'"),
    ("a kind without deadlines", {"kind": "digest"}, "kind", "declares no deadlines"),
    ("no key", {"key": ""}, "key", "must not be empty"),
    ("a long key", {"key": "x" * 161}, "key", "the limit is 160"),
    ("no recipient", {"recipient": None}, "recipient", "must be text"),
    ("a tenant with an escape", {"tenant": "\x1b"}, "tenant", "U+001B"),
    ("a text", {"on": "2030-03-15"}, "on", "must be a date"),
    ("an instant", {"on": datetime(2030, 3, 15, tzinfo=UTC)}, "on", "carries an offset"),
    ("seconds", {"on": datetime.fromisoformat("2030-03-15T09:00:30")}, "on", "finer than a minute"),
    ("a date that is over", {"on": date(2030, 1, 6)}, "on", "is over in Europe/Berlin"),
    ("the end of the calendar", {"on": date(9999, 12, 31)}, "on", "100 years"),
    ("its beginning", {"on": date(1, 1, 1)}, "on", "100 years"),
    ("no zone", {"zone": None}, "zone", "needs the zone"),
    ("an unknown zone", {"zone": "Europe/Brelin"}, "zone", "Did you mean 'Europe/Berlin'"),
    ("data that is a number", {"data": 5}, "data", "must be a mapping"),
    ("data with a set", {"data": {"x": {1}}}, "data", "is not JSON"),
]


@pytest.fixture
def times(bare: Desk) -> Desk:
    """A desk with the kinds of times.py, and one whose handler the test tells what to decide."""
    bare.channel()
    declare(bare.book)
    bare.kind("watched", deadline=DeadlinePolicy())
    return bare


@pytest.mark.parametrize(("bad", "field", "says"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
async def test_what_cannot_be_used_is_refused_by_field_alone_and_among_many(
    times: Desk, bad: dict[str, Any], field: str, says: str
) -> None:
    call = {"kind": "renewal", "key": "a", **RENEWAL, **bad}
    rest = {name: call[name] for name in call if name not in ("kind", "key")}
    with pytest.raises(InvalidInput) as refused:
        await times.book.deadlines.set(call["kind"], call["key"], **rest)
    assert refused.value.field == field
    assert says in refused.value.problem
    good = NewDeadline(kind="renewal", key="good", recipient="ann", on=MARCH, zone=BERLIN)
    with pytest.raises(InvalidInput) as refused:
        await times.book.deadlines.set_many([good, NewDeadline(**call)])
    assert refused.value.field == f"[1].{field}"
    assert [times.place.count(table) for table in ("deadlines", "notifications", "missed")] == [0, 0, 0]


async def test_the_other_arguments_are_refused_by_field_too(times: Desk) -> None:
    room = times.book.deadlines
    for call, field in [
        (lambda: room.complete("renewal", "a", reason=""), "reason"),
        (lambda: room.complete("renewal", ""), "key"),
        (lambda: room.complete("digest", "a"), "kind"),
        (lambda: room.find("renewal", ""), "key"),
        (lambda: room.search(limit=0), "limit"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            await call()  # type: ignore[no-untyped-call]
        assert refused.value.field == field
    twice = [NewDeadline(kind="renewal", key="a", **RENEWAL)] * 2
    with pytest.raises(InvalidInput, match="named twice") as refused:
        await room.set_many(twice)
    assert refused.value.field == "[1].key"


# A date and its reminders


async def test_a_date_is_reminded_of_at_nine_there_on_each_of_its_days(timeline: Timeline) -> None:
    answer = await timeline.book.deadlines.set("renewal", "contract", **RENEWAL, data={"plan": "gold"})
    assert (answer.result, answer.term, [step.days for step in answer.steps]) == ("created", 1, [30, 7, 1])
    sent = await timeline.advance(days=100)
    assert at(sent) == ["02-13 08:00", "03-08 08:00", "03-14 08:00"]
    assert subjects(sent) == [f"{days} days before 2030-03-15" for days in (30, 7, 1)]
    assert data(sent[0]) == {"plan": "gold"}


async def test_saying_the_same_again_changes_nothing(times: Desk) -> None:
    room = times.book.deadlines
    await room.set("renewal", "contract", **RENEWAL, data={"b": 1, "a": 2})
    before = await room.find("renewal", "contract")
    times.clock.advance(MINUTE)
    assert (await room.set("renewal", "contract", **RENEWAL, data={"a": 2, "b": 1})).result == "unchanged"
    assert await room.find("renewal", "contract") == before
    assert times.place.count() == 3


async def test_a_handler_sees_the_date_and_the_data_as_they_are_when_it_fires(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("renewal", "contract", **RENEWAL, data={"plan": "gold"})
    await timeline.advance(days=40)
    assert (await room.set("renewal", "contract", **RENEWAL, data={"plan": "silver"})).result == "changed"
    await room.set("renewal", "contract", **{**RENEWAL, "on": date(2030, 4, 15)}, data={"plan": "silver"})
    sent = await timeline.advance(days=60)
    assert subjects(sent) == [f"{days} days before 2030-04-15" for days in (30, 7, 1)]
    assert {data(one)["plan"] for one in sent} == {"silver"}


async def test_a_moved_date_withdraws_what_was_pending_and_says_how_much(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("renewal", "contract", **RENEWAL)
    await timeline.advance(days=40)
    answer = await room.set("renewal", "contract", **{**RENEWAL, "on": date(2030, 5, 15)})
    assert (answer.result, answer.term, answer.cancelled, answer.too_late) == ("moved", 2, 2, 0)
    for days in (7, 1):
        timeline.expect("renewal", f"contract/1/{days}d").cancelled(reason="the deadline has moved to 2030-05-15")
    assert len(await timeline.advance(days=100)) == 3


async def test_to_another_date_and_back_reminds_again(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    for on in (MARCH, date(2030, 4, 15), MARCH):
        await room.set("renewal", "contract", **{**RENEWAL, "on": on})
    assert at(await timeline.advance(days=120)) == ["02-13 08:00", "03-08 08:00", "03-14 08:00"]
    found = await room.find("renewal", "contract")
    assert found is not None
    assert (found.term, found.first_term, found.day) == (3, 1, MARCH)


async def test_next_years_date_reminds_again_also_where_no_step_is_repeated(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("once", "contract", **RENEWAL)
    assert len(await timeline.advance(days=70)) == 3
    await room.set("once", "contract", **{**RENEWAL, "on": date(2031, 3, 15)})
    assert at(await timeline.advance(days=365)) == ["02-13 08:00", "03-08 08:00", "03-14 08:00"]


async def test_within_a_cycle_a_step_that_was_sent_is_not_repeated_if_the_kind_says_so(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("once", "contract", **RENEWAL)
    await timeline.advance(days=40)
    answer = await room.set("once", "contract", **{**RENEWAL, "on": date(2030, 4, 15)})
    assert {step.days: step.left_out for step in answer.steps} == {
        30: "sent already, for the date before",
        7: None,
        1: None,
    }
    assert at(await timeline.advance(days=100)) == ["04-08 07:00", "04-14 07:00"]
    (record,) = await missed(timeline, source="deadline")
    assert (record.name, record.first_label, record.reason) == (
        "contract/2", "30d", "sent already, for the date before",
    )  # fmt: skip


async def test_a_date_that_was_met_and_is_set_again_is_a_new_one(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("once", "contract", **RENEWAL)
    await timeline.advance(days=40)
    answer = await room.complete("once", "contract", reason="paid")
    assert (answer.result, answer.cancelled) == ("completed", 2)
    assert (await room.complete("once", "contract")).result == "already_completed"
    assert await timeline.advance(days=40) == []
    timeline.expect("once", "contract/1/7d").cancelled(reason="paid")
    await room.set("once", "contract", **{**RENEWAL, "on": date(2030, 6, 15)})
    assert len(await timeline.advance(days=100)) == 3


async def test_of_steps_whose_time_has_passed_the_newest_is_sent_at_once(timeline: Timeline) -> None:
    await timeline.book.deadlines.set("renewal", "contract", **{**RENEWAL, "on": date(2030, 1, 12)})
    assert subjects(await timeline.run_due()) == ["7 days before 2030-01-12"]
    assert at(await timeline.advance(days=10)) == ["01-11 08:00"]
    assert [one.first_label for one in await missed(timeline)] == ["30d"]


async def test_after_the_date_comes_what_comes_after_it(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("invoice", "i-1", **{**RENEWAL, "on": datetime.fromisoformat("2030-01-08T17:00")})
    sent = await timeline.advance(days=20)
    assert at(sent) == ["01-07 12:00", "01-15 08:00"]
    assert subjects(sent) == ["1 days before 2030-01-08T17:00", "-7 days before 2030-01-08T17:00"]
    await room.set("invoice", "i-2", **{**RENEWAL, "on": date(2030, 1, 24)})
    await room.complete("invoice", "i-2", reason="paid")
    assert await timeline.advance(days=30) == []


async def test_an_outage_over_the_date_sends_no_reminder_of_what_is_over(timeline: Timeline) -> None:
    await timeline.book.deadlines.set("renewal", "contract", **RENEWAL)
    timeline.at("2030-03-16 00:00", BERLIN)
    assert await timeline.run_due() == []
    timeline.expect("renewal", "contract/1/1d").skipped(reason="expired")


async def test_another_recipient_gets_the_reminders_from_then_on(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("renewal", "contract", **RENEWAL)
    assert (await room.set("renewal", "contract", **{**RENEWAL, "recipient": "bob"})).result == "moved"
    assert {one.recipient for one in await timeline.advance(days=100)} == {"bob"}


async def test_what_was_sent_to_one_person_has_not_been_sent_to_another(timeline: Timeline) -> None:
    room = timeline.book.deadlines
    await room.set("once", "contract", **RENEWAL)
    assert [one.recipient for one in await timeline.advance(days=40)] == ["ann"]
    await room.set("once", "contract", **{**RENEWAL, "recipient": "bob"})
    sent = await timeline.advance(days=60)
    assert [(one.recipient, one.key[-3:]) for one in sent] == [("bob", "30d"), ("bob", "/7d"), ("bob", "/1d")]


async def test_many_are_answered_in_the_order_of_the_arguments(times: Desk) -> None:
    room = times.book.deadlines
    await room.set("renewal", "m", **RENEWAL)
    news = [NewDeadline(kind="renewal", key=key, **RENEWAL) for key in ("z", "m", "a")]
    news[1:1] = [NewDeadline(kind="once", key="q", **{**RENEWAL, "zone": NEW_YORK})]
    answers = await room.set_many(news)
    assert [(answer.key, answer.result) for answer in answers] == [
        ("z", "created"), ("q", "created"), ("m", "unchanged"), ("a", "created"),
    ]  # fmt: skip
    assert [one.key for one in await room.search()] == ["q", "a", "m", "z"]
    assert [one.key for one in await room.search(kind="renewal", after=("renewal", "a"), limit=1)] == ["m"]
    assert [one.key for one in await room.search(recipient="bob")] == []
    assert [one.key for one in await room.search(state="completed")] == []


async def test_more_than_fit_in_one_statement_are_set_all_the_same(times: Desk) -> None:
    news = [NewDeadline(kind="renewal", key=f"d{number:04}", **RENEWAL) for number in reversed(range(600))]
    answers = await times.book.deadlines.set_many(news)
    assert [answer.key for answer in answers] == [new.key for new in news]
    assert times.place.count() == 1_800


async def test_of_one_that_is_not_there(times: Desk) -> None:
    assert (await times.book.deadlines.complete("renewal", "a")).result == "not_found"
    assert await times.book.deadlines.find("renewal", "a") is None


# Between the claim and the wire


async def test_a_date_that_moves_while_a_handler_thinks_takes_the_reminder_back(times: Desk) -> None:
    room = times.book.deadlines
    await room.set("watched", "contract", **{**RENEWAL, "on": date(2030, 1, 12)})
    gate = times.decisions["contract/1/7d"] = times.gate(Email(to="ann@example.org", subject="old", text="old"))
    async with times.worker():
        await soon(gate.entered.wait())
        answer = await room.set("watched", "contract", **RENEWAL)
        assert (answer.cancelled, answer.too_late) == (2, 0)
        gate.open.set()
        await times.until(State.CANCELLED, "contract/1/7d", kind="watched")
    assert times.sent == []


async def test_a_reminder_on_the_wire_is_too_late_to_take_back_and_never_repeated(times: Desk) -> None:
    room = times.book.deadlines
    await room.set("watched", "contract", **{**RENEWAL, "on": date(2030, 1, 12)})
    gate = times.outcomes["contract/1/7d"] = times.gate(Accepted("p-1"))
    async with times.worker():
        await soon(gate.entered.wait())
        answer = await room.complete("watched", "contract", reason="paid")
        assert (answer.result, answer.cancelled, answer.too_late) == ("completed", 1, 1)
        gate.open.set()
        await times.until(State.ACCEPTED, "contract/1/7d", kind="watched")
    assert times.copies("contract/1/7d") == 1


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("term = 2, wall = '2030-03-15'", "the deadline has moved to 2030-03-15"),
        ("state = 'completed', reason = 'paid'", "completed: paid"),
    ],
)
async def test_a_reminder_that_nobody_withdrew_is_skipped_when_it_fires(times: Desk, change: str, reason: str) -> None:
    await times.book.deadlines.set("watched", "contract", **{**RENEWAL, "on": date(2030, 1, 12)})
    times.place.ask(f"update @deadlines set {change}")
    async with times.worker():
        n = await times.until(State.SKIPPED, "contract/1/7d", kind="watched")
    assert n.reason == reason
    assert (times.asked, times.sent) == ([], [])


async def test_what_is_named_by_hand_like_the_group_of_a_deadline_is_no_reminder(times: Desk) -> None:
    times.decisions["by hand"] = Skip("asked")
    async with times.worker():
        await times.schedule("by hand", kind="watched", group="deadline:watched:contract")
        await times.until(State.SKIPPED, "by hand", kind="watched")
    assert [due.step for due in times.asked] == [None]


# Inside the caller's transaction, without a loop, and gone again


async def test_in_the_callers_transaction_a_rollback_takes_everything_away(times: Desk) -> None:
    with transaction(times.place, commit=False) as connection:
        assert times.book.using(connection).deadlines.set("renewal", "contract", **RENEWAL)
    assert [times.place.count(table) for table in ("deadlines", "notifications", "identities")] == [0, 0, 0]
    with transaction(times.place, commit=True) as connection:
        times.book.using(connection).deadlines.set("renewal", "contract", **RENEWAL)
        times.book.using(connection).deadlines.complete("renewal", "contract")
    assert {n.state for n in await times.book.search()} == {State.CANCELLED}


def test_the_twin_without_a_loop(place: Place) -> None:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    declare(book)
    with SyncTimeline(book, place.url, start=START, wipe=True) as timeline:
        room = book.sync.deadlines
        assert room.set("renewal", "a", **RENEWAL).result == "created"
        many = [NewDeadline(kind="renewal", key="b", **RENEWAL)]
        assert [answer.result for answer in room.set_many(many)] == ["created"]
        assert len(timeline.advance(days=70)) == 6
        assert room.complete("renewal", "a").result == "completed"
        assert [one.key for one in room.search(state="open")] == ["b"]
        assert room.find("renewal", "a") is not None


async def test_forgetting_a_person_ends_their_deadlines_and_a_new_one_reminds_again(timeline: Timeline) -> None:
    book, who = timeline.book, "ann.perkins@example.net"
    await book.deadlines.set("renewal", "contract", **{**RENEWAL, "recipient": who}, data={"about": "her secret"})
    await book.forget(who)
    assert await book.deadlines.search(recipient=who) == []
    (found,) = await book.deadlines.search()
    assert (found.state, found.reason, found.data) == ("completed", "erased", "{}")
    assert await timeline.advance(days=40) == []
    await book.deadlines.set("renewal", "contract", **{**RENEWAL, "recipient": "bob"})
    assert [one.recipient for one in await timeline.advance(days=40)] == ["bob", "bob", "bob"]


async def test_a_herd_is_spread_and_nobody_is_reminded_after_the_date(bare: Desk) -> None:
    bare.channel()
    bare.kind("tax", spread=3 * HOUR, deadline=DeadlinePolicy(days=(1,)))
    news = [NewDeadline(kind="tax", key=f"r{n}", **{**RENEWAL, "recipient": f"r{n}"}) for n in range(50)]
    await bare.book.deadlines.set_many(news)
    due = sorted(n.due_at for n in await bare.book.search(limit=100))
    first = datetime(2030, 3, 14, 8, tzinfo=UTC)
    assert first <= due[0] < due[-1] < first + 3 * HOUR
    assert len(set(due)) > 40
    assert due[-1] - due[0] > timedelta(hours=2)
