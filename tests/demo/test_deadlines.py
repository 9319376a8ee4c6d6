"""The example's file against what the law says, without the program that wrote it."""

from __future__ import annotations

import csv
import importlib.util
from datetime import date, datetime, time, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from duebook.domain import walltime, zones
from duebook.features.drafting import New, draft

EXAMPLE = Path(__file__).parents[2] / "examples/deadlines"

DUE = {
    ("W-2", "2026"): "Monday 2027-02-01",
    ("1099-NEC", "2026"): "Monday 2027-02-01",
    ("941", "2026-Q4"): "Monday 2027-02-01",
    ("1065", "2026"): "Monday 2027-03-15",
    ("1120-S", "2026"): "Monday 2027-03-15",
    ("7004", "2026"): "Monday 2027-03-15",
    ("1040", "2026"): "Thursday 2027-04-15",
    ("1120", "2026"): "Thursday 2027-04-15",
    ("4868", "2026"): "Thursday 2027-04-15",
    ("FBAR", "2026"): "Thursday 2027-04-15",
    ("1040-ES", "2027-Q1"): "Thursday 2027-04-15",
    ("1120-ES", "2027-Q1"): "Thursday 2027-04-15",
    ("941", "2027-Q1"): "Friday 2027-04-30",
    ("990", "2026"): "Monday 2027-05-17",
    ("1040-ES", "2027-Q2"): "Tuesday 2027-06-15",
    ("1120-ES", "2027-Q2"): "Tuesday 2027-06-15",
    ("941", "2027-Q2"): "Monday 2027-08-02",
    ("1040-ES", "2027-Q3"): "Wednesday 2027-09-15",
    ("1120-ES", "2027-Q3"): "Wednesday 2027-09-15",
    ("941", "2027-Q3"): "Monday 2027-11-01",
    ("1120-ES", "2027-Q4"): "Wednesday 2027-12-15",
    ("1040-ES", "2027-Q4"): "Tuesday 2028-01-18",
}
"""Read off a calendar by hand. Partnerships and people who asked for six months have a second date."""

EXTENDED = {("1065", "2026"): "Wednesday 2027-09-15", ("1040", "2026"): "Friday 2027-10-15"}


def rows() -> list[dict[str, str]]:
    with (EXAMPLE / "us-tax-2027.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def loaded(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setenv("DEADLINES_DB", str(tmp_path / "deadlines.db"))
    return loaded("app")


def test_every_filing_is_due_when_the_law_says() -> None:
    found: dict[tuple[str, str], set[str]] = {}
    for row in rows():
        found.setdefault((row["form"], row["period"]), set()).add(f"{date.fromisoformat(row['deadline']):%A %Y-%m-%d}")
    assert found == {name: {day, *filter(None, [EXTENDED.get(name)])} for name, day in DUE.items()}


def test_reminders_are_thirty_seven_and_one_days_before_at_nine() -> None:
    steps: dict[tuple[str, ...], set[int]] = {}
    for row in rows():
        at = datetime.fromisoformat(row["at"])
        assert at.time() == time(9)
        assert at.date() == date.fromisoformat(row["deadline"]) - timedelta(days=int(row["days_before"]))
        assert at.date() > date(2027, 1, 1)
        steps.setdefault((row["recipient"], row["form"], row["period"]), set()).add(int(row["days_before"]))
    assert set(map(frozenset, steps.values())) == {frozenset({30, 7, 1})}


def test_accounts_keep_their_own_zone_and_their_keys_apart() -> None:
    home: dict[str, set[str]] = {}
    for row in rows():
        home.setdefault(row["recipient"], set()).add(row["zone"])
    assert {len(several) for several in home.values()} == {1}
    assert len({zone for several in home.values() for zone in several}) >= 8
    assert len({row["key"] for row in rows()}) == len(rows()) == 810


def test_nine_stays_nine_on_the_day_the_clocks_change() -> None:
    eve = [row for row in rows() if row["at"].startswith("2027-03-14") and row["zone"] == "America/New_York"]
    assert eve
    for row in eve:
        due = walltime.promise(walltime.local(row["at"], row["zone"])).due_at
        assert due.hour == 13
        assert due.astimezone(zones.zone(row["zone"])).hour == 9


def test_the_file_is_what_its_program_writes() -> None:
    assert list(loaded("filing_dates").rows()) == rows()


def test_the_application_takes_every_row(app: ModuleType) -> None:
    kind = app.book.registry.kinds["deadline"]
    now = datetime(2027, 1, 1, tzinfo=zones.zone("Etc/UTC"))
    for row in rows():
        new = New(
            kind=row["kind"], key=row["key"], recipient=row["recipient"], at=walltime.local(row["at"], row["zone"])
        )
        assert draft(new, kind, "test", now).expires_at is not None
