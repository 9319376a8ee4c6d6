"""People's wishes, read when a message is about to be made."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest

from duebook import Due, Duebook, Email, Message, Push, State
from duebook.domain import unsubscribe
from duebook.domain.people import Person, QuietHours, quiet_until
from duebook.domain.unsubscribe import Wish
from duebook.errors import InvalidInput, UnknownName
from duebook.testing import Timeline
from tests.app.desk import START
from tests.app.places import Place

NIGHT = (time(22), time(7))
SECRET = "a-secret-of-more-than-16-bytes"


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("news", channel="mail", channels=["push"])(told)
    book.kind("letter", channel="mail")(told)
    book.kind("reset", channel="mail", essential=True)(told)
    book.kind("alarm", channel="mail", priority="urgent")(told)
    book.kind("ping", channel="push")(told)
    return book


def told(due: Due) -> Message:
    address = due.person.addresses.get(due.channel) if due.person is not None else None
    if due.channel == "push":
        return Push(to=address or "token", title=due.key)
    return Email(to=address or "somebody@example.org", subject=due.key, text="…")


@pytest.fixture
def town(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


async def state(town: Timeline, kind: str, key: str = "k") -> tuple[State, str | None]:
    found = await town.book.find(kind, key)
    assert found is not None
    return found.state, found.reason


async def test_h73_a_wish_made_after_scheduling_takes_effect_and_is_on_record(town: Timeline) -> None:
    await town.book.schedule("letter", "k", recipient="ann", after=timedelta(days=2))
    await town.advance(days=1)
    assert await town.book.people.opt_out("ann", kind="letter") is True
    assert await town.book.people.opt_out("ann", kind="letter") is False
    await town.advance(days=1)
    assert await state(town, "letter") == (State.SKIPPED, "opted out of kind letter")
    assert town.attempts() == []


async def test_h74_what_is_essential_is_sent_all_the_same(town: Timeline) -> None:
    await town.book.people.opt_out("ann")
    await town.book.people.opt_out("ann", channel="mail")
    for kind in ("letter", "reset"):
        await town.book.schedule(kind, "k", recipient="ann", after=timedelta(0))
    await town.run_due()
    assert (await state(town, "letter"))[0] is State.SKIPPED
    assert (await state(town, "reset"))[0] is State.ACCEPTED


async def test_whoever_wants_it_again_gets_it_again(town: Timeline) -> None:
    await town.book.people.opt_out("ann", kind="letter")
    assert await town.book.people.opt_in("ann", kind="letter") is True
    await town.book.schedule("letter", "k", recipient="ann", after=timedelta(0))
    assert len(await town.run_due()) == 1


async def test_a_preferred_channel_is_taken_where_the_kind_can_use_it_and_costs_no_attempt(town: Timeline) -> None:
    addresses = {"mail": "ann@example.org", "push": "anns-telephone"}
    await town.book.people.set("ann", addresses=addresses, preferred="push")
    for kind in ("news", "letter"):
        await town.book.schedule(kind, "k", recipient="ann", after=timedelta(0))
    sent = await town.run_due()
    assert {(one.kind, one.channel, one.to, one.number) for one in sent} == {
        ("news", "push", "anns-telephone", 1),
        ("letter", "mail", "ann@example.org", 1),
    }


async def test_whoever_wants_no_mail_gets_another_channel_or_nothing(town: Timeline) -> None:
    await town.book.people.opt_out("ann", channel="mail")
    for kind in ("news", "letter", "ping"):
        await town.book.schedule(kind, "k", recipient="ann", after=timedelta(0))
    sent = await town.run_due()
    assert {(one.kind, one.channel) for one in sent} == {("news", "push"), ("ping", "push")}
    assert await state(town, "letter") == (State.SKIPPED, "opted out of channel mail")


async def test_quiet_hours_hold_and_drop_nothing_and_let_the_urgent_and_the_essential_through(town: Timeline) -> None:
    await town.book.people.set("ann", zone="America/New_York", quiet=NIGHT)
    at = datetime(2030, 1, 9, 5, tzinfo=UTC)  # midnight in New York
    for kind in ("letter", "alarm", "reset"):
        await town.book.schedule(kind, "k", recipient="ann", at=at)
    await town.advance_to(at + timedelta(minutes=1))
    assert {one.kind for one in town.sent()} == {"alarm", "reset"}
    await town.advance(days=1)
    (letter,) = town.sent(kind="letter")
    assert letter.at == datetime(2030, 1, 9, 12, tzinfo=UTC)
    assert letter.number == 1


@pytest.mark.parametrize(
    ("quiet", "now", "until"),
    [
        # Clocks go back at 06:00Z: 01:30 comes twice, and is quiet twice.
        ((time(22), time(1, 30)), "2026-11-01T05:10", "2026-11-01T05:30"),
        ((time(22), time(1, 30)), "2026-11-01T06:10", "2026-11-01T06:30"),
        ((time(22), time(1, 30)), "2026-11-01T05:40", None),
        # Clocks go forward at 07:00Z: there is no 02:30, and the quiet is over with the gap.
        ((time(22), time(2, 30)), "2026-03-08T06:50", "2026-03-08T07:00"),
        ((time(2, 10), time(2, 50)), "2026-03-08T07:05", None),
        ((time(22), time(7)), "2026-03-08T03:00", "2026-03-08T11:00"),
        ((time(22), time(7)), "2026-11-01T03:00", "2026-11-01T12:00"),
        ((time(12), time(13)), "2026-07-01T16:30", "2026-07-01T17:00"),
        ((time(12), time(13)), "2026-07-01T17:00", None),
    ],
)
def test_quiet_hours_end_when_they_should_on_every_night(quiet: tuple[time, time], now: str, until: str | None) -> None:
    person = Person("ann", zone="America/New_York", quiet=QuietHours(*quiet))
    found = quiet_until(person, datetime.fromisoformat(f"{now}+00:00"))
    assert found == (None if until is None else datetime.fromisoformat(f"{until}+00:00"))


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"zone": "Europe/Brelin"}, "zone"),
        ({"quiet": NIGHT}, "zone"),
        ({"zone": "UTC", "quiet": (time(7),)}, "quiet"),
        ({"zone": "UTC", "quiet": (time(7), time(7))}, "quiet"),
        ({"zone": "UTC", "quiet": ("22:00", "07:00")}, "quiet"),
        ({"addresses": ["a"]}, "addresses"),
        ({"addresses": {"mail": ""}}, "addresses[mail]"),
        ({"preferred": "a channel"}, "preferred"),
    ],
)
async def test_what_cannot_be_used_is_refused_by_field(town: Timeline, wrong: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        await town.book.people.set("ann", **wrong)
    assert refused.value.field == field
    assert await town.book.people.find("ann") is None


async def test_an_unknown_kind_cannot_be_opted_out_of(town: Timeline) -> None:
    with pytest.raises(UnknownName, match="lettr"):
        await town.book.people.opt_out("ann", kind="lettr")


async def test_who_is_forgotten_is_not_known_any_more(town: Timeline, place: Place) -> None:
    await town.book.people.set("ann", zone="UTC", addresses={"mail": "ann@example.org"})
    await town.book.people.opt_out("ann", kind="letter")
    await town.book.forget("ann")
    assert place.count("people") == place.count("opt_outs") == 0


class TestUnsubscribing:
    async def test_one_click_works_and_twice_is_the_same_as_once(self, town: Timeline) -> None:
        headers = unsubscribe.headers("https://example.org/u", SECRET, Wish("ann", "letter"))
        assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
        token = headers["List-Unsubscribe"].strip("<>").rpartition("/")[2]
        assert await town.book.people.unsubscribe(SECRET, token) is True
        assert await town.book.people.unsubscribe(SECRET, token) is False
        person = await town.book.people.find("ann")
        assert person is not None
        assert person.opted_out == ("kind:letter",)

    def test_h72_reading_a_token_changes_nothing(self) -> None:
        wish = Wish("ann@example.org", "letter")
        assert unsubscribe.read(SECRET, unsubscribe.token(SECRET, wish)) == wish

    @pytest.mark.parametrize("change", ["{0}x", "x{0}", "", ".", "{1}", "{1}."])
    def test_a_token_that_was_changed_is_refused(self, change: str) -> None:
        token = unsubscribe.token(SECRET, Wish("ann", "letter"))
        with pytest.raises(InvalidInput, match="token"):
            unsubscribe.read(SECRET, change.format(token, token.partition(".")[0]))

    def test_a_token_of_another_secret_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="token"):
            unsubscribe.read(SECRET[::-1], unsubscribe.token(SECRET, Wish("ann", "letter")))

    def test_a_short_secret_and_a_plain_address_are_refused(self) -> None:
        with pytest.raises(InvalidInput, match="secret"):
            unsubscribe.token("short", Wish("ann", "letter"))
        with pytest.raises(InvalidInput, match="https"):
            unsubscribe.headers("http://example.org/u", SECRET, Wish("ann", "letter"))
