"""What comes again, when, and under which name: real reports, odd nights, bad input, and how it is stored."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.recurrence import Cron, Every, Recurrence, Rrule, dump, load
from duebook.domain.walltime import resolve
from duebook.errors import InvalidInput, UnknownName

HERE = Path(__file__).parent
DAY = timedelta(days=1)
START = datetime(2026, 1, 31, 9)  # noqa: DTZ001 - a wall time
NOW = datetime(2026, 1, 1, tzinfo=UTC)
MANY: list[Recurrence] = [
    Cron("0 9 * * MON-FRI"), Cron("*/20 * * * *"), Cron("30 1,2 * * *"), Rrule("FREQ=DAILY;BYHOUR=1,2", START),
    Rrule("FREQ=HOURLY;INTERVAL=5", START), Rrule("FREQ=MONTHLY;BYDAY=-1SU;BYHOUR=2", START),
    Every(90, "minute", START), Rrule("FREQ=WEEKLY;INTERVAL=2;COUNT=400;BYDAY=SU,MO", START),
    Every(1, "month", START), Every(3, "day", START),
]  # fmt: skip


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def reports(operation: str) -> list[Any]:
    found = [case for case in lines("time.jsonl") if case["op"] == operation]
    return [pytest.param(case, id=f"{case['id']} from {case.get('from', 'its anchor')}") for case in found]


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def walls_of(every: Every) -> Iterator[str]:
    return (wall.date().isoformat() for wall in every.walls(every.anchor))


@pytest.mark.parametrize("case", reports("cron"))
def test_cron_comes_when_people_expect_it(case: dict[str, Any]) -> None:
    found = Cron(case["expr"]).occurrences(case["tz"], instant(case["from"]), instant(case["to"]))
    at = [one.at for one in found]
    assert len(at) == case.get("count", len(case.get("fires", at)))
    for came, expected in zip(at, case.get("fires", []), strict=False):
        allowed = [expected] if isinstance(expected, str) else [each for each in expected if each]
        assert came in map(instant, allowed)


@pytest.mark.parametrize("case", reports("every"))
def test_steps_are_counted_from_their_anchor_wherever_one_asks(case: dict[str, Any]) -> None:
    every = Every(case["n"], case["unit"], instant(case["anchor"]))
    assert list(islice(walls_of(every), len(case["dates"]))) == case["dates"]
    later = every.occurrences("UTC", instant(case["dates"][1] + "T00:00Z"))
    assert next(later).label == case["dates"][1] + "T00:00"


@pytest.mark.parametrize("case", reports("wall"))
def test_a_wall_time_is_read_by_the_newest_rules(case: dict[str, Any]) -> None:
    assert resolve(instant(case["local"]), case["tz"]) == instant(case["utc"])


@pytest.mark.parametrize("case", lines("cron.jsonl"), ids=lambda case: case["cron"])
def test_an_expression_means_what_it_means_elsewhere(case: dict[str, Any]) -> None:
    found = Cron(case["cron"]).occurrences("UTC", instant(case["from"]).replace(tzinfo=UTC))
    assert [one.label for one in islice(found, len(case["walls"]))] == case["walls"]


@pytest.mark.parametrize("case", lines("nights.jsonl"), ids=lambda case: case["night"])
def test_an_odd_night(case: dict[str, Any]) -> None:
    midnight = instant(case["date"])
    start, end = resolve(midnight, case["zone"]), resolve(midnight + DAY, case["zone"])
    found = Cron(case["cron"]).occurrences(case["zone"], start, end)
    said = [f"{one.label[5:]}={one.at:%H:%MZ}" for one in islice(found, case.get("only"))]
    assert said == case["at"]


def test_an_occurrence_tells_how_its_wall_time_was_read() -> None:
    odd = Cron("30 2 * * *").occurrences("America/New_York", instant("2026-03-07T12:00Z"))
    assert [one.reading for one in islice(odd, 2)] == ["moved_forward", "exact"]
    twice = Cron("30 * * * *").occurrences("America/New_York", instant("2026-11-01T05:00Z"))
    assert [one.reading for one in islice(twice, 3)] == ["first", "second", "exact"]
    hours = Every(1, "hour", instant("2026-11-01T00:30")).occurrences("America/New_York", NOW)
    assert [(one.label, one.reading) for one in islice(hours, 3)] == [
        ("2026-11-01T01:30", "first"), ("2026-11-01T01:30-05:00", "second"), ("2026-11-01T02:30", "exact"),
    ]  # fmt: skip


def test_months_end_on_their_last_day_and_do_not_drift() -> None:
    months = walls_of(Every(1, "month", START))
    assert list(islice(months, 5)) == ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31", "2026-06-30"]
    years = walls_of(Every(1, "year", instant("2024-02-29")))
    assert list(islice(years, 4)) == ["2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]


def test_minutes_and_hours_have_no_wall_times_outside_a_zone() -> None:
    with pytest.raises(InvalidInput) as refused:
        Every(1, "hour", START).walls(START)
    assert refused.value.field == "unit"


def test_hours_are_elapsed_time_and_days_keep_the_time_of_day() -> None:
    before = instant("2026-03-07T09:00")
    elapsed = next(Every(24, "hour", before).occurrences("America/New_York", NOW))
    daily = next(Every(1, "day", before).occurrences("America/New_York", NOW))
    assert (elapsed.label, daily.label) == ("2026-03-08T10:00", "2026-03-08T09:00")


@pytest.mark.parametrize("recurrence", MANY, ids=dump)
@given(hours=st.integers(0, 24 * 600), zone=st.sampled_from(["America/New_York", "Australia/Lord_Howe", "UTC"]))
def test_it_does_not_matter_from_where_one_looks(recurrence: Recurrence, hours: int, zone: str) -> None:
    start = NOW + timedelta(hours=hours)
    span = list(recurrence.occurrences(zone, start, start + 20 * DAY))
    later = start + 7 * DAY / 2
    assert list(recurrence.occurrences(zone, later, start + 20 * DAY)) == [one for one in span if one.at >= later]
    assert len({one.label for one in span}) == len(span)


@pytest.mark.parametrize("recurrence", MANY, ids=dump)
def test_the_calendar_ends_without_a_crash(recurrence: Recurrence) -> None:
    list(recurrence.occurrences("America/Los_Angeles", datetime(9998, 12, 1, tzinfo=UTC)))


@pytest.mark.parametrize("recurrence", MANY, ids=dump)
def test_a_recurrence_is_stored_as_one_line_and_comes_back(recurrence: Recurrence) -> None:
    text = dump(recurrence)
    assert "\n" not in text
    assert load(text) == recurrence
    assert dump(load(text)) == text


def test_the_stored_form_is_stable() -> None:
    assert dump(Cron("0 9 * * *")) == '{"cron": "0 9 * * *"}'
    assert dump(Rrule("FREQ=DAILY", START)) == '{"rrule": "FREQ=DAILY", "start": "2026-01-31T09:00"}'
    assert dump(Every(2, "week", START)) == '{"every": 2, "unit": "week", "anchor": "2026-01-31T09:00"}'


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "nonsense", "[" * 100_000, '{"cron": 5}', '{"cron": "0 9 * * *", "more": 1}',
     '{"every": 1, "unit": "day", "anchor": "soon"}', '{"rrule": "FREQ=DAILY"}'],
    ids=lambda text: text[:30],
)  # fmt: skip
def test_what_dump_did_not_write_is_not_loaded(text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        load(text)
    assert refused.value.field == "recurrence"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("0 0 30 2 *", "day-of-month"), ("0 0 31 4,6,9,11 *", "day-of-month"), ("0 0 */31 * 1#5", "never comes"),
        ("0 0 9 * * *", "6 fields.*leave out the seconds"), ("0 9 * *", "4 fields"), ("@daily", '"@daily" is "0 0'),
        ("60 * * * *", "minute"), ("* 24 * * *", "hour"), ("* * 0 * *", "day-of-month"), ("* * * 13 *", "month"),
        ("* * * * 8", "day-of-week"), ("*/0 * * * *", "minute"), ("0 22-4 * * *", "hour"),
        ("0 9 ? * *", "day-of-month"), ("0 9 * * FRI-SUN", "day-of-week"), ("", "empty"),
        ("9" * 300, "300 characters"), ("0 9 *\n* *", "control"),
    ],
)  # fmt: skip
def test_an_expression_that_cannot_be_meant_is_refused(expression: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        Cron(expression)
    assert refused.value.field == "cron"


@given(st.text("0123456789*/-,L#W? @ABN", max_size=20))
def test_no_text_breaks_the_reader_of_expressions(text: str) -> None:
    try:
        found = Cron(text).occurrences("Europe/Berlin", NOW)
    except InvalidInput:
        return
    assert next(found).at >= NOW


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ((0, "day", START), "n"), ((-1, "day", START), "n"), ((10_001, "day", START), "n"), ((True, "day", START), "n"),
        ((1.5, "day", START), "n"), ((1, "second", START), "unit"), ((1, "days", START), "unit"),
        ((1, "day", START.replace(tzinfo=UTC)), "anchor"), ((1, "day", START.replace(second=1)), "anchor"),
        ((1, "day", START.date()), "anchor"), ((1, "day", START.replace(year=1)), "anchor"),
        ((1, "day", START.replace(year=9999)), "anchor"),
    ],
)  # fmt: skip
def test_a_step_that_cannot_be_meant_is_refused_by_field(values: Any, field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Every(*values)
    assert refused.value.field == field


@pytest.mark.parametrize("recurrence", MANY, ids=dump)
def test_what_is_asked_is_checked_before_anything_is_answered(recurrence: Recurrence) -> None:
    with pytest.raises(InvalidInput, match="no time zone") as refused:
        recurrence.occurrences("UTC", NOW.replace(tzinfo=None))
    assert refused.value.field == "start"
    with pytest.raises(InvalidInput, match="no time zone") as refused:
        recurrence.occurrences("UTC", NOW, NOW.replace(tzinfo=None))
    assert refused.value.field == "end"
    with pytest.raises(InvalidInput, match="between the years"):
        recurrence.occurrences("UTC", NOW.replace(year=1960))
    with pytest.raises(UnknownName, match="Europe/Berlin"):
        recurrence.occurrences("Europe/Berln", NOW)
