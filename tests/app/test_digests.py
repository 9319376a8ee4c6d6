"""Digests: what is in which, what is left over, what an outage leaves, and what becomes of an undelivered one."""

from dataclasses import replace
from datetime import datetime, time, timedelta
from typing import Any

import pytest

from duebook import DigestPolicy, Item, Rejected, Retry
from duebook.errors import InvalidInput
from duebook.testing import Crash, Timeline, accept_then
from tests.app.desk import DAY, HOUR, MINUTE, START
from tests.app.gathered import LOS_ANGELES, a_book, add, gathering, items, told
from tests.app.places import Place
from tests.app.times import at, missed, subjects

MOMENT = timedelta(microseconds=1)
NAIVE = datetime(2030, 1, 7)  # noqa: DTZ001 - that is the fault

BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown kind", {"kind": "nwes"}, "kind", "Did you mean 'news'"),
    ("a kind that gathers nothing", {"kind": "chat"}, "kind", "DigestPolicy"),
    ("no recipient", {"recipient": ""}, "recipient", "must not be empty"),
    ("a long item", {"item": "x" * 256}, "item", "the limit is 255"),
    ("no number", {"score": float("nan")}, "score", "finite"),
    ("no finite number", {"score": float("inf")}, "score", "finite"),
    ("a number past all floats", {"score": 10**5_000}, "score", "finite"),
    ("a score that is text", {"score": "9"}, "score", "finite"),
    ("a naive instant", {"ready_at": NAIVE}, "ready_at", "time zone"),
    ("an instant as text", {"ready_at": "2030-01-07"}, "ready_at", "time zone"),
    ("an instant in the year 9000", {"ready_at": START.replace(year=9000)}, "ready_at", "100 years"),
    ("data with a set", {"data": {"x": {1}}}, "data", "is not JSON"),
    ("a tenant with an escape", {"tenant": "\x1b"}, "tenant", "U+001B"),
]


def numbered(count: int) -> list[str]:
    return [f"i{number:03}" for number in range(count)]


# Which period


async def test_what_is_ready_at_the_cutoff_is_in_the_next_digest(news: Timeline) -> None:
    cutoff = START + HOUR
    await add(news, "before", ready_at=cutoff - MOMENT)
    await add(news, "at", ready_at=cutoff)
    sent = await news.advance(hours=3)
    assert (at(sent), items(sent)) == (["01-07 13:00", "01-07 14:00"], [["before"], ["at"]])
    assert subjects(sent) == [str(int(START.timestamp())), str(int(cutoff.timestamp()))]


async def test_what_came_late_is_in_the_next_one_and_counted(news: Timeline) -> None:
    await add(news, "on time")
    await news.advance(minutes=90)
    await add(news, "late", ready_at=START + MINUTE)
    await add(news, "fresh")
    (sent,) = await news.advance(hours=3)
    assert (told(sent)["items"], told(sent)["late"]) == (["fresh", "late"], 1)


async def test_the_highest_scores_come_first_and_equal_ones_by_code_point(news: Timeline) -> None:
    for item, score in (("a", 1), ("B", 1), ("é", 1), ("z", 2.5), ("_", 1)):
        await add(news, item, score=score)
    sent = await news.advance(hours=3)
    assert items(sent) == [["z", "B", "_"], ["a", "é"]]


async def test_an_empty_period_sends_nothing_and_costs_no_row(news: Timeline, place: Place) -> None:
    await add(news, "one")
    await news.advance(days=2)
    assert [place.count(table) for table in ("digests", "notifications", "missed")] == [1, 1, 0]


@pytest.mark.parametrize("overflow", ["carry", "drop"])
async def test_h79_of_three_hundred_the_digest_and_what_it_leaves_out_are_all(
    of_policy: Any, place: Place, overflow: Any
) -> None:
    timeline = of_policy(DigestPolicy(limit=20, overflow=overflow))
    names = numbered(300)
    await timeline.book.digests.add_many([Item(kind="news", recipient="ann", item=name) for name in names])
    sent = await timeline.advance(days=1)
    assert [len(told(one)["items"]) + told(one)["more"] for one in sent[:2]] == [300, 280][: len(sent)]
    included = [item for one in sent for item in told(one)["items"]]
    assert included == (names if overflow == "carry" else names[:20])
    if overflow == "drop":
        assert place.ask("select outcome, count(*) from @digest_items group by outcome order by 2") == [
            (None, 20), ("dropped", 280),
        ]  # fmt: skip


