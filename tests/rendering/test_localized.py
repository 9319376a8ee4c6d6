"""Times and numbers as their reader writes them; a time of day always with its zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from babel.localedata import locale_identifiers
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import zones
from duebook.rendering.localized import Reader, time_of_day

from .support import NOW, mail, refusal, text

AT = datetime(2027, 2, 13, 8, tzinfo=UTC)


def spaced(words: str) -> str:
    """Some locales set a narrow space before AM."""
    return words.replace("\u202f", " ")


class TestTimes:
    @pytest.mark.parametrize(
        ("locale", "zone", "words"),
        [
            ("en-US", "America/New_York", "February 13, 2027, 3:00 AM EST"),
            ("en-GB", "Europe/London", "13 February 2027, 08:00 GMT"),
            ("de-AT", "Europe/Vienna", "13. Februar 2027, 09:00 MEZ"),
            ("de", "America/New_York", "13. Februar 2027, 03:00 GMT-05:00"),
            ("fr", "Asia/Kolkata", "13 février 2027, 13:30 UTC+05:30"),
            ("ja", "Asia/Tokyo", "2027年2月13日 17:00 JST"),
            ("en", None, "February 13, 2027, 8:00 AM UTC"),
        ],
    )
    def test_an_at_by_the_readers_clock(self, locale: str, zone: str | None, words: str) -> None:
        sources = {"m.subject.txt": "s", "m.txt": "{{ at | datetime }}"}
        sources |= {f"{locale}/{name}": template for name, template in sources.items()}
        assert spaced(mail(sources, {"at": AT}, locale=locale, zone=zone).text) == words

    def test_the_two_half_past_one_of_an_autumn_night_look_different(self) -> None:
        first, second = (datetime(2026, 11, 1, hour, 30, tzinfo=UTC) for hour in (5, 6))
        words = text("{{ a | time }} {{ b | time }}", {"a": first, "b": second}, zone="America/New_York")
        assert spaced(words) == "1:30 AM EDT 1:30 AM EST"

    @given(
        st.sampled_from(sorted(locale_identifiers())),
        st.sampled_from(sorted(zones.names())),
        st.datetimes(AT.replace(year=1990, tzinfo=None), AT.replace(year=2100, tzinfo=None), timezones=st.just(UTC)),
    )
    def test_no_time_is_written_without_its_zone(self, locale: str, zone: str, at: datetime) -> None:
        """The same reading of a clock in a zone with another offset looks different, in every locale and zone."""
        here, far = Reader(locale, zone, None), Reader(locale, "Etc/GMT+12", None)
        offset = at.astimezone(zones.zone(zone)).utcoffset()
        assert offset is not None
        same_reading = at + offset + timedelta(hours=12)
        assert (time_of_day(here, at) == time_of_day(far, same_reading)) == (at == same_reading)

    @pytest.mark.parametrize(
        ("style", "words"),
        [
            ("short", "2/13/27, 8:00 AM UTC"),
            ("medium", "Feb 13, 2027, 8:00 AM UTC"),
            ("long", "February 13, 2027, 8:00 AM UTC"),
            ("full", "Saturday, February 13, 2027, 8:00 AM UTC"),
        ],
    )
    def test_the_styles(self, style: str, words: str) -> None:
        assert spaced(text(f"{{{{ at | datetime('{style}') }}}}", {"at": AT})) == words
        assert text(f"{{{{ at | date(style='{style}') }}}}", {"at": AT}) == words.rpartition(", ")[0]

    def test_a_date_is_the_readers(self) -> None:
        late = datetime(2027, 2, 13, 23, tzinfo=UTC)
        assert text("{{ at | date }}", {"at": late}, zone="Europe/Paris") == "February 14, 2027"

    def test_a_calendar_day_is_the_same_everywhere(self) -> None:
        for day in (date(2027, 2, 13), "2027-02-13"):
            assert text("{{ day | date }}", {"day": day}, zone="Pacific/Kiritimati") == "February 13, 2027"

    def test_an_at_may_be_text_as_json_has_it(self) -> None:
        for at in ("2027-02-13T08:00:00+00:00", "2027-02-13T09:00:00+01:00", "2027-02-13T08:00:00Z"):
            assert spaced(text("{{ at | time }}", {"at": at})) == "8:00 AM UTC"

    @pytest.mark.parametrize(
        ("template", "value", "says"),
        [
            ("{{ at | datetime }}", AT.replace(tzinfo=None), "has no zone; pass an aware datetime"),
            ("{{ at | datetime }}", "2027-02-13T08:00", "has no zone"),
            ("{{ at | datetime }}", date(2027, 2, 13), "pass a datetime"),
            ("{{ at | datetime }}", "tomorrow", "datetime"),
            ("{{ at | datetime }}", 0, "pass a datetime"),
            ("{{ at | datetime }}", None, "pass a datetime"),
            ("{{ at | time }}", "2027-02-13", "has no zone"),
            ("{{ at | datetime('tiny') }}", AT, "style"),
            ("{{ at | date(1, 2, 3) }}", AT, "date"),
            ("{{ at | time(size=3) }}", AT, "time"),
        ],
    )
    def test_what_is_no_time_is_refused(self, template: str, value: Any, says: str) -> None:
        found = refusal(template, {"at": value})
        assert (found.field, says in found.problem) == ("m.txt:1", True), found


class TestDistances:
    @pytest.mark.parametrize(
        ("away", "words"),
        [
            (timedelta(seconds=30), "in 1 minute"),
            (timedelta(minutes=119, seconds=59), "in 119 minutes"),
            (timedelta(hours=2), "in 2 hours"),
            (timedelta(hours=47, minutes=59), "in 47 hours"),
            (timedelta(hours=48), "in 2 days"),
            (timedelta(days=6, hours=23), "in 6 days"),
            (timedelta(days=400), "in 400 days"),
            (-timedelta(minutes=5), "5 minutes ago"),
            (-timedelta(days=3), "3 days ago"),
        ],
    )
    def test_whole_units_never_more_than_are_left(self, away: timedelta, words: str) -> None:
        assert text("{{ at | relative }}", {"at": NOW + away}) == words

    def test_it_needs_to_know_now(self) -> None:
        assert "pass now=due.now" in refusal("{{ at | relative }}", {"at": AT}, now=None).problem


class TestPlurals:
    @pytest.mark.parametrize(
        ("number", "words"),
        [
            (1, "1 wiadomość"),
            (2, "2 wiadomości"),
            (5, "5 wiadomości!"),
            (22, "22 wiadomości"),
            (1.5, "1,5 wiadomości?"),
        ],
    )
    def test_the_form_is_the_languages(self, number: float, words: str) -> None:
        template = (
            "{{ n | plural(one='{} wiadomość', few='{} wiadomości', many='{} wiadomości!', other='{} wiadomości?') }}"
        )
        sources = {"m.subject.txt": "s", "m.txt": "", "pl/m.subject.txt": "s", "pl/m.txt": template}
        assert mail(sources, {"n": number}, locale="pl-PL").text == words

    @pytest.mark.parametrize("number", [0, 1, 2, 1_234, Decimal("1.5")])
    def test_other_stands_for_what_is_not_given(self, number: Any) -> None:
        assert text("{{ n | plural(other='{} new') }}", {"n": number}) == f"{number:,} new"

    @pytest.mark.parametrize(
        ("template", "value", "says"),
        [
            ("{{ n | plural(one='{}') }}", 1, "other"),
            ("{{ n | plural(singular='{}', other='{}') }}", 1, "singular"),
            ("{{ n | plural(other='{}') }}", "1", "number"),
            ("{{ n | plural(other='{}') }}", True, "number"),
            ("{{ n | plural('{}') }}", 1, "plural"),
        ],
    )
    def test_what_is_no_number_or_form_is_refused(self, template: str, value: Any, says: str) -> None:
        assert says in refusal(template, {"n": value}).problem
