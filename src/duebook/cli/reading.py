"""What people type: times, lengths of time, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, get_args

from ..domain.policy import checked_choice
from ..domain.walltime import Disambiguation, LocalTime, local, resolve
from ..errors import InvalidInput

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhdw])")
_SPAN = re.compile(f"({_PART.pattern})+")
_LONGEST = timedelta(days=100_000)


def span(field: str, text: str) -> timedelta:
    """Return the length of time meant by "90s", "15m", "1h30m", "3d" or "2w"."""
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InvalidInput(field, f"{text!r} is not a length of time such as 90s, 15m, 1h30m, 3d or 2w")
    seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if seconds > _LONGEST.total_seconds():
        raise InvalidInput(field, f"{text!r} is longer than {_LONGEST.days:,} days")
    return timedelta(seconds=seconds)


def moment(field: str, text: str, zone: str | None, rule: str = "compatible") -> datetime | LocalTime:
    """Return the time meant by a wall time and its zone, or by an ISO time that carries its offset."""
    checked_choice("rule", rule, get_args(Disambiguation))
    at = _written(field, text)
    try:
        if zone is not None:
            return local(at, zone, disambiguation=rule)  # type: ignore[arg-type]  # checked above
    except InvalidInput as error:
        raise error if error.field == "zone" else InvalidInput(field, error.problem) from None
    if at.tzinfo is None:
        raise InvalidInput(
            field, f"{text!r} has no time zone: name one (zone, such as America/New_York) or write the offset (-05:00)"
        )
    return at


def _written(field: str, text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InvalidInput(field, f'{text!r} is not a date and time such as "2027-01-14 09:00"') from None
    if ":" not in text and "T" not in text.upper():
        raise InvalidInput(field, f'{text!r} has no time of day; write it out, as in "{text.strip()} 09:00"')
    return at


def when(
    at: str | None, after: str | None, zone: str | None, rule: str
) -> tuple[datetime | LocalTime | None, timedelta | None]:
    """Return the `at` and `after` of a verb, from the options of a command."""
    if (at is None) == (after is None):
        raise InvalidInput("at", 'say when: either --at "2027-01-14 09:00" --zone America/New_York, or --after 15m')
    if after is not None:
        if zone is not None:
            raise InvalidInput("zone", "belongs to --at; a length of time is the same in every zone")
        return None, span("after", after)
    assert at is not None
    return moment("at", at, zone, rule), None


def instant(field: str, text: str | None, zone: str | None = None) -> datetime | None:
    """Return the instant of an ISO time with an offset, or of a wall time in `zone`."""
    if text is None:
        return None
    at = moment(field, text, zone if is_naive(text) else None)
    return resolve(at.wall, at.zone) if isinstance(at, LocalTime) else at


def wall(field: str, text: str) -> datetime:
    """Return a wall time without a zone, such as "2027-01-14 09:00"."""
    at = _written(field, text)
    if at.tzinfo is not None:
        raise InvalidInput(field, f"{text!r} carries an offset; write the local time, and its zone as --zone")
    return at


def day(field: str, text: str) -> date | datetime:
    """Return a date such as "2027-01-14", or a wall time such as "2027-01-14T17:00"."""
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        return wall(field, text)


def horizon(field: str, text: str, now: datetime) -> datetime:
    """Return an instant given as an ISO time with its offset, or as a length of time from now."""
    if _SPAN.fullmatch(text):
        return now + span(field, text)
    at = moment(field, text, None)
    assert isinstance(at, datetime)
    return at


def is_naive(text: str) -> bool:
    """Say whether a time carries no offset; one that cannot be read counts as naive, and is refused elsewhere."""
    try:
        return datetime.fromisoformat(text.strip()).tzinfo is None
    except ValueError:
        return True


def mapping(field: str, text: str | None) -> Mapping[str, Any]:
    """Return a JSON object."""
    if text is None or not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(field, f'is not JSON: {error}. Write an object such as {{"plan": "team"}}') from None
    if not isinstance(value, dict):
        raise InvalidInput(field, f'must be a JSON object such as {{"plan": "team"}}, not {type(value).__name__}')
    return value


def pairs(field: str, texts: Sequence[str]) -> Mapping[str, str]:
    """Return what is meant by texts such as "email=ann@example.com"."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise InvalidInput(field, f"{text!r} must look like email=ann@example.com")
        if name in found:
            raise InvalidInput(field, f"{name!r} is given twice")
        found[name] = value
    return found


def times_of_day(field: str, text: str) -> tuple[time, time]:
    """Return the two times of day meant by "22:00-07:00"."""
    start, _, end = text.partition("-")
    try:
        return time.fromisoformat(start.strip()), time.fromisoformat(end.strip())
    except ValueError:
        raise InvalidInput(field, f"{text!r} is not two times of day such as 22:00-07:00") from None