async def test_what_has_waited_too_long_is_worth_nothing(of_policy: Any, place: Place) -> None:
    timeline = of_policy(DigestPolicy(limit=2, expire_after=90 * MINUTE))
    for item in ("a", "b", "c", "d", "e"):
        await add(timeline, item)
    assert items(await timeline.advance(hours=5)) == [["a", "b"]]
    assert place.ask("select count(*) from @digest_items where outcome = 'expired'")[0][0] == 3
    assert await timeline.book.digests.waiting("news", "ann") == []


async def test_two_kinds_for_one_recipient_are_two_promises(place: Place) -> None:
    book = a_book()
    book.kind("jobs", channel="mail", digest=DigestPolicy())(gathering)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        for kind in ("news", "jobs"):
            assert (await book.digests.add(kind, "ann", "same")).created
        sent = await timeline.advance(hours=2)
        assert sorted((one.kind, *told(one)["items"]) for one in sent) == [("jobs", "same"), ("news", "same")]


# Clocks


@pytest.mark.parametrize(
    ("start", "sent"),
    [
        ("2026-03-07T18:00+00:00", ["03-08 16:00", "03-09 16:00", "03-10 16:00"]),
        ("2026-10-31T18:00+00:00", ["11-01 17:00", "11-02 17:00", "11-03 17:00"]),
    ],
    ids=["the day of 23 hours", "the day of 25 hours"],
)
async def test_nine_o_clock_stays_nine_o_clock_on_both_nights(of_policy: Any, start: str, sent: list[str]) -> None:
    timeline = of_policy(DigestPolicy(daily_at=time(9), zone=LOS_ANGELES))
    timeline.at(datetime.fromisoformat(start))
    for number in range(3):
        await add(timeline, f"i{number}", ready_at=timeline.now + number * DAY + HOUR)
    found = await timeline.advance(days=4)
    assert (at(found), len(set(subjects(found)))) == (sent, 3)


@pytest.mark.parametrize(
    ("start", "daily_at"),
    [("2026-10-31T18:00+00:00", time(1, 30)), ("2026-03-07T18:00+00:00", time(2, 30))],
    ids=["a time that comes twice", "a time that does not come"],
)
async def test_a_contested_time_ends_one_period(of_policy: Any, start: str, daily_at: time) -> None:
    timeline = of_policy(DigestPolicy(daily_at=daily_at, zone=LOS_ANGELES, limit=1))
    timeline.at(datetime.fromisoformat(start))
    await add(timeline, "a", "b", "c")
    found = await timeline.advance(days=2)
    assert items(found) == [["a"], ["b"]]


async def test_an_hour_that_comes_twice_has_two_digests(news: Timeline) -> None:
    news.at("2026-11-01 00:30", LOS_ANGELES)
    for number in range(4):
        await add(news, f"i{number}", ready_at=news.now + number * HOUR)
    sent = await news.advance(hours=5)
    assert items(sent) == [["i0"], ["i1"], ["i2"], ["i3"]]
    assert len(set(subjects(sent))) == 4


async def test_a_recipients_own_clock_has_to_be_stated(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy(daily_at=time(9), zone=None))
    with pytest.raises(InvalidInput) as refused:
        await add(timeline, "a")
    assert refused.value.field == "zone"
    await add(timeline, "a", zone="Asia/Tokyo")
    await add(timeline, "a", zone="Europe/Berlin", recipient="bob")
    assert at(await timeline.advance(days=2)) == ["01-08 00:00", "01-08 08:00"]


def test_messages_have_no_clock_of_their_own() -> None:
    with pytest.raises(InvalidInput) as refused:
        DigestPolicy(daily_at=time(9), zone=None, unread_of="chat")
    assert refused.value.field == "digest.zone"


# After an outage


@pytest.mark.parametrize(
    ("catch_up", "sent", "outcome"),
    [
        ("combine", [["i0", "i1", "i2", "i3"]], ("combined", 3)),
        ("latest", [["i3"]], ("skipped", 3)),
        ("skip", [], ("skipped", 4)),
    ],
)
async def test_periods_missed_are_made_up_for_by_policy_and_on_record(
    of_policy: Any, catch_up: Any, sent: list[list[str]], outcome: tuple[str, int]
) -> None:
    timeline = of_policy(DigestPolicy(catch_up=catch_up))
    for number in range(4):
        await add(timeline, f"i{number}", ready_at=START + number * HOUR + MINUTE)
    timeline.at(START + 4 * HOUR + 30 * MINUTE)
    assert items(await timeline.run_due()) == sent
    assert [(one.outcome, one.periods) for one in await missed(timeline)] == [outcome]
    assert await timeline.run_due() == []
    assert len(await missed(timeline)) == 1, "a second restart finds nothing"
    await add(timeline, "new")
    carried = ["i0", "i1", "i2", "i3"] if catch_up == "skip" else []
    assert items(await timeline.advance(hours=1)) == [[*carried, "new"]]


