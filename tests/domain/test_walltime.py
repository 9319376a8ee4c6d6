import json
import zoneinfo
from datetime import UTC, datetime, timedelta, timezone
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, get_args
from zoneinfo import ZoneInfo

import pytest
import whenever
from hypothesis import given, settings
from hypothesis import strategies as st

from duebook.domain import zones
from duebook.domain.walltime import Disambiguation, LocalTime, local, promise, resolve
from duebook.errors import InvalidInput, UnknownName

from .changes import CHANGING, FIRST, LAST, changes

CASES: list[dict[str, str]] = [
    json.loads(line) for line in (Path(__file__).parent / "wall.jsonl").read_text(encoding="utf-8").splitlines()
]
ODD = [case for case in CASES if "what" in case]
RULES: tuple[Disambiguation, ...] = get_args(Disambiguation)
EARLIEST, LATEST = FIRST.replace(tzinfo=None), LAST.replace(tzinfo=None)


def name(case: dict[str, str]) -> str:
    return case["id"]


def wall(case: dict[str, str]) -> datetime:
    return datetime.fromisoformat(case["local"])


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_wall_time_means_the_instant_people_expect(case: dict[str, str]) -> None:
    due = promise(local(case["local"], case["tz"]))
    assert due.due_at == instant(case["utc"])
    assert (due.wall, due.zone, due.rule) == (wall(case).isoformat(), case["tz"], "compatible")
    assert due.tzdata == zones.version()


@pytest.mark.parametrize("case", ODD, ids=name)
@pytest.mark.parametrize("rule", ["earlier", "later"])
def test_who_asks_for_the_earlier_or_the_later_reading_gets_it(case: dict[str, str], rule: Any) -> None:
    due = promise(local(case["local"], case["tz"], disambiguation=rule))
    assert (due.due_at, due.rule) == (instant(case[rule]), rule)


@pytest.mark.parametrize("case", ODD, ids=name)
def test_who_wants_no_guess_is_told(case: dict[str, str]) -> None:
    with pytest.raises(InvalidInput, match=case["what"]) as refused:
        promise(local(case["local"], case["tz"], disambiguation="raise"))
    assert refused.value.field == "at"
    assert case["tz"] in refused.value.problem


@pytest.mark.parametrize("case", CASES, ids=name)
def test_a_datetime_of_a_zone_is_a_local_promise_and_its_fold_is_heard(case: dict[str, str]) -> None:
    there = wall(case).replace(tzinfo=ZoneInfo(case["tz"]))
    assert promise(there).due_at == instant(case["utc"])
    second = promise(there.replace(fold=1))
    assert second.wall == wall(case).isoformat()
    if case.get("what") == "happens twice":
        assert second.due_at == instant(case["later"])


@pytest.mark.parametrize("case", [case for case in ODD if case["what"] == "does not exist"], ids=name)
def test_a_time_in_a_gap_moves_forward_by_the_gap(case: dict[str, str]) -> None:
    before, after = instant(case["earlier"]), instant(case["later"])
    tz = ZoneInfo(case["tz"])
    shown = resolve(wall(case), case["tz"]).astimezone(tz).replace(tzinfo=None)
    assert shown - wall(case) == after - before


@cache
def transitions(zone: str) -> tuple[datetime, ...]:
    """Wall times of the last minute before each change of a zone's offset."""
    before = ((change - timedelta(minutes=1)).astimezone(zones.zone(zone)) for change in changes(zone))
    return tuple(at.replace(tzinfo=None) for at in before)


def oracle(at: datetime, zone: str, rule: Disambiguation) -> datetime | None:
    try:
        zoned = whenever.PlainDateTime(at).assume_tz(zone, disambiguation=rule)
    except ValueError:
        return None
    return zoned.to_instant().to_stdlib()


def ours(at: datetime, zone: str, rule: Disambiguation) -> datetime | None:
    try:
        return resolve(at, zone, rule)
    except InvalidInput:
        return None


ZONES = st.sampled_from(sorted(zones.names()))


@pytest.mark.usefixtures("oracle_reads_the_package")
def test_another_library_agrees_about_every_zone() -> None:
    @given(ZONES, st.datetimes(EARLIEST, LATEST), st.integers(-100, 100), st.sampled_from(RULES), st.data())
    def agrees(zone: str, at: datetime, minutes: int, rule: Disambiguation, data: st.DataObject) -> None:
        if changes := transitions(zone):
            at = data.draw(st.sampled_from([at, *changes])) + timedelta(minutes=minutes)
        assert ours(at, zone, rule) == oracle(at, zone, rule)

    settings(max_examples=400)(agrees)()


