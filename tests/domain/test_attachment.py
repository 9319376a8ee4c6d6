"""Attachments as values: which bytes are meant, and how many may go along."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.attachment import ATTACHED_BYTES, MOST_ATTACHMENTS, Attachment
from duebook.domain.message import Email, freeze, thaw
from duebook.errors import InvalidMessage

from .builders import email


def plan(content: bytes = b"plan", **changes: Any) -> Attachment:
    values = {"name": "plan.pdf", "media_type": "application/pdf", "source": "plans", "reference": "1842.pdf"}
    return Attachment.of(content, **{**values, **changes})


def sized(size_bytes: int) -> Attachment:
    return Attachment(
        name="a", media_type="text/csv", source="s", reference="r", size_bytes=size_bytes, sha256="0" * 64
    )


@given(st.binary(max_size=50), st.binary(max_size=50))
def test_it_knows_its_own_bytes(content: bytes, other: bytes) -> None:
    made = plan(content)
    assert (made.size_bytes, made.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert made.is_of(content)
    assert made.is_of(other) == (content == other)


def test_the_row_holds_where_it_is_and_not_what() -> None:
    message = email(attachments=[plan(b"x" * 1_000_000)])
    assert len(freeze(message)) < 1_000
    assert thaw(freeze(message)) == message


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\r\nBcc: b@example.org"}, "name"),
        ({"name": "a\x00"}, "name"),
        ({"name": "../plan.pdf"}, "name"),
        ({"name": "C:\\plan.pdf"}, "name"),
        ({"name": "x" * 151}, "name"),
        ({"name": None}, "name"),
        ({"media_type": "pdf"}, "media_type"),
        ({"media_type": "application/pdf\r\nX: y"}, "media_type"),
        ({"media_type": "application/pdf; name=x"}, "media_type"),
        ({"media_type": "multipart/mixed"}, "media_type"),
        ({"media_type": "message/rfc822"}, "media_type"),
        ({"media_type": ""}, "media_type"),
        ({"source": ""}, "source"),
        ({"reference": ""}, "reference"),
        ({"reference": "a\nb"}, "reference"),
        ({"reference": "x" * 501}, "reference"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        plan(**changes)
    assert refused.value.field == f"attachments.{field}"


@pytest.mark.parametrize("sha256", ["", "0" * 63, "G" * 64, "A" * 64, None])
def test_what_is_no_digest_is_refused(sha256: Any) -> None:
    with pytest.raises(InvalidMessage, match="sha256"):
        Attachment(name="a", media_type="text/csv", source="s", reference="r", size_bytes=0, sha256=sha256)


@pytest.mark.parametrize(
    ("attachments", "says"),
    [
        ([plan()] * (MOST_ATTACHMENTS + 1), "the limit is 10"),
        ([sized(ATTACHED_BYTES), sized(1)], "the limit is 15,728,640"),
        (["plan.pdf"], "must hold Attachment"),
        ("plan.pdf", "must be a list"),
        (None, "must be a list"),
    ],
)
def test_too_many_too_large_or_none_at_all(attachments: Any, says: str) -> None:
    with pytest.raises(InvalidMessage) as refused:
        email(attachments=attachments)
    assert (refused.value.field, says in refused.value.problem) == ("attachments", True)


@pytest.mark.parametrize("size_bytes", [-1, ATTACHED_BYTES + 1])
def test_one_that_is_too_large_is_refused(size_bytes: int) -> None:
    with pytest.raises(InvalidMessage, match="size_bytes"):
        sized(size_bytes)


def test_as_many_as_are_allowed_go_along() -> None:
    message = email(attachments=[sized(ATTACHED_BYTES // MOST_ATTACHMENTS)] * MOST_ATTACHMENTS)
    assert isinstance(message, Email)
    assert len(message.attachments) == MOST_ATTACHMENTS


def test_a_message_does_not_change_with_the_list_it_was_made_from() -> None:
    attachments = [plan()]
    message = email(attachments=attachments)
    before = freeze(message)
    attachments.clear()
    assert freeze(message) == before
