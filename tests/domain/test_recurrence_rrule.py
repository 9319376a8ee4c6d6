"""RRULE: the examples of RFC 5545 and odd nights, every refusal, and that beginning late changes nothing."""

import json
from datetime import UTC, datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from dateutil.rrule import rrulestr
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.recurrence import Rrule
from duebook.errors import InvalidInput

START = datetime(2026, 1, 31, 9)  # noqa: DTZ001 - a wall time
FREQUENCIES = ("MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY")
BEFORE = datetime(1996, 1, 1, tzinfo=UTC)
EXAMPLES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "rrule.jsonl").read_text(encoding="utf-8").splitlines()
]


@pytest.mark.parametrize("case", EXAMPLES, ids=lambda case: f"{case['rrule']} from {case['start']}")
def test_a_rule_means_what_the_standard_says(case: dict[str, Any]) -> None:
    found = Rrule(case["rrule"], datetime.fromisoformat(case["start"])).occurrences(case["zone"], BEFORE)
    assert [one.label for one in found] == case["labels"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("FREQ=DAILY;INTERVAL=0", "INTERVAL must be from 1"), ("FREQ=DAILY;INTERVAL=-1", "INTERVAL"),
        ("FREQ=DAILY;INTERVAL=99999", "INTERVAL"), ("FREQ=DAILY;INTERVAL=x", "INTERVAL"),
        ("FREQ=SECONDLY", "FREQ must be one of .*a minute is the finest"), ("FREQ=NEVER", "FREQ"), ("COUNT=1", "FREQ"),
        ("FREQ=DAILY;COUNT=0", "COUNT"), ("FREQ=DAILY;COUNT=100001", "COUNT"),
        ("FREQ=DAILY;COUNT=3;UNTIL=20270101", "COUNT and UNTIL"), ("FREQ=DAILY;UNTIL=tomorrow", "UNTIL"),
        ("FREQ=DAILY;UNTIL=20270230", "UNTIL"), ("FREQ=DAILY;UNTIL=20270101T250000", "UNTIL"),
        ("FREQ=DAILY;UNTIL=20200101", "does not come"), ("FREQ=DAILY;FREQ=WEEKLY", "FREQ stands there twice"),
        ("FREQ=DAILY;BYSECOND=30", "BYSECOND=30"), ("FREQ=DAILY;BYEASTER=1", "BYEASTER=1"), ("FREQ=DAILY;X", "'X'"),
        ("FREQ=DAILY;BYHOUR=24", "BYHOUR"), ("FREQ=DAILY;BYMINUTE=60", "BYMINUTE"), ("FREQ=DAILY;BYHOUR=", "BYHOUR"),
        ("FREQ=MONTHLY;BYMONTHDAY=0", "BYMONTHDAY"), ("FREQ=MONTHLY;BYMONTHDAY=-32", "BYMONTHDAY"),
        ("FREQ=MONTHLY;BYDAY=XX", "BYDAY"), ("FREQ=MONTHLY;BYDAY=0MO", "BYDAY"), ("FREQ=DAILY;BYDAY=1MO", "BYDAY"),
        ("FREQ=WEEKLY;WKST=8", "WKST"), ("FREQ=MONTHLY;BYWEEKNO=3", "BYWEEKNO belongs"),
        ("FREQ=MONTHLY;BYSETPOS=1", "BYSETPOS needs"), ("FREQ=HOURLY;BYMINUTE=1;BYSETPOS=2", "BYSETPOS belongs"),
        ("FREQ=DAILY\nFREQ=WEEKLY", "U\\+000A"), ("DTSTART:20270101T090000;FREQ=DAILY", "DTSTART"), ("", "empty"),
        ("FREQ=DAILY;" * 60, "characters long"),
    ],
)  # fmt: skip
def test_a_rule_that_cannot_be_meant_is_refused_by_its_part(rule: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        Rrule(rule, START)
    assert refused.value.field == "rrule"


@pytest.mark.parametrize(
    "rule",
    [
        *(f"FREQ={name};BYMONTH=2;BYMONTHDAY=30" for name in FREQUENCIES),
        "FREQ=DAILY;INTERVAL=7;BYDAY=MO", "FREQ=HOURLY;INTERVAL=2;BYHOUR=2", "FREQ=MINUTELY;INTERVAL=1440;BYHOUR=8",
        "FREQ=YEARLY;BYWEEKNO=53;BYMONTH=3", "FREQ=DAILY;BYHOUR=1;BYSETPOS=2",
    ],
)  # fmt: skip
def test_a_rule_that_never_comes_is_refused_and_not_searched_for_ever(rule: str) -> None:
    with pytest.raises(InvalidInput, match="does not come within 50 years") as refused:
        Rrule(rule, START)
    assert refused.value.field == "rrule"


@pytest.mark.parametrize(
    "start", [START.replace(tzinfo=UTC), START.replace(second=1), START.replace(year=1), "2026-01-31"]
)
def test_a_start_that_is_no_wall_time_is_refused(start: Any) -> None:
    with pytest.raises(InvalidInput) as refused:
        Rrule("FREQ=DAILY", start)
    assert refused.value.field == "start"


def test_a_rule_may_carry_its_name() -> None:
    assert next(Rrule("RRULE:freq=daily;", START).occurrences("UTC", BEFORE)).label == "2026-01-31T09:00"


@pytest.mark.parametrize(
    ("rule", "start"),
    [("FREQ=YEARLY;INTERVAL=50", "2026-03-20T09:00"),
     ("FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", "2026-01-01T09:00"),
     ("FREQ=MONTHLY;INTERVAL=600", "2026-03-20T09:00")],
)  # fmt: skip
def test_a_rare_rule_goes_on_to_the_end_of_the_calendar(rule: str, start: str) -> None:
    begin = datetime.fromisoformat(start)
    found = [one.at.year for one in Rrule(rule, begin).occurrences("UTC", begin.replace(day=28, tzinfo=UTC))]
    assert found[-1] > 9940
    assert max(later - one for one, later in pairwise(found)) <= 50


@pytest.mark.parametrize("first", [1969, 1997])
def test_a_count_counts_what_is_over(first: int) -> None:
    rule = Rrule("FREQ=YEARLY;COUNT=4", START.replace(year=first))
    asked = datetime(first + 1, 2, 1, tzinfo=UTC)
    assert [one.label[:4] for one in rule.occurrences("UTC", asked)] == [str(first + 2), str(first + 3)]
    before_the_last = datetime(first + 3, 1, 1, tzinfo=UTC)
    assert [one.label[:4] for one in rule.occurrences("UTC", asked, before_the_last)] == [str(first + 2)]


PARTS = {
    "YEARLY": ["", ";BYMONTH=2,6", ";BYDAY=-1FR", ";BYYEARDAY=60,-1", ";BYWEEKNO=1,53;BYDAY=MO",
               ";BYMONTH=3;BYDAY=2SU"],
    "MONTHLY": ["", ";BYDAY=2TU,-1FR", ";BYMONTHDAY=-1,15", ";BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1", ";BYMONTH=5,11"],
    "WEEKLY": ["", ";BYDAY=MO,SU", ";WKST=SU;BYDAY=SU,TU", ";BYMONTH=7", ";BYHOUR=7,19"],
    "DAILY": ["", ";BYMONTH=2", ";BYHOUR=6,18;BYMINUTE=0,30", ";BYMONTHDAY=31", ";BYDAY=SA,SU"],
    "HOURLY": ["", ";BYHOUR=5,6,7", ";BYMINUTE=10,50", ";BYDAY=MO"],
}  # fmt: skip
RULES = [(name, parts) for name, many in PARTS.items() for parts in many]


@given(st.sampled_from(RULES), st.sampled_from([1, 2, 3, 5]), st.integers(0, 4_000), st.integers(0, 86_399))
def test_beginning_late_answers_what_walking_from_the_start_would(
    rule: tuple[str, str], interval: int, days: int, seconds: int
) -> None:
    """The walk is dateutil's own, from DTSTART; UTC has no odd nights."""
    text = f"FREQ={rule[0]};INTERVAL={interval}{rule[1]}"
    start = datetime(2020, 2, 29, 6, 10)  # noqa: DTZ001 - a wall time
    asked = start + timedelta(days=days, seconds=seconds)
    walked = list(islice(rrulestr(text, dtstart=start).xafter(asked, inc=True), 5))
    found = Rrule(text, start).occurrences("UTC", asked.replace(tzinfo=UTC))
    assert [one.at.replace(tzinfo=None) for one in islice(found, 5)] == walked