@pytest.mark.usefixtures("oracle_reads_the_package")
@pytest.mark.parametrize("zone", CHANGING)
def test_another_library_agrees_around_every_change(zone: str) -> None:
    minutes = (-90, -61, -60, -31, -30, -1, 0, 1, 29, 30, 59, 60, 61, 90)
    changes = transitions(zone)
    assert len(changes) >= 6
    for change in changes:
        for at in (change + timedelta(minutes=m) for m in minutes):
            for rule in RULES:
                assert ours(at, zone, rule) == oracle(at, zone, rule), (at, rule)


@given(ZONES, st.datetimes(EARLIEST, LATEST, timezones=st.just(UTC)))
def test_an_instant_read_off_a_clock_on_the_wall_comes_back(zone: str, at: datetime) -> None:
    there = at.astimezone(zones.zone(zone))
    assert promise(there).due_at == at


NAIVE = datetime(2027, 1, 14, 9)  # noqa: DTZ001 - that it is naive is the point


def test_a_naive_datetime_is_refused_with_what_to_write() -> None:
    with pytest.raises(InvalidInput, match="ZoneInfo") as refused:
        promise(NAIVE)
    assert refused.value.field == "at"


@pytest.mark.parametrize("tz", [UTC, timezone(timedelta(hours=5, minutes=45)), ZoneInfo("UTC"), ZoneInfo("Etc/UTC")])
def test_an_offset_or_utc_is_an_instant_not_a_local_promise(tz: Any) -> None:
    due = promise(NAIVE.replace(tzinfo=tz))
    assert due.due_at == NAIVE.replace(tzinfo=tz)
    assert due.due_at.tzinfo is UTC
    assert (due.wall, due.zone, due.rule, due.tzdata) == (None, None, None, None)


@pytest.mark.parametrize(
    ("text", "zone", "field"),
    [
        ("2027-01-14 09:00+01:00", "Europe/Berlin", "at"),
        ("2027-01-14T09:00Z", "Europe/Berlin", "at"),
        ("next Tuesday", "Europe/Berlin", "at"),
        ("2027-02-30 09:00", "Europe/Berlin", "at"),
        ("", "Europe/Berlin", "at"),
        ("2027-01-14 09:00", "Europe/Berln", "zone"),
        ("2027-01-14 09:00", "../../etc/passwd", "zone"),
        ("2027-01-14 09:00", "", "zone"),
        ("2027-01-14 09:00", "CEST", "zone"),
    ],
)
def test_a_local_time_that_cannot_be_read_is_refused_by_field(text: str, zone: str, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        local(text, zone)
    assert refused.value.field == field


def test_a_misspelt_zone_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'Europe/Berlin'"):
        local("2027-01-14 09:00", "Europe/Berln")


def test_a_rule_nobody_knows_is_refused() -> None:
    with pytest.raises(InvalidInput, match="compatible, earlier, later, raise"):
        local("2027-01-14 09:00", "Europe/Berlin", disambiguation="first")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "values",
    [
        ("2027-01-14 09:00", "Europe/Berlin"),
        (NAIVE, "Europe/Berlin", "first"),
        (NAIVE.replace(tzinfo=UTC), "Europe/Berlin"),
        (NAIVE, "Europe/Bärlin"),
    ],
    ids=["text", "rule", "offset", "zone"],
)
def test_a_local_time_made_by_hand_is_checked_as_well(values: tuple) -> None:
    with pytest.raises(InvalidInput):
        LocalTime(*values)


@pytest.mark.parametrize(
    "at",
    [datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Tokyo")), datetime(9999, 12, 31, 23, tzinfo=ZoneInfo("America/Lima"))],
)
def test_a_time_at_the_edge_of_the_calendar_is_refused_not_a_crash(at: datetime) -> None:
    with pytest.raises(InvalidInput):
        promise(at)


def test_the_rules_come_from_the_package_and_not_from_the_system(tmp_path: Path) -> None:
    """Three zones were an hour wrong on a stable distribution; here the system's copy is wrong by eight."""
    folder = tmp_path / "Europe"
    folder.mkdir()
    with resources.files("tzdata").joinpath("zoneinfo", "Asia", "Manila").open("rb") as file:
        (folder / "Berlin").write_bytes(file.read())
    zoneinfo.reset_tzpath(to=[str(tmp_path)])
    ZoneInfo.clear_cache(only_keys=["Europe/Berlin"])
    try:
        system = ZoneInfo("Europe/Berlin")
        at = datetime(2027, 1, 14, 9, tzinfo=system)
        assert at.astimezone(UTC).hour == 1
        assert promise(at).due_at == datetime(2027, 1, 14, 8, tzinfo=UTC)
        assert promise(local("2027-01-14 09:00", "Europe/Berlin")).due_at == datetime(2027, 1, 14, 8, tzinfo=UTC)
    finally:
        zoneinfo.reset_tzpath()
        ZoneInfo.clear_cache()


def test_every_zone_of_the_package_can_be_used() -> None:
    assert len(zones.names()) > 500
    assert {zones.zone(zone).key for zone in zones.names()} == zones.names()
