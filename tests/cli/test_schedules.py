"""Recurring schedules from the command line: made, changed, held, looked at, and what was missed."""

import asyncio

import pytest

from duebook import Duebook, NewSchedule
from tests.support.shell import Shell

from .support import duebook

WHO = ("--kind", "renewal", "--recipient", "ann", "--zone", "America/New_York")
DAILY = ("--cron", "30 9 * * *", *WHO)
NIGHTS = ("--every", "1", "--unit", "day", "--anchor", "2040-03-09 02:30", *WHO)


@pytest.mark.usefixtures("either_url")
def test_setting_makes_changes_or_leaves_alone() -> None:
    made = duebook("schedules", "set", "d", *DAILY, "--data", '{"plan": "team"}', "--json")
    assert (made.code, made.json["result"]) == (0, "created")
    again = duebook("schedules", "set", "d", *DAILY, "--data", '{"plan": "team"}')
    assert again.out.startswith("Schedule d is like that already; nothing was changed; next at ")
    late = duebook("schedules", "set", "d", *DAILY, "--max-lateness", "12h", "--catch-up", "all", "--most", "3")
    assert late.out.startswith("Schedule d is changed; next at ")
    shown = duebook("schedules", "show", "d", "--json").json["schedule"]
    assert (shown["recurrence"], shown["data"]) == ({"cron": "30 9 * * *"}, {})
    assert (shown["max_lateness"], shown["catch_up"], shown["most"]) == (43_200, "all", 3)
    assert shown["changed_by"].startswith("cli:")
    assert "Missed periods: all, at most 3, nothing later than 12 h." in duebook("schedules", "show", "d").out


@pytest.mark.usefixtures("either_url")
def test_it_is_held_let_go_and_removed() -> None:
    duebook("schedules", "set", "d", *DAILY)
    assert duebook("schedules", "pause", "d", "--reason", "on holiday").out == "Schedule d is paused.\n"
    assert duebook("schedules", "pause", "d", "--reason", "again").out == "Schedule d is paused already.\n"
    told = duebook("schedules", "show", "d").out
    assert ": on holiday. What follows holds if it goes on now." in told
    assert " paused\n" in duebook("schedules", "list").out
    assert duebook("schedules", "resume", "d").out.startswith("Schedule d is resumed; next at ")
    assert duebook("schedules", "resume", "d").out.startswith("Schedule d is not paused; next at ")
    assert duebook("schedules", "remove", "d").out == "Schedule d is removed.\n"
    for verb in (("pause", "d", "--reason", "r"), ("resume", "d"), ("remove", "d"), ("show", "d")):
        answer = duebook("schedules", *verb)
        assert (answer.code, answer.out) == (1, "There is no schedule d.\n")


def test_the_next_five_are_shown_in_both_times_with_the_rule(url: str) -> None:
    duebook("schedules", "set", "night", *NIGHTS)
    told = duebook("schedules", "show", "night").out
    assert "every day after 2040-03-09 02:30, in America/New_York" in told
    assert "Sat 2040-03-10 02:30  -05:00 EST  2040-03-10 07:30" in told
    assert "Sun 2040-03-11 03:30  -04:00 EDT  2040-03-11 07:30  moved forward: 2040-03-11 02:30 does not exist" in told
    coming = duebook("schedules", "show", "night", "--json").json["coming"]
    assert [one["at"][:10] for one in coming] == [f"2040-03-{day}" for day in range(10, 15)]
    assert [one["reading"] for one in coming[:3]] == ["exact", "moved_forward", "exact"]


def test_one_that_has_ended_says_so(url: str) -> None:
    rule = ("--rrule", "FREQ=DAILY;COUNT=2", "--start", "2020-01-01 09:00")
    duebook("schedules", "set", "over", *rule, *WHO)
    assert "It has ended: nothing comes any more." in duebook("schedules", "show", "over").out
    assert " has ended\n" in duebook("schedules", "list").out


