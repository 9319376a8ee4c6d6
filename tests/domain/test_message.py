import json
from collections import OrderedDict
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.message import MESSAGE_BYTES, Chat, Email, Message, Push, Sms, Webhook, fingerprint, freeze, thaw
from duebook.errors import InvalidInput, InvalidMessage
from tests.domain.builders import email

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=60)
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=60)
FILLED = LINE.filter(bool)
WORDS = LINE.filter(str.strip)
NUMBERS = st.integers(-(2**63), 2**63) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT.filter(lambda text: "\\u0000" not in text),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
DOCUMENTS = st.dictionaries(TEXT, JSON, max_size=4)
ADDRESS = st.from_regex(r"[a-zäöü0-9.+-]{1,20}@[a-zäöü0-9-]{1,20}\.example", fullmatch=True)
CHANNEL = st.none() | st.just("post")
HEADERS = st.dictionaries(st.from_regex(r"X-[A-Za-z-]{1,20}", fullmatch=True), FILLED, max_size=3)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(
        Email, channel=CHANNEL, to=ADDRESS, subject=LINE, text=TEXT, html=st.none() | TEXT,
        to_name=st.none() | FILLED, sender=st.none() | ADDRESS, sender_name=st.none() | FILLED,
        reply_to=st.none() | ADDRESS, headers=HEADERS,
    ),
    st.builds(Push, channel=CHANNEL, to=FILLED, title=LINE, body=TEXT, data=DOCUMENTS),
    st.builds(Sms, channel=CHANNEL, to=st.from_regex(r"\+[1-9][0-9]{1,14}", fullmatch=True), text=WORDS),
    st.builds(Chat, channel=CHANNEL, text=WORDS, title=st.none() | FILLED),
    st.builds(Webhook, channel=CHANNEL, to=st.none() | FILLED, body=DOCUMENTS),
)  # fmt: skip


def refusal(made: Any, **values: Any) -> InvalidMessage:
    with pytest.raises(InvalidMessage) as refused:
        made(**values)
    return refused.value


@given(MESSAGES)
def test_what_was_frozen_thaws_to_the_same_message_and_freezes_to_the_same_bytes(message: Message) -> None:
    text = freeze(message)
    again = thaw(text)
    assert type(again) is type(message)
    assert again == message
    assert freeze(again) == text
    assert len(text.encode()) <= MESSAGE_BYTES


@given(DOCUMENTS)
def test_equal_messages_give_equal_bytes_whatever_order_they_were_written_in(document: dict[str, Any]) -> None:
    backwards = OrderedDict(reversed(document.items()))
    assert freeze(Webhook(body=document)) == freeze(Webhook(body=backwards))
    assert freeze(Webhook(body=document)) == freeze(Webhook(body=MappingProxyType(document)))
    assert fingerprint(freeze(Webhook(body=document))) == fingerprint(freeze(Webhook(body=backwards)))


@given(MESSAGES, MESSAGES)
def test_different_messages_give_different_bytes(one: Message, other: Message) -> None:
    if freeze(one) == freeze(other):
        assert one == other


def test_a_message_is_a_value() -> None:
    message = email()
    with pytest.raises(AttributeError):
        message.subject = "another"  # type: ignore[attr-defined]
    assert fingerprint(freeze(message)) == fingerprint(freeze(email()))
    assert freeze(message) != freeze(email("other words"))


INJECTIONS = ["Hi\r\nBcc: x@example.org", "Hi\rX: y", "Hi\nX: y", "Hi\x00", "Hi\x0b", "Hi\x85", "Hi\u2028", "Hi\ud800"]


@pytest.mark.parametrize("text", INJECTIONS, ids=ascii)
@pytest.mark.parametrize("field", ["subject", "to_name", "sender_name"])
def test_a_line_break_in_a_header_is_refused_not_repaired(field: str, text: str) -> None:
    assert refusal(email, **{field: text}).field == field


@pytest.mark.parametrize("text", INJECTIONS, ids=ascii)
@pytest.mark.parametrize("field", ["to", "sender", "reply_to"])
def test_a_line_break_in_an_address_is_refused(field: str, text: str) -> None:
    assert refusal(email, **{field: f"a@example.net{text[2:]}"}).field == field


@pytest.mark.parametrize("value", INJECTIONS, ids=ascii)
def test_a_line_break_in_the_value_of_a_header_is_refused(value: str) -> None:
    assert refusal(email, headers={"X-Tag": value}).field == "headers[X-Tag]"


@pytest.mark.parametrize("name", ["", "X Y", "X:Y", "X\r\nBcc", "X\n", "Ü", "x" * 77])
def test_what_is_no_header_name_is_refused(name: str) -> None:
    assert refusal(email, headers={name: "1"}).field == "headers"


BAD_ADDRESSES = [
    "", "ann", "ann@", "@example.org", "a@b@c", "a b@example.org", "a@exa mple.org", "a@x,b@y", "a@x;b@y",
    "Ann <ann@example.org>", '"ann"@example.org', "ann@example.org\t", "x" * 310 + "@example.org",
]  # fmt: skip


