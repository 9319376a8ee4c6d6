"""One click: a token says whose wish it is and of which kind, and nobody else can make or change one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import unsubscribe
from duebook.domain.text import NAME_CHARACTERS, RECIPIENT_CHARACTERS
from duebook.domain.unsubscribe import Wish
from duebook.errors import InvalidInput

SECRET = "a-secret-of-more-than-16-bytes"
TEXTS = st.text(st.characters(codec="utf-8"))
WISHES = st.builds(Wish, TEXTS, TEXTS)


@given(WISHES)
def test_what_was_signed_is_read_as_it_was(wish: Wish) -> None:
    assert unsubscribe.read(SECRET, unsubscribe.token(SECRET, wish)) == wish


@pytest.mark.parametrize("character", ["a", '"', "é", "👋"])
def test_the_longest_names_make_a_token_that_can_be_read(character: str) -> None:
    wish = Wish(character * RECIPIENT_CHARACTERS, "k" * NAME_CHARACTERS)
    assert unsubscribe.read(SECRET, unsubscribe.token(SECRET, wish)) == wish


@given(WISHES, st.data())
def test_a_token_with_any_character_changed_is_refused(wish: Wish, data: st.DataObject) -> None:
    token = unsubscribe.token(SECRET, wish)
    position = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_.").filter(lambda one: one != token[position]))
    with pytest.raises(InvalidInput, match="token"):
        unsubscribe.read(SECRET, token[:position] + other + token[position + 1 :])


@given(st.text())
def test_anything_else_is_refused_and_breaks_nothing(token: str) -> None:
    with pytest.raises(InvalidInput, match="token"):
        unsubscribe.read(SECRET, token)


def test_the_headers_are_those_of_one_click_and_the_token_is_the_last_segment() -> None:
    headers = unsubscribe.headers("https://example.org/u/", SECRET, Wish("ann", "news"))
    assert headers.keys() == {"List-Unsubscribe", "List-Unsubscribe-Post"}
    address = headers["List-Unsubscribe"].strip("<>")
    assert address.startswith("https://example.org/u/")
    assert unsubscribe.read(SECRET, address.rpartition("/")[2]) == Wish("ann", "news")