async def test_no_more_periods_are_combined_than_the_policy_says(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy(most=2))
    for number in range(4):
        await add(timeline, f"i{number}", ready_at=START + number * HOUR + MINUTE)
    timeline.at(START + 4 * HOUR + 30 * MINUTE)
    (sent,) = await timeline.run_due()
    assert (told(sent)["items"], told(sent)["periods"]) == (["i2", "i3"], 2)
    found = [(one.outcome, one.periods, one.reason) for one in await missed(timeline)]
    assert found == [("skipped", 2, "more than 2 periods were missed"), ("combined", 1, "missed")]


async def test_a_period_that_had_its_digest_by_other_rules_has_no_second_one(of_policy: Any) -> None:
    timeline = of_policy(DigestPolicy(daily_at=time(13)))
    await add(timeline, "a")
    assert items(await timeline.advance(hours=1)) == [["a"]]
    kinds = timeline.book.registry.kinds
    kinds["news"] = replace(kinds["news"], digest=DigestPolicy(daily_at=time(15)))
    await add(timeline, "b")
    sent = await timeline.advance(days=2)
    assert (at(sent), items(sent)) == (["01-08 15:00"], [["b"]])
    (found,) = await missed(timeline)
    assert (found.first_label, found.outcome) == ("2030-01-07", "skipped")
    assert "had a digest already" in found.reason


# Once frozen


async def test_every_attempt_tells_the_same_whatever_is_added_meanwhile(news: Timeline) -> None:
    await add(news, "a", "b")
    news.channel("mail").next(Retry("not now"), Retry("not now"))
    await news.advance(hours=1)
    await add(news, "c", ready_at=START, score=9)
    await news.advance(hours=2)
    assert [told(one)["items"] for one in news.attempts()] == [["a", "b"]] * 3 + [["c"]]


async def test_a_repeat_after_a_crash_is_the_same_bytes(news: Timeline, place: Place) -> None:
    await add(news, "a", "b")
    news.channel("mail").next(accept_then(Crash()))
    (sent,) = await news.advance(hours=1, minutes=5)
    place.ask("update @digest_items set score = 9 where item = 'b'")
    await news.book.resolve("news", sent.key, "resend", reason="she has nothing")
    (again,) = await news.advance(minutes=5)
    assert (again.message, again.idempotency_key) == (sent.message, sent.idempotency_key)


async def test_a_refused_one_keeps_its_items_for_a_redrive(news: Timeline) -> None:
    await add(news, "a", "b")
    news.channel("mail").next(Rejected("no such mailbox"))
    await news.advance(hours=1)
    await add(news, "c")
    (first,) = news.attempts()
    await news.advance(hours=1)
    await news.book.redrive("news", first.key, reason="a new address", force=True)
    assert items(await news.advance(minutes=5)) == [["a", "b"]]


# What cannot be used


@pytest.mark.parametrize(("bad", "field", "says"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
async def test_what_cannot_be_used_is_refused_by_field_alone_and_among_many(
    news: Timeline, place: Place, bad: dict[str, Any], field: str, says: str
) -> None:
    call: dict[str, Any] = {"kind": "news", "recipient": "ann", "item": "a", **bad}
    with pytest.raises(InvalidInput) as refused:
        await news.book.digests.add(**call)
    assert (refused.value.field, says in refused.value.problem) == (field, True)
    with pytest.raises(InvalidInput) as refused:
        await news.book.digests.add_many([Item(kind="news", recipient="ann", item="good"), Item(**call)])
    assert refused.value.field in (f"[1].{field}", field)
    assert [place.count(table) for table in ("digest_items", "digest_cursors")] == [0, 0]


async def test_an_item_is_told_once_however_often_it_is_added(news: Timeline) -> None:
    room = news.book.digests
    assert (await room.add("news", "ann", "a")).created
    assert (await room.add("news", "ann", "a")).existing
    assert len(await news.advance(hours=1)) == 1
    assert (await room.add("news", "ann", "a")).existing
    assert await news.advance(hours=3) == []


async def test_of_many_each_is_answered_in_its_place(news: Timeline) -> None:
    given = [("cid", "x"), ("ann", "x"), ("bob", "x"), ("ann", "x"), ("ann", "y")]
    await news.book.digests.add("news", "bob", "x")
    answers = await news.book.digests.add_many([Item(kind="news", recipient=who, item=what) for who, what in given])
    assert [(one.item, one.created) for one in answers] == [
        ("x", True), ("x", True), ("x", False), ("x", False), ("y", True),
    ]  # fmt: skip