@pytest.mark.parametrize("address", BAD_ADDRESSES)
@pytest.mark.parametrize("field", ["to", "sender", "reply_to"])
def test_what_is_not_one_address_is_refused(field: str, address: str) -> None:
    assert refusal(email, **{field: address}).field == field


@pytest.mark.parametrize("address", ["ann@example.org", "jürgen@bücher.example", "a+b.c@x.y", "ann@[127.0.0.1]"])
def test_an_address_may_be_international(address: str) -> None:
    assert thaw(freeze(email(to=address))) == email(to=address)


@pytest.mark.parametrize(
    ("made", "values", "field"),
    [
        (email, {"subject": "x" * 901}, "subject"),
        (email, {"to_name": "x" * 256}, "to_name"),
        (email, {"subject": None}, "subject"),
        (email, {"to": None}, "to"),
        (email, {"to": 7}, "to"),
        (email, {"text": None}, "text"),
        (email, {"text": b"bytes"}, "text"),
        (email, {"html": 5}, "html"),
        (email, {"headers": {"X-Tag": 5}}, "headers[X-Tag]"),
        (email, {"channel": "x" * 65}, "channel"),
        (email, {"channel": ""}, "channel"),
        (Push, {"to": "", "title": "t"}, "to"),
        (Push, {"to": "t\n", "title": "t"}, "to"),
        (Push, {"to": "t", "title": "x" * 501}, "title"),
        (Push, {"to": "t", "title": "a\nb"}, "title"),
        (Push, {"to": "t", "title": "t", "body": None}, "body"),
        (Sms, {"to": "+49151234567890123", "text": "t"}, "to"),
        (Sms, {"to": "+0491512345", "text": "t"}, "to"),
        (Sms, {"to": "004915123456", "text": "t"}, "to"),
        (Sms, {"to": "+49 151 23456", "text": "t"}, "to"),
        (Sms, {"to": "+49151234\n", "text": "t"}, "to"),
        (Sms, {"to": "+\u0664\u0669151234", "text": "t"}, "to"),
        (Sms, {"to": "+4915123456", "text": " \n"}, "text"),
        (Sms, {"to": "+4915123456", "text": "x" * 1_601}, "text"),
        (Chat, {"text": ""}, "text"),
        (Chat, {"text": None}, "text"),
        (Chat, {"text": "t", "title": ""}, "title"),
        (Chat, {"text": "t", "title": "two\nlines"}, "title"),
        (Webhook, {"to": "x" * 2001, "body": {}}, "to"),
        (Webhook, {"to": "http://x\r\nHost: y", "body": {}}, "to"),
        (Webhook, {"body": [1, 2]}, "body"),
    ],
)
def test_a_field_that_cannot_be_sent_is_named_when_the_message_is_made(made: Any, values: dict, field: str) -> None:
    assert refusal(made, **values).field == field


@pytest.mark.parametrize(
    "body",
    [
        {"x": float("nan")}, {"x": float("inf")}, {"x": {1, 2}}, {"x": b"bytes"}, {"x": ...},
        {"x": "\ud800"}, {"x": "a\x00b"}, {"a\x00": 1}, {1: "a", "b": 2},
    ],
    ids=repr,
)  # fmt: skip
def test_what_cannot_be_stored_is_refused_when_it_is_frozen(body: dict[Any, Any]) -> None:
    assert refusal(freeze, message=Webhook(body=body)).field == "message"


def test_a_message_of_more_than_a_mebibyte_is_refused() -> None:
    assert "the limit is 1,048,576" in refusal(freeze, message=email("x" * MESSAGE_BYTES)).problem
    assert "the limit is 1,048,576" in refusal(freeze, message=email("ä" * (MESSAGE_BYTES // 2))).problem
    assert freeze(email("x" * (MESSAGE_BYTES - 1_000)))


@pytest.mark.parametrize("text", ["a\x00b", "\x00", "\ud800"])
def test_a_body_that_databases_refuse_is_refused(text: str) -> None:
    refusal(freeze, message=email(text))


def test_a_body_that_merely_writes_about_the_null_character_is_fine() -> None:
    message = email(r'JSON writes it as "\u0000"')
    assert thaw(freeze(message)) == message


def test_a_message_that_could_not_be_read_back_is_refused_before_it_is_stored() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Fax(Message):
        type: ClassVar[str] = "fax"
        number: str

    for message in (Fax(number="1"), Message()):
        refusal(freeze, message=message)


def test_a_message_does_not_change_with_what_it_was_made_from() -> None:
    shared: dict[str, Any] = {"count": 1}
    message = Webhook(body=shared)
    before = freeze(message)
    shared["count"] = 2
    assert freeze(message) == before


def test_an_invalid_message_is_an_invalid_input() -> None:
    assert issubclass(InvalidMessage, InvalidInput)
    assert issubclass(InvalidMessage, ValueError)
    assert json.loads(freeze(email()))["type"] == "email"
