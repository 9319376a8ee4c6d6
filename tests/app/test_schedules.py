"""Recurring schedules: set, changed, paused and removed, and what becomes of their periods."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from duebook import Duebook, Every, NewSchedule, Retention, Rrule
from duebook.errors import InvalidInput
from duebook.testing import SyncTimeline, Timeline
from tests.app.desk import DAY, HOUR, MINUTE, PATIENCE, START, Desk
from tests.app.places import Place
from tests.app.times import BERLIN, NEW_YORK, at, data, declare, missed, subjects, transaction

HOURLY: dict[str, Any] = {"kind": "digest", "recipient": "ann", "recurrence": "0 * * * *", "zone": "UTC"}

BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("no name", {"name": ""}, "name", "must not be empty"),
    ("a long name", {"name": "x" * 161}, "name", "the limit is 160"),
    ("an unknown kind", {"kind": "digst"}, "kind", "Did you mean 'digest'"),
    ("no recipient", {"recipient": None}, "recipient", "must be text"),
    ("a tenant with an escape", {"tenant": "\x1b"}, "tenant", "U+001B"),
    ("a recurrence that is a number", {"recurrence": 5}, "recurrence", "Cron(…), Rrule(…), Every(…)"),
    ("four fields of cron", {"recurrence": "0 9 * *"}, "cron", "write five"),
    ("a day that never comes", {"recurrence": "0 9 31 2 *"}, "cron", "never comes"),
    ("no zone", {"zone": None}, "zone", "must be text"),
    ("an unknown zone", {"zone": "Europe/Brelin"}, "zone", "Did you mean 'Europe/Berlin'"),
    ("a zone nobody can hash", {"zone": []}, "zone", "must be text"),
    ("another catch-up", {"catch_up": "some"}, "catch_up", "all, latest, combine, skip"),
    ("a lateness in seconds", {"max_lateness": 60}, "max_lateness", "timedelta"),
    ("no lateness", {"max_lateness": timedelta(0)}, "max_lateness", "positive"),
    ("half a second of lateness", {"max_lateness": timedelta(seconds=0.5)}, "max_lateness", "whole seconds"),
    ("none to make up for", {"most": 0}, "most", "from 1 to 10,000"),
    ("half a period", {"most": 2.5}, "most", "whole number"),
    ("a naive end", {"until": datetime(2031, 1, 1)}, "until", "time zone"),  # noqa: DTZ001 - that is the fault
    ("an end that has passed", {"until": START}, "until", "has passed already"),
    ("data that is a list", {"data": [1]}, "data", "must be a mapping"),
    ("data that is a number", {"data": 5}, "data", "must be a mapping"),
    ("data with our own name", {"data": {"period": 1}}, "data", "'period'"),
    ("data with a set", {"data": {"x": {1}}}, "data", "is not JSON"),
]


@pytest.fixture
def times(bare: Desk) -> Desk:
    """A desk with the kinds of times.py."""
    bare.channel()
    declare(bare.book)
    return bare


def nothing_is_stored(place: Place) -> None:
    assert [place.count(table) for table in ("schedules", "notifications", "identities", "missed")] == [0, 0, 0, 0]


@pytest.mark.parametrize(("bad", "field", "says"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
async def test_what_cannot_be_used_is_refused_by_field_alone_and_among_many(
    times: Desk, bad: dict[str, Any], field: str, says: str
) -> None:
    call = {"name": "a", **HOURLY, **bad}
    with pytest.raises(InvalidInput) as refused:
        await times.book.schedules.set(call["name"], **{name: call[name] for name in call if name != "name"})
    assert refused.value.field == field
    assert says in refused.value.problem
    with pytest.raises(InvalidInput) as refused:
        await times.book.schedules.set_many([NewSchedule(**{"name": "good", **HOURLY}), NewSchedule(**call)])
    assert refused.value.field in (f"[1].{field}", field)
    nothing_is_stored(times.place)


async def test_the_other_arguments_are_refused_by_field_too(times: Desk) -> None:
    room = times.book.schedules
    await room.set("a", **HOURLY)
    for call, field in [
        (lambda: room.pause("a", reason=""), "reason"),
        (lambda: room.remove("a", reason=""), "reason"),
        (lambda: room.find(""), "name"),
        (lambda: room.search(limit=0), "limit"),
        (lambda: room.missed(limit=10_001), "limit"),
        (lambda: room.missed(source="weather"), "source"),  # type: ignore[arg-type]
    ]:
        with pytest.raises(InvalidInput) as refused:
            await call()  # type: ignore[no-untyped-call]
        assert refused.value.field == field
    twice = [NewSchedule(**{"name": "b", **HOURLY})] * 2
    with pytest.raises(InvalidInput, match="named twice") as refused:
        await room.set_many(twice)
    assert refused.value.field == "[1].name"
    assert times.place.count("schedules") == 1


# Set, and set again


@pytest.mark.parametrize(
    "recurrence",
    [
        "30 9 * * MON-FRI",
        Rrule("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1", datetime.fromisoformat("2030-01-01T09:00")),
        Every(2, "week", datetime.fromisoformat("2030-01-01T09:00")),
    ],
)
async def test_saying_the_same_again_changes_nothing(times: Desk, recurrence: Any) -> None:
    room = times.book.schedules
    told: dict[str, Any] = {
        **HOURLY, "recurrence": recurrence, "zone": BERLIN, "data": {"b": 1, "a": [1.5, None]}, "tenant": "acme",
        "max_lateness": 90 * MINUTE, "until": START + 300 * DAY, "catch_up": "all", "most": 7,
    }  # fmt: skip
    first = await room.set("a", **told)
    before = await room.find("a")
    assert first.result == "created"
    assert before is not None
    assert (before.next_at, before.until_at, before.max_lateness) == (first.next_at, told["until"], 90 * MINUTE)
    times.clock.advance(timedelta(minutes=1))
    again = await room.set("a", **{**told, "data": {"a": [1.5, None], "b": 1}})
    assert (again.result, again.next_at) == ("unchanged", first.next_at)
    assert await room.find("a") == before


@pytest.mark.parametrize(
    "change",
    [
        {"recurrence": "30 * * * *"}, {"zone": BERLIN}, {"catch_up": "all"}, {"max_lateness": HOUR}, {"most": 3},
        {"until": START + DAY}, {"data": {"n": 1}}, {"tenant": "acme"}, {"recipient": "bob"}, {"kind": "renewal"},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
async def test_each_field_can_be_changed(times: Desk, change: dict[str, Any]) -> None:
    room = times.book.schedules
    await room.set("a", **HOURLY)
    assert (await room.set("a", **{**HOURLY, **change})).result == "changed"
    assert (await room.set("a", **{**HOURLY, **change})).result == "unchanged"
    assert (await room.set("a", **HOURLY)).result == "changed"


async def test_many_are_answered_in_the_order_of_the_arguments(times: Desk) -> None:
    room = times.book.schedules
    await room.set("m", **HOURLY)
    await room.set("b", **HOURLY)
    news = [NewSchedule(**{**HOURLY, "name": name, "recipient": who}) for name, who in [("z", "ann"), ("m", "bob")]]
    answers = await room.set_many([*news, NewSchedule(**{**HOURLY, "name": "b"})])
    assert [(answer.name, answer.result) for answer in answers] == [
        ("z", "created"), ("m", "changed"), ("b", "unchanged"),
    ]  # fmt: skip
    assert [one.name for one in await room.search()] == ["b", "m", "z"]
    assert [one.name for one in await room.search(recipient="ann", after="b")] == ["z"]
    assert [one.name for one in await room.search(kind="renewal")] == []


async def test_more_than_fit_in_one_statement_are_set_all_the_same(times: Desk) -> None:
    news = [NewSchedule(**{**HOURLY, "name": f"s{number:04}"}) for number in reversed(range(700))]
    answers = await times.book.schedules.set_many(news)
    assert [answer.name for answer in answers] == [new.name for new in news]
    assert times.place.count("schedules") == 700


# Time


async def test_a_schedule_sends_at_each_of_its_times_and_says_which_it_is(timeline: Timeline) -> None:
    await timeline.book.schedules.set("news", **{**HOURLY, "recurrence": "0 9 * * *", "zone": BERLIN}, data={"n": 1})
    sent = await timeline.advance(days=2)
    assert at(sent) == ["01-08 08:00", "01-09 08:00"]
    assert [one.key for one in sent] == ["news/2030-01-08T09:00", "news/2030-01-09T09:00"]
    assert data(sent[0]) == {"n": 1, "period": {"schedule": "news", "label": "2030-01-08T09:00"}}
    assert await missed(timeline) == []


async def test_a_worker_sees_to_what_comes_while_it_runs(times: Desk) -> None:
    await times.book.schedules.set("a", **HOURLY)
    async with times.worker(), asyncio.timeout(PATIENCE):
        for number in (1, 2):
            while len(times.sent) < number:
                times.changed.clear()
                await times.changed.wait()
            times.clock.advance(HOUR)
    assert [context.key[-5:] for _, context in times.sent][:2] == ["12:00", "13:00"]


async def test_both_odd_nights(timeline: Timeline) -> None:
    timeline.at("2030-03-30 12:00", BERLIN)
    await timeline.book.schedules.set("fixed", **{**HOURLY, "recurrence": "30 2 * * *", "zone": BERLIN})
    assert at(await timeline.advance(days=2)) == ["03-31 01:30", "04-01 00:30"]
    timeline.at("2030-10-26 12:00", BERLIN)
    await timeline.run_due()
    await timeline.book.schedules.set("hourly", **{**HOURLY, "zone": BERLIN, "recipient": "bob"})
    await timeline.advance(hours=24)
    bobs = [one.at for one in timeline.sent(to="bob")]
    assert bobs == [bobs[0] + number * HOUR for number in range(25)]
    assert at(timeline.sent(to="ann")[-1:]) == ["10-27 00:30"]


async def test_an_end_ends_it(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **HOURLY, until=START + 3 * HOUR)
    assert at(await timeline.advance(days=1)) == ["01-07 12:00", "01-07 13:00", "01-07 14:00"]
    found = await room.find("a")
    assert found is not None
    assert found.next_at is None
    assert (await room.set("a", **HOURLY)).next_at == timeline.now
    assert at(await timeline.advance(minutes=1)) == ["01-08 12:00"]


async def test_an_edit_repeats_no_period_and_adds_none_that_was_before_it(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **{**HOURLY, "recurrence": "0 13 * * *"})
    assert at(await timeline.advance(hours=2)) == ["01-07 13:00"]
    answer = await room.set("a", **{**HOURLY, "recurrence": "0 13,14 * * *"})
    assert answer.next_at == START + 2 * HOUR, "what is due at this very moment is not over"
    answer = await room.set("a", **{**HOURLY, "recurrence": "0 12,13 * * *"})
    assert answer.next_at == START + DAY
    assert at(await timeline.advance(days=1)) == ["01-07 14:00", "01-08 12:00", "01-08 13:00"]
    assert await missed(timeline) == []


async def test_what_had_come_before_an_edit_is_seen_to_as_the_schedule_was(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **HOURLY, catch_up="all", data={"n": 1})
    timeline.at(START + 2 * HOUR)
    await room.set("a", **{**HOURLY, "recurrence": "30 * * * *"}, catch_up="skip", data={"n": 2})
    sent = await timeline.advance(minutes=40)
    assert [(one.key[-5:], data(one)["n"]) for one in sent] == [("12:00", 1), ("13:00", 1), ("14:00", 1), ("14:30", 2)]


async def test_a_period_whose_name_comes_a_second_time_is_told_as_missed_and_not_swallowed(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **{**HOURLY, "recurrence": "0 14 * * *", "zone": BERLIN})
    assert at(await timeline.advance(hours=2)) == ["01-07 13:00"]
    await room.set("a", **{**HOURLY, "recurrence": "0 14 * * *", "zone": NEW_YORK})
    assert at(await timeline.advance(days=1)) == []
    (one,) = await missed(timeline)
    assert (one.first_label, one.first_at, one.reason) == (
        "2030-01-07T14:00", START + 7 * HOUR, "there was a notification of this name already",
    )  # fmt: skip


async def test_a_clock_that_was_set_back_repeats_nothing(timeline: Timeline) -> None:
    await timeline.book.schedules.set("a", **HOURLY)
    assert len(await timeline.advance(hours=3)) == 4
    timeline.clock.jump(START + HOUR)
    assert at(await timeline.advance(hours=3)) == ["01-07 16:00"]
    assert await missed(timeline) == []


# Paused, resumed, removed


async def test_a_pause_is_on_record_and_makes_up_for_nothing(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **HOURLY)
    timeline.at(START + HOUR)
    assert (await room.pause("a", reason="on holiday")).result == "paused"
    assert at(await timeline.advance(hours=2)) == ["01-07 13:00"]
    assert (await room.pause("a", reason="again")).result == "unchanged"
    answer = await room.resume("a")
    assert (answer.result, answer.next_at) == ("resumed", START + 4 * HOUR)
    assert (await room.resume("a")).result == "unchanged"
    assert at(await timeline.advance(hours=1)) == ["01-07 16:00"]
    assert [(one.first_label[11:], one.last_label[11:], one.reason) for one in await missed(timeline)] == [
        ("12:00", "12:00", "missed; 2030-01-07T13:00 came after it"),
        ("14:00", "15:00", "paused: on holiday"),
    ]


async def test_an_edit_of_a_paused_one_leaves_it_paused(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await room.set("a", **HOURLY)
    await timeline.run_due()
    await room.pause("a", reason="on holiday")
    await timeline.advance(hours=1)
    answer = await room.set("a", **{**HOURLY, "recurrence": "30 * * * *"})
    assert (answer.result, answer.next_at) == ("changed", None)
    assert at(await timeline.advance(hours=1)) == []
    assert (await room.resume("a")).next_at == START + 2 * HOUR + 30 * MINUTE


async def test_removing_one_cancels_what_is_pending_and_a_new_one_repeats_nothing(timeline: Timeline) -> None:
    room = timeline.book.schedules
    await timeline.book.pause(kind="digest", reason="the provider moves")
    await room.set("a", **HOURLY)
    await timeline.advance(hours=1)
    assert (await room.remove("a", reason="she left")).result == "removed"
    assert not await room.remove("a")
    timeline.expect("digest", "a/2030-01-07T12:00").cancelled(reason="she left")
    timeline.expect("digest", "a/2030-01-07T13:00").cancelled(reason="she left")
    await timeline.book.resume(kind="digest")
    await room.set("a", **HOURLY)
    assert at(await timeline.advance(hours=1)) == ["01-07 14:00"]
    assert [one.first_label[11:] for one in await missed(timeline)] == ["13:00"]


async def test_of_one_that_is_not_there_everything_is_answered_not_found(times: Desk) -> None:
    room = times.book.schedules
    for answer in (await room.pause("a", reason="x"), await room.resume("a"), await room.remove("a")):
        assert (answer.result, bool(answer)) == ("not_found", False)
    assert await room.find("a") is None


async def test_a_schedule_of_a_kind_this_program_does_not_know_is_left_alone(times: Desk, place: Place) -> None:
    await times.book.schedules.set("a", **HOURLY)
    times.clock.advance(HOUR)
    del times.book.registry.kinds["digest"], times.book.registry.handlers["digest"]
    with pytest.raises(InvalidInput, match="unknown kind 'digest'"):
        await times.book.schedules.pause("a", reason="retired")
    await times.step("scheduler")
    assert place.count("notifications") == 0
    found = await times.book.schedules.find("a")
    assert found is not None
    assert found.paused_at is None


# Inside the caller's transaction, without a loop, and gone again


async def test_in_the_callers_transaction_a_rollback_takes_it_away(times: Desk) -> None:
    with transaction(times.place, commit=False) as connection:
        assert times.book.using(connection).schedules.set("a", **HOURLY).result == "created"
    assert times.place.count("schedules") == 0
    with transaction(times.place, commit=True) as connection:
        room = times.book.using(connection).schedules
        assert room.set("a", **HOURLY).result == "created"
        assert room.pause("a", reason="on holiday").result == "paused"
    assert times.place.count("schedules") == 1


def test_the_twin_without_a_loop(place: Place) -> None:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    declare(book)
    with SyncTimeline(book, place.url, start=START, wipe=True) as timeline:
        room = book.sync.schedules
        assert room.set("a", **HOURLY).result == "created"
        assert [answer.result for answer in room.set_many([NewSchedule(**{**HOURLY, "name": "b"})])] == ["created"]
        assert at(timeline.advance(hours=1)) == ["01-07 12:00", "01-07 12:00", "01-07 13:00", "01-07 13:00"]
        assert room.pause("a", reason="x").result == "paused"
        assert room.resume("a").result == "resumed"
        assert room.remove("a").result == "removed"
        assert room.find("a") is None
        assert [one.name for one in room.search()] == ["b"]
        assert room.missed() == []


async def test_forgetting_a_person_forgets_their_schedules_and_what_they_missed(timeline: Timeline) -> None:
    book, who = timeline.book, "ann.perkins@example.net"
    await book.schedules.set("a", **{**HOURLY, "recipient": who}, data={"about": "her secret"})
    await book.schedules.set("b", **{**HOURLY, "recipient": "bob"})
    timeline.at(START + 2 * HOUR)
    await book.schedules.pause("a", reason=f"{who} is on holiday")
    await timeline.advance(hours=1)
    await book.schedules.resume("a")
    assert [one.periods for one in await missed(timeline, recipient=who)] == [2, 1]
    await book.forget(who)
    assert [one.name for one in await book.schedules.search()] == ["b"]
    assert await missed(timeline, recipient=who) == []
    assert not [one for one in await missed(timeline) if who in repr(one)]


async def test_what_was_missed_is_let_go_of_with_the_rows_of_its_kind(bare: Desk) -> None:
    bare.channel()
    bare.kind("digest", retention=Retention(HOUR, DAY, 2 * DAY))
    await bare.book.schedules.set("a", **HOURLY)
    bare.clock.advance(3 * HOUR)
    await bare.step("scheduler")
    assert bare.place.count("missed") == 1
    bare.clock.advance(2 * DAY)
    await bare.step("pruner")
    assert bare.place.count("missed") == 1
    bare.clock.advance(timedelta(seconds=1))
    await bare.step("pruner")
    assert bare.place.count("missed") == 0


async def test_a_page_of_what_was_missed_leads_to_the_next(timeline: Timeline) -> None:
    room = timeline.book.schedules
    for name, recipient in [("a", "ann"), ("b", "bob"), ("c", "ann")]:
        await room.set(name, **{**HOURLY, "recipient": recipient})
    timeline.at(START + 2 * HOUR)
    await timeline.run_due()
    (place, newest), *rest = await room.missed(limit=1)
    assert rest == []
    others = [one for _, one in await room.missed(before=place)]
    assert sorted([newest.name, *(one.name for one in others)]) == ["a", "b", "c"]
    assert [one.name for one in await missed(timeline, recipient="ann", name="c")] == ["c"]
    assert await missed(timeline, source="deadline") == []


async def test_everything_that_is_missed_says_the_same_as_the_policy(timeline: Timeline) -> None:
    await timeline.book.schedules.set("a", **HOURLY, catch_up="combine")
    timeline.at(START + 3 * HOUR)
    (one,) = await timeline.run_due()
    assert data(one)["period"] == {
        "schedule": "a", "label": "2030-01-07T15:00", "first": "2030-01-07T12:00", "periods": 4,
    }  # fmt: skip
    assert subjects([one]) == ["a/2030-01-07T15:00"]
    (record,) = await missed(timeline)
    assert (record.outcome, record.combined_into, record.periods) == ("combined", "2030-01-07T15:00", 3)
    assert record.first_at == START.astimezone(UTC)
