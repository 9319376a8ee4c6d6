"""What a person's wishes make of a notification, before anybody is asked for its message."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.decision import Defer, Elsewhere, Skip
from duebook.domain.people import Person, QuietHours, foregone, quiet_until
from duebook.domain.policy import Kind, Priority
from duebook.domain.zones import zone
from tests.domain.builders import DAY, MINUTE, NOW, doubted, make

ZONES = ("America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC")
TIMES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
QUIETS = st.builds(QuietHours, TIMES, TIMES).filter(lambda quiet: quiet.start != quiet.end)
NOON_IS_QUIET = {"zone": "UTC", "quiet": QuietHours(time(11), time(14))}
FOUR_KINDS = {
    "plain": Kind("mail", "mail"),
    "urgent": Kind("mail", "mail", priority=Priority.URGENT),
    "essential": Kind("mail", "mail", essential=True),
    "able": Kind("mail", "mail", channels=("push", "sms")),
}


def decided(kind: str, n: Any = None, **wishes: Any) -> object:
    return foregone(n or make(), Person("ann", **wishes), FOUR_KINDS[kind], NOW)


@pytest.mark.parametrize("scope", ["everything", "kind:mail"])
@pytest.mark.parametrize("kind", FOUR_KINDS)
def test_nobody_gets_what_they_opted_out_of_unless_it_is_essential(kind: str, scope: str) -> None:
    expected = None if kind == "essential" else Skip(f"opted out of {scope.replace(':', ' ')}")
    assert decided(kind, opted_out=(scope,)) == expected


def test_another_opt_out_stops_nothing() -> None:
    assert decided("plain", opted_out=("kind:chat", "channel:push")) is None


@pytest.mark.parametrize(
    ("kind", "wishes", "expected"),
    [
        ("plain", {"preferred": "push"}, None),
        ("able", {"preferred": "sms"}, "sms"),
        ("able", {"preferred": "mail"}, None),
        ("able", {"preferred": "sms", "opted_out": ("channel:sms",)}, None),
        ("able", {"opted_out": ("channel:mail",)}, "push"),
        ("able", {"opted_out": ("channel:mail", "channel:push")}, "sms"),
        ("essential", {"opted_out": ("channel:mail",)}, None),
    ],
)
def test_it_goes_over_the_channel_they_would_rather_have(kind: str, wishes: Any, expected: str | None) -> None:
    found = decided(kind, **wishes)
    assert (found.channel if isinstance(found, Elsewhere) else found) == expected


def test_whoever_wants_none_of_its_channels_gets_nothing() -> None:
    nothing = ("channel:mail", "channel:push", "channel:sms")
    assert decided("able", opted_out=nothing) == Skip("opted out of channel mail")
    assert decided("plain", opted_out=("channel:mail",)) == Skip("opted out of channel mail")


def test_one_that_was_moved_stays_where_it_is_while_they_want_it_there() -> None:
    assert decided("able", make(channel="push"), preferred="push") is None
    assert decided("able", make(channel="push")) is None, "it may have been moved by its handler"


def test_what_is_in_doubt_does_not_change_its_channel() -> None:
    assert decided("able", doubted(), preferred="push") is None


@pytest.mark.parametrize("kind", FOUR_KINDS)
def test_quiet_hours_put_off_what_is_neither_urgent_nor_essential(kind: str) -> None:
    expected = None if kind in ("urgent", "essential") else Defer("quiet hours", until=NOW.replace(hour=14))
    assert decided(kind, **NOON_IS_QUIET) == expected


@given(QUIETS, TIMES)
def test_a_time_is_quiet_in_the_hours_or_in_the_rest_of_the_day(quiet: QuietHours, at: time) -> None:
    assert quiet.hold(at) is not QuietHours(quiet.end, quiet.start).hold(at)
    assert quiet.hold(quiet.start)
    assert not quiet.hold(quiet.end)


@given(QUIETS, st.sampled_from(ZONES), st.integers(0, 2 * 366 * 24 * 60))
def test_quiet_hours_end_soon_and_with_a_time_that_is_not_quiet(quiet: QuietHours, name: str, minutes: int) -> None:
    now = datetime(2029, 1, 1, tzinfo=UTC) + minutes * MINUTE
    until = quiet_until(Person("ann", zone=name, quiet=quiet), now)

    def held(at: datetime) -> bool:
        return quiet.hold(at.astimezone(zone(name)).time())

    if until is None:
        assert not held(now)
    else:
        assert held(now)
        assert now < until <= now + DAY + timedelta(hours=1)
        assert not held(until)
        assert held(until - MINUTE) or until - MINUTE <= now
