"""Times and numbers as their reader writes them. A time of day always comes with its zone.

Without the zone the two half past one of a night in autumn look alike, and so do nine o'clock here and there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

from ..domain import zones
from ..domain.policy import checked_choice
from ..errors import InvalidMessage
from .locales import fallbacks

if TYPE_CHECKING:
    from babel import Locale

Style = Literal["short", "medium", "long", "full"]

_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_NEVER = 1e12


@dataclass(frozen=True, slots=True)
class Reader:
    """Whom a mail is written for: in which locale, by whose clock, and at what moment."""

    locale: str
    zone: str
    now: datetime | None


def date_and_time(reader: Reader, value: object, style: Style = "long") -> str:
    """Return an instant by the reader's clock: "13 February 2027, 09:00 CET"."""
    from babel.dates import get_datetime_format

    local = _local(reader, value)
    pattern = get_datetime_format(_checked_style(style), locale=_locale(reader))
    return (
        str(pattern).replace("'", "").replace("{0}", _clock(reader, local)).replace("{1}", _day(reader, local, style))
    )


def day(reader: Reader, value: object, style: Style = "long") -> str:
    """Return a date, or the day that an instant has by the reader's clock: "13 February 2027"."""
    calendar = _calendar_day(value)
    return _day(reader, _local(reader, value) if calendar is None else calendar, _checked_style(style))


def time_of_day(reader: Reader, value: object) -> str:
    """Return the time of day of an instant by the reader's clock: "09:00 CET"."""
    return _clock(reader, _local(reader, value))


def distance(reader: Reader, value: object) -> str:
    """Return how far an instant is from now: "in 5 days". In whole minutes, hours or days of 24 hours, rounded down."""
    from babel.dates import format_timedelta

    if reader.now is None:
        raise InvalidMessage("now", "is not known; pass now=due.now")
    away = _local(reader, value) - reader.now
    unit, length = _unit(abs(away))
    whole = length * int(away / length)
    # A threshold that nothing reaches leaves the granularity as the only unit.
    return format_timedelta(
        whole or away, granularity=unit, threshold=_NEVER, add_direction=True, locale=_locale(reader)
    )


def counted(reader: Reader, value: object, **forms: str) -> str:
    """Return the form that the reader's language has for a number, with the number in the place of `{}`.

    The forms are named by the plural categories of CLDR: zero, one, two, few, many, other. As in ICU's MessageFormat,
    `other` stands for each that is not given.
    """
    from babel.numbers import format_decimal

    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise InvalidMessage("number", f"{value!r} is none")
    locale = _locale(reader)
    if strange := sorted(forms.keys() - {"zero", "one", "two", "few", "many", "other"}):
        raise InvalidMessage(strange[0], "is no plural category; use zero, one, two, few, many or other")
    if "other" not in forms:
        raise InvalidMessage("other", "is missing; it stands for every number without a form of its own")
    form = forms.get(locale.plural_form(value), forms["other"])
    return form.replace("{}", format_decimal(value, locale=locale))


FILTERS: Mapping[str, Callable[..., str]] = {
    "date": day,
    "datetime": date_and_time,
    "plural": counted,
    "relative": distance,
    "time": time_of_day,
}


@cache
def known_locale(tag: str) -> Locale:
    """Return what is known of a locale, or of what it falls back to; raises InvalidMessage if that is nothing."""
    from babel import Locale, UnknownLocaleError

    for name in fallbacks(tag):
        try:
            return Locale.parse(name, sep="-")
        except (UnknownLocaleError, ValueError):
            continue
    raise InvalidMessage("locale", f"{tag!r} is not known; use one such as de-AT")


def _locale(reader: Reader) -> Locale:
    return known_locale(reader.locale)


def _checked_style(style: Style) -> Style:
    checked_choice("style", style, get_args(Style))
    return style


def _local(reader: Reader, value: object) -> datetime:
    at = _instant(value)
    if at is None:
        raise InvalidMessage("time", f"{value!r} is none; pass a datetime, or one as ISO 8601 writes it")
    if at.tzinfo is None:
        raise InvalidMessage("time", f"{at.isoformat()} has no zone; pass an aware datetime")
    return at.astimezone(zones.zone(reader.zone))


def _instant(value: object) -> datetime | None:
    if not isinstance(value, str):
        return value if isinstance(value, datetime) else None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        return None


def _calendar_day(value: object) -> date | None:
    """Return a date that belongs to no instant, or None."""
    if isinstance(value, str) and len(value) == len("2027-02-13"):
        return date.fromisoformat(value)
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _day(reader: Reader, value: date, style: Style) -> str:
    from babel.dates import format_date

    return format_date(value, style, locale=_locale(reader))


def _clock(reader: Reader, local: datetime) -> str:
    from babel.dates import format_time

    time = format_time(local, "short", tzinfo=local.tzinfo, locale=_locale(reader))
    return f"{time} {_zone(reader, local)}"


def _zone(reader: Reader, local: datetime) -> str:
    """Return the short name of a zone, or its offset where the locale has none: "CET", "GMT-05:00"."""
    from babel.dates import format_datetime, get_timezone_name

    name = get_timezone_name(local, "short", locale=_locale(reader))
    if name[:1] not in "+-":
        return name
    return format_datetime(local, "ZZZZ", tzinfo=local.tzinfo, locale=_locale(reader))


def _unit(away: timedelta) -> tuple[Literal["minute", "hour", "day"], timedelta]:
    if away < 2 * _HOUR:
        return "minute", _MINUTE
    return ("hour", _HOUR) if away < 2 * _DAY else ("day", _DAY)
