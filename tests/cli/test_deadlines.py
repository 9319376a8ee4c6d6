"""Deadlines from the command line: set, moved, met, looked at, and read from a file."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from .support import duebook

WHO = ("--recipient", "ann", "--zone", "Europe/Berlin")
FAR = ("contract", "c1", *WHO, "--on", "2040-12-24")
HEAD = "key,recipient,on,zone,data.plan,seats\n"
GOOD = "c1,ann,2040-12-24,,team,5\nc2,ben,2040-12-31T17:00,America/New_York,solo,1\n"
BAD = "c3,,2040-12-24,,team,5\nc4,ann,24 December,,team,5\nc5,ann,2020-12-24,,team,5\nc1,ann,2040-12-25,,team,5\n"


@pytest.mark.usefixtures("either_url", "calendar")
def test_a_date_is_set_moved_and_met() -> None:
    made = duebook("deadlines", "set", *FAR)
    assert made.out.splitlines() == [
        "Deadline contract/c1 is created.",
        "  30 days before: 2040-11-24 08:00:00 UTC",
        "  14 days before: 2040-12-10 08:00:00 UTC",
        "  7 days before: 2040-12-17 08:00:00 UTC",
        "  1 day after: 2040-12-25 08:00:00 UTC",
    ]
    assert "is like that already" in duebook("deadlines", "set", *FAR).out
    assert "its data were changed" in duebook("deadlines", "set", *FAR, "--data", '{"n": 1}').out
    moved = duebook("deadlines", "set", *FAR[:-1], "2041-01-15T17:00")
    assert moved.out.startswith("Deadline contract/c1 is moved.\n4 pending reminders withdrawn.\n")

    shown = duebook("deadlines", "show", "contract", "c1").out
    assert "contract/c1: 2041-01-15T17:00 in Europe/Berlin, over at 2041-01-15 16:00:00 UTC" in shown
    assert "Date number 2 of this deadline." in shown
    assert shown.count(" scheduled\n") == 4

    met = duebook("deadlines", "complete", "contract", "c1", "--reason", "renewed")
    assert met.out == "Deadline contract/c1 is completed.\n4 pending reminders withdrawn.\n"
    assert duebook("deadlines", "complete", "contract", "c1").out == "Deadline contract/c1 is completed already.\n"
    told = duebook("deadlines", "show", "contract", "c1", "--json").json
    assert (told["deadline"]["state"], told["deadline"]["reason"]) == ("completed", "renewed")
    assert [(step["days"], step["became"], step["reason"]) for step in told["steps"]] == [
        (days, "cancelled", "renewed") for days in (30, 14, 7, -1)
    ]


@pytest.mark.usefixtures("url", "calendar")
def test_what_was_left_out_is_told() -> None:
    soon = (datetime.now(UTC) + timedelta(days=10)).date()
    made = duebook("deadlines", "set", "contract", "soon", *WHO, "--on", soon.isoformat())
    assert "  30 days before: its time had passed when the date was set\n  14 days before: now\n" in made.out
    steps = duebook("deadlines", "show", "contract", "soon", "--json").json["steps"]
    assert [step["became"] for step in steps] == ["left out", "scheduled", "scheduled", "scheduled"]
    missed = duebook("missed", "--deadline", "contract/soon", "--json").json["missed"]
    assert [(one["first_label"], one["reason"]) for one in missed] == [
        ("30d", "its time had passed when the date was set")
    ]
    assert duebook("missed", "--deadline", "digest/soon").out == "None found.\n"


@pytest.mark.usefixtures("url", "calendar")
def test_they_are_listed_by_kind_recipient_and_state() -> None:
    for key, recipient in (("c1", "ann"), ("c2", "ben"), ("c3", "ann")):
        duebook("deadlines", "set", "contract", key, "--recipient", recipient, "--on", "2040-12-24", "--zone", "UTC")
    duebook("deadlines", "complete", "contract", "c3")

    def keys(*filters: str) -> list[str]:
        return [one["key"] for one in duebook("deadlines", "list", *filters, "--json").json["deadlines"]]

    assert keys() == ["c1", "c2", "c3"]
    assert keys("--recipient", "ann", "--state", "open") == ["c1"]
    assert keys("--kind", "digest") == []
    assert "contract/c2  2040-12-24  UTC   ben" in duebook("deadlines", "list").out


@pytest.mark.usefixtures("url", "calendar")
def test_none_of_that_name() -> None:
    for verb in ("show", "complete"):
        answer = duebook("deadlines", verb, "contract", "nope")
        assert (answer.code, answer.out) == (1, "There is no deadline contract/nope.\n")


@pytest.mark.parametrize(
    "arguments", [("set", *FAR), ("show", "contract", "c1"), ("complete", "contract", "c1"), ("import", "due.csv")]
)
def test_without_the_app_one_sentence_says_what_is_missing(url: str, arguments: tuple[str, ...]) -> None:
    answer = duebook("deadlines", *arguments)
    assert (answer.code, answer.err) == (
        2, "Error: app: when a kind reminds is declared in the app: give --app module:book\n",
    )  # fmt: skip


@pytest.mark.usefixtures("url", "calendar")
@pytest.mark.parametrize(
    ("arguments", "said", "field"),
    [
        (("digest", "c1", *WHO, "--on", "2040-12-24"), "declares no deadlines", "kind"),
        (("contract", "c1", *WHO, "--on", "2020-12-24"), "is over", "on"),
        (("contract", "c1", *WHO, "--on", "2040-12-24T17:00Z"), "carries an offset", "on"),
        (("contract", "c1", *WHO, "--on", "tomorrow"), "is not a date", "on"),
        (("contract", "c1", *WHO[:3], "Europe/Berln", "--on", "2040-12-24"), "Did you mean 'Europe/Berlin'?", "zone"),
    ],
)
def test_bad_input_names_field_and_fix(arguments: tuple[str, ...], said: str, field: str) -> None:
    answer = duebook("deadlines", "set", *arguments, "--json")
    assert (answer.code, answer.failure["field"], said in answer.failure["error"]) == (2, field, True)
    assert duebook("deadlines", "list").out == "None found.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "due.csv"


IMPORT = ("deadlines", "import", "due.csv", "--kind", "contract", "--zone", "Europe/Berlin")


@pytest.mark.usefixtures("either_url", "calendar")
def test_a_file_sets_each_row_once(file: Path) -> None:
    file.write_text(HEAD + GOOD)
    foreseen = duebook(*IMPORT, "--dry-run")
    assert foreseen.out == "Would create 2; 0 exist and would be what the file says.\n"
    assert duebook("deadlines", "list").out == "None found.\n"
    assert duebook(*IMPORT).out == "Deadlines: 2 created, 0 moved, 0 changed, 0 unchanged.\n"
    found = duebook("deadlines", "show", "contract", "c2", "--json").json["deadline"]
    assert (found["wall"], found["zone"]) == ("2040-12-31T17:00", "America/New_York")
    assert found["data"] == {"plan": "solo", "seats": "1"}

    file.write_text(HEAD + GOOD.replace("2040-12-24", "2040-12-25").replace("solo", "team"))
    assert duebook(*IMPORT, "--dry-run", "--json").json["existing"] == 2
    assert duebook(*IMPORT).out == "Deadlines: 0 created, 1 moved, 1 changed, 0 unchanged.\n"
    assert duebook(*IMPORT).out == "Deadlines: 0 created, 0 moved, 0 changed, 2 unchanged.\n"


@pytest.mark.usefixtures("url", "calendar")
def test_bad_rows_are_told_with_line_field_and_fix(file: Path) -> None:
    file.write_text(HEAD + GOOD + BAD)
    answer = duebook(*IMPORT, "--json")
    assert (answer.code, answer.json["created"], answer.json["rows"]) == (1, 2, 6)
    assert [(bad["line"], bad["field"]) for bad in answer.json["bad"]] == [
        (4, "recipient"), (5, "on"), (6, "on"), (7, "key"),
    ]  # fmt: skip
    told = duebook(*IMPORT).out
    assert "due.csv, line 7: key: 'c1' stands in line 2 too; keep one of them" in told
    assert "Deadlines: 0 created, 0 moved, 0 changed, 2 unchanged, 4 bad rows." in told


@pytest.mark.usefixtures("url", "calendar")
def test_strict_stores_all_or_none(file: Path) -> None:
    file.write_text(HEAD + GOOD + BAD)
    answer = duebook(*IMPORT, "--strict")
    assert (answer.code, "Nothing was stored: 4 rows of 6 cannot be (--strict)." in answer.out) == (2, True)
    assert duebook("deadlines", "list").out == "None found.\n"


@pytest.mark.usefixtures("url", "calendar")
def test_a_wrong_header_is_refused(file: Path) -> None:
    file.write_text("key,recipient,due\n")
    assert "the file has no column 'on'" in duebook(*IMPORT).err
    file.write_text("key,recipient,on\n")
    assert "give --kind" in duebook("deadlines", "import", "due.csv").err
