"""Retry-After: what is believed, what is ignored, and how far ahead an answer can lie."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duebook.channels.retry_after import retry_after

NOW = datetime(2026, 9, 9, 11, 59, 15, tzinfo=UTC)
LATER = NOW + timedelta(hours=24)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("30", NOW + timedelta(seconds=30)),
        (" 30 ", NOW + timedelta(seconds=30)),
        ("30.5", NOW + timedelta(seconds=30)),
        ("Wed, 09 Sep 2026 12:00:00 GMT", datetime(2026, 9, 9, 12, tzinfo=UTC)),
        ("Wed, 09 Sep 2026 14:00:00 +0200", datetime(2026, 9, 9, 12, tzinfo=UTC)),
        ("Wednesday, 09-Sep-26 12:00:00 GMT", datetime(2026, 9, 9, 12, tzinfo=UTC)),
        ("Wed Sep  9 12:00:00 2026", datetime(2026, 9, 9, 12, tzinfo=UTC)),
        ("86400", LATER),
        ("86401", LATER),
        ("1771404540", LATER),
        ("9" * 5_000, LATER),
        ("Fri, 01 Jan 2038 00:00:00 GMT", LATER),
        ("0", None),
        ("-5", None),
        ("+5", None),
        ("-0.5", None),
        (".5", None),
        ("1e3", None),
        ("٣٠", None),
        ("Wed, 09 Sep 2026 11:59:15 GMT", None),
        ("Tue, 08 Sep 2026 12:00:00 GMT", None),
        ("Wed, 99 Sep 2026 12:00:00 GMT", None),
        ("soon", None),
        ("", None),
        (None, None),
    ],
)
def test_what_a_server_may_ask(value: str | None, expected: datetime | None) -> None:
    assert retry_after(value, NOW) == expected


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, [0-9]{1,3} [A-Z][a-z]{2} [0-9]{1,6} [0-9:]{0,12} \S*"))
@example("Wed, 09 Sep 99999 12:00:00 GMT")
@example("Mon, 01 Jan 0001 00:00:00 +2359")
def test_nothing_a_server_says_breaks_it(value: str) -> None:
    asked = retry_after(value, NOW)
    assert asked is None or NOW < asked <= LATER
