"""The parts of an RRULE, read and checked one by one: what cannot be meant is refused by its name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any

from dateutil.rrule import weekday

from ...errors import InvalidInput
from ..text import checked

RULE_CHARACTERS = 500
MOST_OCCURRENCES = 100_000
SEARCH_YEARS = 50
"""A rule that does not come for so long is taken never to come. 29 February on a given weekday takes up to 40."""

_PER_YEAR = {"YEARLY": 1, "MONTHLY": 12, "WEEKLY": 52, "DAILY": 365, "HOURLY": 8_760, "MINUTELY": 525_600}
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_BY = {
    "BYMONTH": ("bymonth", range(1, 13), False),
    "BYMONTHDAY": ("bymonthday", range(1, 32), True),
    "BYYEARDAY": ("byyearday", range(1, 367), True),
    "BYWEEKNO": ("byweekno", range(1, 54), True),
    "BYHOUR": ("byhour", range(24), False),
    "BYMINUTE": ("byminute", range(60), False),
    "BYSETPOS": ("bysetpos", range(1, 367), True),
}
_KNOWN = ("FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY", *_BY)
_WEEKDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_UNTIL = re.compile(r"[0-9]{8}(T[0-9]{6}Z?)?")


@dataclass(frozen=True, slots=True)
class Parts:
    """A rule that was read. `by`: dateutil's names and values. `until`: an instant if in UTC, a wall time otherwise."""

    frequency: str
    interval: int
    count: int | None
    until: datetime | None
    week_start: int
    by: Mapping[str, list[Any]]


def parse(rule: str) -> Parts:
    """Return the parts of an RRULE, with or without "RRULE:" before it. Raises InvalidInput, naming the part."""
    values = _split(rule)
    frequency = values.get("FREQ", "")
    if frequency not in _PER_YEAR:
        finer = "; a minute is the finest" if frequency == "SECONDLY" else ""
        raise _refusal("FREQ", f"must be one of {', '.join(_PER_YEAR)}{finer}")
    if "COUNT" in values and "UNTIL" in values:
        raise _refusal("COUNT", "and UNTIL exclude each other; keep one of them")
    longest = SEARCH_YEARS * _PER_YEAR[frequency]
    return Parts(
        frequency,
        _number("INTERVAL", values.get("INTERVAL", "1"), range(1, longest + 1)),
        _number("COUNT", values["COUNT"], range(1, MOST_OCCURRENCES + 1)) if "COUNT" in values else None,
        _until(values["UNTIL"]) if "UNTIL" in values else None,
        _week_start(values.get("WKST", "MO")),
        _by(values, frequency),
    )


def _split(rule: str) -> dict[str, str]:
    checked("rrule", rule, RULE_CHARACTERS)
    values: dict[str, str] = {}
    for part in rule.strip().upper().removeprefix("RRULE:").rstrip(";").split(";"):
        name, equals, value = part.partition("=")
        if not equals or name not in _KNOWN:
            raise InvalidInput("rrule", f"{part!r} is not a part of a rule; the parts are {', '.join(_KNOWN)}")
        if name in values:
            raise _refusal(name, "stands there twice; write one rule with each part once")
        values[name] = value
    return values


def _by(values: Mapping[str, str], frequency: str) -> dict[str, list[Any]]:
    by: dict[str, list[Any]] = {}
    for part, (name, numbers, signed) in _BY.items():
        if part in values:
            by[name] = [_number(part, item, numbers, signed=signed) for item in values[part].split(",")]
    if "BYDAY" in values:
        by["byweekday"] = [_weekday(item, frequency) for item in values["BYDAY"].split(",")]
    if "bysetpos" in by and len(by) == 1:
        raise _refusal("BYSETPOS", "needs another BY part whose days it counts")
    if "bysetpos" in by and frequency in ("HOURLY", "MINUTELY"):
        raise _refusal("BYSETPOS", "belongs to FREQ=DAILY or a longer one")
    if "byweekno" in by and frequency != "YEARLY":
        raise _refusal("BYWEEKNO", "belongs to FREQ=YEARLY")
    return by


def _number(part: str, text: str, numbers: range, *, signed: bool = False) -> int:
    pattern = r"[+-]?[0-9]{1,9}" if signed else r"[0-9]{1,9}"
    number = int(text) if re.fullmatch(pattern, text) else 0
    if not re.fullmatch(pattern, text) or abs(number) not in numbers:
        sign = ", or as much below zero" if signed else ""
        raise _refusal(part, f"must be from {numbers[0]} to {numbers[-1]:,}{sign}, not {text!r}")
    return number


def _weekday(text: str, frequency: str) -> weekday:
    found = _WEEKDAY.fullmatch(text)
    if found is None or (found[1] and int(found[1]) == 0):
        raise _refusal("BYDAY", f"{text!r} is not a weekday such as MO, 2TU or -1FR")
    if found[1] and frequency not in ("MONTHLY", "YEARLY"):
        raise _refusal("BYDAY", f"{text!r} counts weekdays, which needs FREQ=MONTHLY or YEARLY")
    return weekday(_WEEKDAYS.index(found[2]), int(found[1]) if found[1] else None)


def _week_start(text: str) -> int:
    if text not in _WEEKDAYS:
        raise _refusal("WKST", f"must be one of {', '.join(_WEEKDAYS)}, not {text!r}")
    return _WEEKDAYS.index(text)


def _until(text: str) -> datetime:
    problem = f"{text!r} is not a time such as 20271231T235900Z, 20271231T235900 or 20271231"
    if not _UNTIL.fullmatch(text):
        raise _refusal("UNTIL", problem)
    try:
        at = datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        raise _refusal("UNTIL", problem) from None
    if "T" not in text:
        return datetime.combine(at, time.max)
    return at.replace(tzinfo=UTC) if text.endswith("Z") else at


def _refusal(part: str, problem: str) -> InvalidInput:
    return InvalidInput("rrule", f"{part} {problem}")
