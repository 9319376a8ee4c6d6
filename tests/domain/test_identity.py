import re

from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.identity import idempotency_key, message_id, short_key
from duebook.domain.policy import checked_name
from duebook.domain.text import KEY_CHARACTERS, checked
from duebook.errors import InvalidInput

NAMES = st.from_regex(r"[A-Za-z0-9_.-]{1,64}", fullmatch=True)
KEYS = st.text(
    st.characters(exclude_categories=["Cc", "Cs"], exclude_characters="\u2028\u2029"), min_size=1, max_size=255
)
IDENTITIES = st.tuples(NAMES, NAMES, KEYS)


def test_the_key_is_readable_and_every_attempt_has_the_same() -> None:
    assert idempotency_key("prod", "renewal", "sub-1842/2027") == "prod:renewal:sub-1842/2027"
    assert short_key("prod:renewal:sub-1842/2027") == short_key("prod:renewal:sub-1842/2027")


def test_a_message_id_never_changes_between_releases() -> None:
    id = message_id("prod:renewal:sub-1842/2027", "mail.example.org")
    assert id == "<c07988e3143ddc6907f27cca7c63288794c3fe9c@mail.example.org>"


@given(IDENTITIES, IDENTITIES)
def test_two_identities_never_share_a_key(one: tuple, other: tuple) -> None:
    same = one == other
    assert (idempotency_key(*one) == idempotency_key(*other)) is same
    assert (message_id(idempotency_key(*one), "x") == message_id(idempotency_key(*other), "x")) is same


@given(st.text(alphabet="ab:", max_size=6), st.text(alphabet="ab:", max_size=6), st.text("ab:", min_size=1, max_size=6))
def test_names_that_would_make_two_identities_look_alike_are_refused(namespace: str, kind: str, key: str) -> None:
    try:
        checked_name("namespace", namespace), checked_name("kind", kind), checked("key", key, KEY_CHARACTERS)
    except InvalidInput:
        return
    assert idempotency_key(namespace, kind, key).split(":", 2) == [namespace, kind, key]


@given(IDENTITIES)
def test_a_message_id_is_one_short_header_line(identity: tuple) -> None:
    assert re.fullmatch(
        r"<[0-9a-f]{40}@mail\.example\.org>", message_id(idempotency_key(*identity), "mail.example.org")
    )
    assert re.fullmatch(r"[0-9a-f]{64}", short_key(idempotency_key(*identity)))
