from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.text import REASON_CHARACTERS, checked, clean
from duebook.errors import InvalidInput

ANYTHING = st.text(st.characters(codec=None), max_size=40)


@pytest.mark.parametrize(
    ("text", "safe"),
    [
        ("250 OK", "250 OK"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("a\x00b", "a�b"),
        ("a\rb\x1b[31m\x7f", "a�b�[31m�"),
        ("half a pair \ud800", "half a pair �"),
        ("schön 🔔", "schön 🔔"),
        ("", ""),
    ],
)
def test_what_a_database_refuses_is_replaced(text: str, safe: str) -> None:
    assert clean(text) == safe


@pytest.mark.parametrize(("length", "kept"), [(9, 9), (10, 10), (11, 10), (10_000, 10)])
def test_what_is_too_long_is_cut_and_says_so(length: int, kept: int) -> None:
    found = clean("x" * length, 10)
    assert len(found) == kept
    assert found.endswith("…") is (length > 10)


@given(ANYTHING)
def test_cleaned_text_can_be_stored_and_is_not_cleaned_further(text: str) -> None:
    found = clean(text)
    assert found.encode().decode() == found
    assert "\x00" not in found
    assert len(found) <= REASON_CHARACTERS
    assert clean(found) == found


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (None, "must be text, not NoneType"),
        (42, "must be text, not int"),
        (b"a", "must be text, not bytes"),
        ("", "must not be empty"),
        ("x" * 11, "is 11 characters long; the limit is 10"),
        ("a\x00", "U+0000"),
        ("a\nb", "U+000A"),
        ("a\rb", "U+000D"),
        ("a\x7f", "U+007F"),
        ("a\x85", "U+0085"),
        ("a\u2028", "U+2028"),
        ("a\ud800", "U+D800"),
    ],
)
def test_a_value_that_cannot_be_used_is_refused_by_field(value: object, problem: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked("key", value, 10)
    assert refused.value.field == "key"
    assert problem in refused.value.problem


@pytest.mark.parametrize("value", ["x", "x" * 10, "Zoë", "a b", "🔔" * 10, "42/2027"])
def test_what_can_be_used_comes_back_unchanged(value: str) -> None:
    assert checked("key", value, 10) == value


def test_emptiness_may_be_allowed() -> None:
    assert checked("reason", "", 10, empty=True) == ""


@given(ANYTHING)
def test_checked_text_never_needs_cleaning(text: str) -> None:
    with suppress(InvalidInput):
        assert clean(checked("key", text, 40)) == text
