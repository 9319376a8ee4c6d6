"""A limit that kinds share: how much of a recipient's attention they take together."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from duebook import AttentionLimit, Due, Duebook, Email, Rejected
from duebook.errors import InvalidInput
from duebook.testing import SyncTimeline, Timeline
from tests.app.desk import START
from tests.app.places import Place
from tests.app.times import at, subjects

A_DAY = AttentionLimit("a-day", 2)


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("digest", channel="mail", attention=A_DAY)(told)
    book.kind("survey", channel="mail", attention=A_DAY)(told)
    book.kind("alarm", channel="mail")(told)
    return book


def told(due: Due) -> Email:
    return Email(to=f"{due.recipient}@example.org", subject=due.key, text="…")


@pytest.fixture
def day(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


async def five_at_once(day: Timeline) -> None:
    for number in range(5):
        kind = ("digest", "survey")[number % 2]
        await day.book.schedule(kind, f"k{number}", recipient="ann", after=timedelta(minutes=1))


async def test_what_is_over_the_limit_waits_on_record_and_uses_no_attempt(day: Timeline) -> None:
    await five_at_once(day)
    assert len(await day.advance(hours=23)) == 2
    story = await day.book.explain("digest", "k4")
    assert story is not None
    assert story.notification is not None
    assert "2 messages under the limit 'a-day'" in (story.notification.reason or "")
    assert (story.notification.number, story.notification.budget_used) == (0, 0)


async def test_two_a_day_are_two_on_each_of_the_days(day: Timeline) -> None:
    await five_at_once(day)
    sent = await day.advance(days=3)
    assert sorted(subjects(sent)) == ["k0", "k1", "k2", "k3", "k4"]
    assert [instant[:5] for instant in at(sent)] == [f"{START + timedelta(days=day):%m-%d}" for day in (0, 0, 1, 1, 2)]


async def test_other_recipients_and_other_kinds_have_room_of_their_own(day: Timeline) -> None:
    await five_at_once(day)
    await day.book.schedule("digest", "bobs", recipient="bob", after=timedelta(minutes=1))
    await day.book.schedule("alarm", "fire", recipient="ann", after=timedelta(minutes=1))
    sent = subjects(await day.advance(hours=1))
    assert {"bobs", "fire"} <= set(sent)
    assert len(sent) == 4


async def test_what_never_reached_the_recipient_takes_nothing(day: Timeline) -> None:
    day.channel("mail").next(Rejected("no such mailbox"), Rejected("no such mailbox"))
    await five_at_once(day)
    assert len(await day.advance(hours=1)) == 2
    assert len(day.attempts()) == 4


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"name": "a day", "most": 2}, "attention.name"),
        ({"name": "day", "most": 0}, "attention.most"),
        ({"name": "day", "most": 2, "per": timedelta(0)}, "attention.per"),
    ],
)
def test_a_limit_that_cannot_be_is_refused_by_field(wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        AttentionLimit(**wrong)
    assert refused.value.field == field


def test_a_person_who_is_forgotten_leaves_no_name(place: Place) -> None:
    with SyncTimeline(a_book(), place.url, start=START, wipe=True) as day:
        day.book.sync.schedule("digest", "k", recipient="ann", after=timedelta(minutes=1))
        day.advance(hours=1)
        day.book.sync.forget("ann")
        assert place.ask("select count(*) from @attention_taken where recipient = 'ann'") == [(0,)]
        assert place.ask("select count(*) from @attention where recipient = 'ann'") == [(0,)]