def test_a_spread_that_the_app_declares_is_told(url: str, calendar: str) -> None:
    duebook("schedules", "set", "d", "--cron", "0 9 * * *", "--kind", "digest", "--recipient", "ann", "--zone", "UTC")
    assert "Kind digest is spread: this one is due " in duebook("schedules", "show", "d").out


def test_a_list_of_many_pages_is_one_document(url: str) -> None:
    async def make() -> None:
        book = Duebook(url)
        book.declare("renewal", channel="email")
        news = [
            NewSchedule(name=f"s{n:04}", kind="renewal", recipient=f"r{n % 2}", recurrence="0 9 * * *", zone="UTC")
            for n in range(1_100)
        ]
        await book.schedules.set_many(news)
        await book.close()

    asyncio.run(make())
    found = duebook("schedules", "list", "--json").json["schedules"]
    assert [one["name"] for one in found] == [f"s{n:04}" for n in range(1_100)]
    half = duebook("schedules", "list", "--recipient", "r1").out
    assert half.count("cron 0 9 * * *") == 550
    assert duebook("schedules", "list", "--kind", "other").out == "None found.\n"
    assert duebook("schedules", "list", "--kind", "other", "--json").json == {"schedules": []}


def test_what_was_missed_is_told_with_its_reason(shell: Shell) -> None:
    duebook("schedules", "set", "d", *DAILY)
    since = "'2026-06-01T00:00:00.000000Z'"
    shell.run(f"update @schedules set cursor_at = {since}, next_at = {since} where name = 'd'")
    duebook("schedules", "pause", "d", "--reason", "enough")
    missed = duebook("missed", "--schedule", "d", "--json").json["missed"]
    assert [(one["first_label"], one["outcome"]) for one in missed] == [("2026-06-01T09:30", "skipped")]
    assert missed[0]["periods"] > 100
    told = duebook("missed", "--recipient", "ann").out
    assert "schedule d" in told
    (made,) = duebook("find", "--json").json["notifications"]
    assert f"missed; {made['key'].removeprefix('d/')} came after it" in told
    assert duebook("missed", "--schedule", "e").out == "None found.\n"


@pytest.mark.parametrize(
    ("arguments", "said", "field"),
    [
        (("d", *WHO), "say how it comes again in one way", "cron"),
        (("d", *DAILY, "--start", "2027-01-01 09:00"), "say how it comes again in one way", "cron"),
        (("d", *DAILY, "--every", "2"), "say how it comes again in one way", "cron"),
        (("d", "--cron", "0 9 * *", *WHO), "has 4 fields; write five", "cron"),
        (("d", "--rrule", "FREQ=SOMETIMES", "--start", "2027-01-01 09:00", *WHO), "FREQ must be one of", "rrule"),
        (("d", "--rrule", "FREQ=DAILY", "--start", "2027-01-01", *WHO), "has no time of day", "start"),
        (("d", "--rrule", "FREQ=DAILY", "--start", "2027-01-01T09:00Z", *WHO), "carries an offset", "start"),
        (("d", *DAILY, "--until", "2020-01-01 09:00"), "has passed already", "until"),
        (("d", *DAILY, "--max-lateness", "0.5s"), "must be whole seconds", "max_lateness"),
        (("d", *DAILY, "--data", '{"period": 1}'), "where the period itself is told", "data"),
        (("d", *DAILY, "--kind", "renewl"), "Did you mean 'renewal'?", "kind"),
        (("d", *DAILY, "--zone", "Europe/Berln"), "Did you mean 'Europe/Berlin'?", "zone"),
    ],
)
def test_bad_input_names_field_and_fix(url: str, arguments: tuple[str, ...], said: str, field: str) -> None:
    answer = duebook("schedules", "set", *arguments, "--json")
    assert (answer.code, answer.failure["field"], said in answer.failure["error"]) == (2, field, True)
    assert duebook("schedules", "list").out == "None found.\n"


def test_missed_is_asked_of_one_thing(url: str) -> None:
    assert "say whose" in duebook("missed", "--recipient", "ann", "--schedule", "d").err
    assert "is not KIND/KEY" in duebook("missed", "--deadline", "contract").err
