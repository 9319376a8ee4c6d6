"""What will be sent, hour by hour, before it is."""

from pathlib import Path

import pytest

from .support import duebook

RANGE = ("--from", "2040-01-01T00:00Z", "--until", "2040-01-03T00:00Z")


def due(*arguments: str) -> dict[str, dict[str, int]]:
    return {one["at"]: one["kinds"] for one in duebook("upcoming", *RANGE, *arguments, "--json").json["due"]}


def promise(key: str, at: str) -> None:
    duebook("schedule", "renewal", key, "--recipient", "ann", "--at", at)


def repeat(name: str, recipient: str, cron: str, kind: str = "renewal") -> None:
    duebook(
        "schedules", "set", name, "--kind", kind, "--recipient", recipient, "--cron", cron, "--zone", "Europe/Berlin"
    )  # fmt: skip


@pytest.mark.usefixtures("either_url")
def test_notifications_and_coming_periods_are_counted_by_hour_and_kind() -> None:
    promise("a", "2040-01-01T08:59Z")
    promise("b", "2040-01-01T08:00Z")
    promise("late", "2040-01-03T00:00Z")
    repeat("d", "ann", "30 9 * * *")
    repeat("paused", "ann", "30 9 * * *")
    duebook("schedules", "pause", "paused", "--reason", "r")
    assert due() == {"2040-01-01T08:00:00Z": {"renewal": 3}, "2040-01-02T08:00:00Z": {"renewal": 1}}
    assert due("--by", "day") == {"2040-01-01T00:00:00Z": {"renewal": 3}, "2040-01-02T00:00:00Z": {"renewal": 1}}
    told = duebook("upcoming", *RANGE).out.splitlines()
    assert told[1].split() == ["Sun", "2040-01-01", "08:00", "3", "█" * 40, "renewal", "3"]
    assert told[2].split() == ["Mon", "2040-01-02", "08:00", "1", "█" * 13, "renewal", "1"]
    assert told[3] == "4 notifications in all. The largest hour is Sun 2040-01-01 08:00 UTC, with 3."


@pytest.mark.usefixtures("url", "calendar")
def test_a_kind_and_its_spread_are_heeded() -> None:
    for number in range(20):
        repeat(f"d{number}", f"r{number}", "0 9 1 1 *", "digest")
    repeat("c", "ann", "0 9 1 1 *", "contract")
    assert due("--kind", "contract") == {"2040-01-01T08:00:00Z": {"contract": 1}}
    spread = due("--kind", "digest")
    assert spread.keys() == {"2040-01-01T08:00:00Z", "2040-01-01T09:00:00Z"}
    assert sum(kinds["digest"] for kinds in spread.values()) == 20


def test_a_herd_is_named_with_what_helps(url: str, tmp_path: Path) -> None:
    rows = "".join(f"k{number},ann,2040-01-01T09:00Z\n" for number in range(11))
    (tmp_path / "due.csv").write_text("key,recipient,at\n" + rows)
    duebook("import", "due.csv", "--kind", "renewal")
    told = duebook("upcoming", *RANGE)
    assert "The largest hour is Sun 2040-01-01 09:00 UTC, with 11." in told.out
    assert "more than 10 times the usual hour (0)" in told.out
    assert "spread=timedelta(hours=1)" in told.out
    document = duebook("upcoming", *RANGE, "--json").json
    assert (document["herd"], document["largest"]["count"], document["largest"]["kind"]) == (True, 11, "renewal")

    duebook("cancel", "renewal", "k0")
    assert "times the usual hour" not in duebook("upcoming", *RANGE).out


def test_what_is_overdue_is_told_beside_it(url: str) -> None:
    promise("old", "2020-01-01T00:00Z")
    told = duebook("upcoming", "--until", "1h").out
    assert told.startswith("Overdue already: 1.\nNothing is due until ")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--until", "2020-01-01T00:00Z"), "is not after the beginning"),
        (("--until", "400d"), "is more than 366 days after the beginning"),
        (("--until", "2040-01-01 09:00"), "has no time zone"),
        (("--until", "soon"), "is not a date and time"),
    ],
)
def test_bad_input_names_field_and_fix(url: str, arguments: tuple[str, ...], said: str) -> None:
    answer = duebook("upcoming", *arguments, "--json")
    assert (answer.code, answer.failure["field"], said in answer.failure["error"]) == (2, "until", True)
