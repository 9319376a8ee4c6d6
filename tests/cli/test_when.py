"""`duebook when`: what comes, without a database."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from duebook.cli import previewing

from .support import duebook

CASES = Path(__file__).parents[1] / "domain" / "time.jsonl"
NEW_YORK = ("--zone", "America/New_York")
NIGHT = ("cron", "30 2 * * *", *NEW_YORK, "--from", "2026-03-07", "--until", "2026-03-09")


def cases(operation: str) -> list[Any]:
    found = [case for line in CASES.read_text(encoding="utf-8").splitlines() if (case := json.loads(line))]
    return [
        pytest.param(case, id=f"{case['id']} from {case.get('from', 'its anchor')}")
        for case in found
        if case["op"] == operation
    ]


def when(*arguments: str) -> Any:
    said = duebook("when", *arguments, "--json")
    assert said.code == 0, said.err
    return said.json


@pytest.mark.parametrize("case", cases("cron"))
def test_cron_lists_instants(case: dict[str, Any]) -> None:
    found = when("cron", case["expr"], "--zone", case["tz"], "--from", case["from"], "--until", case["to"])
    assert len(found) == case.get("count", len(case.get("fires", found)))
    for came, expected in zip(found, case.get("fires", []), strict=False):
        assert came in expected  # the one, or one of several


@pytest.mark.parametrize("case", cases("every"))
def test_every_lists_dates_to_the_last_one_included(case: dict[str, Any]) -> None:
    counted = ("--anchor", case["anchor"], "--unit", case["unit"], "--n", str(case["n"]))
    assert when("every", *counted, "--until", case["dates"][-1]) == case["dates"]
    assert when("every", *counted, "--from", case["dates"][1], "--limit", "2") == case["dates"][1:3]


@pytest.mark.parametrize("case", cases("wall"))
def test_wall_tells_the_instant(case: dict[str, Any]) -> None:
    assert when("wall", case["local"], "--zone", case["tz"]) == {"utc": case["utc"], "rule": "exact"}


@pytest.mark.parametrize(
    ("time", "rule", "told"),
    [
        ("2026-03-08T02:30", "compatible", ("2026-03-08T07:30:00Z", "moved_forward")),
        ("2026-03-08T02:30", "later", ("2026-03-08T07:30:00Z", "moved_forward")),
        ("2026-03-08T02:30", "earlier", ("2026-03-08T06:30:00Z", "moved_back")),
        ("2026-11-01T01:30", "compatible", ("2026-11-01T05:30:00Z", "first")),
        ("2026-11-01T01:30", "earlier", ("2026-11-01T05:30:00Z", "first")),
        ("2026-11-01T01:30", "later", ("2026-11-01T06:30:00Z", "second")),
        ("2026-11-02T01:30", "raise", ("2026-11-02T06:30:00Z", "exact")),
    ],
)
def test_wall_tells_which_rule_was_applied(time: str, rule: str, told: tuple[str, str]) -> None:
    for option in ("--rule", "--disambiguation"):
        said = when("wall", time, *NEW_YORK, option, rule)
        assert (said["utc"], said["rule"]) == told


def test_rrule_lists_instants_from_its_start_on() -> None:
    rule = ("rrule", "FREQ=DAILY", "--start", "2026-03-07T02:30", *NEW_YORK)
    days = ["2026-03-07T07:30:00Z", "2026-03-08T07:30:00Z", "2026-03-09T06:30:00Z"]
    assert when(*rule, "--until", "2026-03-09") == days
    assert when(*rule, "--until", "2026-03-09T06:30:00Z") == days[:2]
    assert when(*rule, "--from", "2026-03-08T07:30Z", "--until", "2026-03-09") == days[1:]


def test_every_lists_instants_from_a_time_of_day() -> None:
    step = ("every", "--n", "36", "--unit", "hour", "--anchor", "2026-03-07T09:00", *NEW_YORK)
    assert when(*step, "--limit", "2") == ["2026-03-09T02:00:00Z", "2026-03-10T14:00:00Z"]


def test_a_time_without_an_offset_is_local_to_the_zone() -> None:
    local = ("--from", "2026-03-07T02:30", "--until", "2026-03-08T03:30")
    assert when("cron", "30 2 * * *", *NEW_YORK, *local) == ["2026-03-07T07:30:00Z"]


def test_a_person_sees_the_local_time_and_what_was_done_to_it() -> None:
    lines = duebook("when", *NIGHT).out.splitlines()
    assert lines[0].split() == ["local", "time", "offset", "UTC", "note"]
    assert lines[1].endswith("Sat 2026-03-07 02:30  -05:00 EST  2026-03-07 07:30")
    assert lines[2].startswith("Sun 2026-03-08 03:30  -04:00 EDT  2026-03-08 07:30")
    assert lines[2].endswith("moved forward: 2026-03-08 02:30 does not exist")
    assert len(lines) == 4


def test_a_person_sees_twenty_and_that_there_are_more() -> None:
    said = duebook("when", "cron", "0 9 * * *", "--zone", "Asia/Kathmandu", "--from", "2026-01-01").out.splitlines()
    assert said[-1] == "There are more; these are the first 20 (--limit)."
    assert said[1].split()[3:] == ["+05:45", "2026-01-01", "03:15"]
    assert len(said) == 22


def test_a_person_sees_dates_with_their_days() -> None:
    said = duebook(
        "when", "every", "--n", "1", "--unit", "month", "--anchor", "2027-01-31", "--until", "2027-03-31"
    ).out
    assert [line.split() for line in said.splitlines()[1:]] == [["2027-02-28", "Sunday"], ["2027-03-31", "Wednesday"]]


def test_cron_begins_now_and_a_list_without_end_is_short() -> None:
    assert len(when("cron", "* * * * *", "--zone", "UTC")) == 20


def test_nothing_in_a_span_is_said() -> None:
    nothing = ("cron", "0 9 29 2 *", "--zone", "UTC", "--from", "2027-01-01", "--until", "2027-12-31")
    assert duebook("when", *nothing).out == "None in this time.\n"
    assert when(*nothing) == []


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        (("cron", "0 0 30 2 *", "--zone", "UTC"), "cron"),
        (("cron", "0 0 9 * * *", "--zone", "UTC"), "cron"),
        (("cron", "0 9 * * *", "--zone", "Europe/Berln"), "zone"),
        (("cron", "0 9 * * *", "--zone", "UTC", "--from", "soon"), "from"),
        (("cron", "0 9 * * *", "--zone", "UTC", "--from", "0001-01-01"), "from"),
        (("cron", "0 9 * * *", "--zone", "UTC", "--until", "9999-12-31"), "until"),
        (("cron", "* * * * *", "--zone", "UTC", "--from", "2026-01-01", "--until", "2029-01-01"), "until"),
        (("cron", "0 9 * * *", "--zone", "UTC", "--limit", "0"), "limit"),
        (("rrule", "FREQ=SECONDLY", "--start", "2026-01-01T09:00", "--zone", "UTC"), "rrule"),
        (("rrule", "FREQ=DAILY", "--start", "2026-01-01T09:00Z", "--zone", "UTC"), "start"),
        (("every", "--n", "0", "--unit", "day", "--anchor", "2026-01-01"), "n"),
        (("every", "--n", "1", "--unit", "fortnight", "--anchor", "2026-01-01"), "unit"),
        (("every", "--n", "1", "--unit", "hour", "--anchor", "2026-01-01"), "unit"),
        (("every", "--n", "1", "--unit", "hour", "--anchor", "2026-01-01T09:00"), "zone"),
        (("wall", "2026-11-01T01:30", *NEW_YORK, "--rule", "raise"), "at"),
        (("wall", "2026-11-01", *NEW_YORK), "at"),
        (("wall", "9999-12-31T23:00", *NEW_YORK), "at"),
        (("wall", "2026-11-01T01:30"), "zone"),
    ],
)
def test_bad_input_is_refused_by_field(arguments: tuple[str, ...], field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previewing, "MOST", 1_000)
    said = duebook("when", *arguments, "--json")
    assert (said.code, said.out, said.failure["field"]) == (2, "", field)


def test_it_loads_no_driver_of_a_database() -> None:
    code = "import sys; from duebook.cli.program import run; run(sys.argv[1:]); print('asyncpg' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, "when", *NIGHT], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
