"""Attachments in the bytes of an e-mail: every name and every byte comes back, and a repeat is identical."""

from __future__ import annotations

from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duebook.channels.smtp.address import parse
from duebook.channels.smtp.mime import Mailbox, letter
from duebook.domain.attachment import Attachment
from duebook.domain.message import Email, freeze, thaw

from .support import FROZEN_AT, context, email

NAMES = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\\\u2028\u2029"), min_size=1, max_size=150
)
CONTENTS = st.lists(st.binary(max_size=300), min_size=1, max_size=3)


def attached(content: bytes, **changes: Any) -> Attachment:
    values = {"name": "plan.pdf", "media_type": "application/pdf", "source": "plans", "reference": "1842.pdf"}
    return Attachment.of(content, **{**values, **changes})


def written(message: Email, files: list[bytes]) -> bytes:
    return letter(
        message,
        sender=Mailbox(parse("sender", "renewals@example.com")),
        recipient=Mailbox(parse("to", message.to)),
        reply_to=None,
        message_id=context().message_id,
        rendered_at=FROZEN_AT,
        extra={},
        files=files,
    ).content


def read(content: bytes) -> EmailMessage:
    found = message_from_bytes(content, policy=default)
    assert isinstance(found, EmailMessage)
    return found


@given(CONTENTS, st.none() | st.just("<p>Grüße</p>\n"))
def test_every_byte_comes_back(contents: list[bytes], html: str | None) -> None:
    content = written(email(html=html, attachments=[attached(each) for each in contents]), contents)
    found = read(content)
    assert found.get_content_type() == "multipart/mixed"
    assert [part.get_payload(decode=True) for part in found.iter_attachments()] == contents
    body = found.get_body(("html", "plain"))
    assert body is not None
    assert body.get_content().splitlines() == [html.strip() if html else "Your plan renews on Monday."]
    assert content.isascii()
    assert max(map(len, content.split(b"\r\n"))) <= 998
    assert b"\n" not in content.replace(b"\r\n", b"")


@given(NAMES)
@example("Rechnung für März.pdf")
@example("ü" * 150)
@example("a" * 150)
@example('a"b.pdf')
@example("a;b='c'.pdf")
@example(" leading and trailing ")
@example("two  spaces.pdf")
@example("100%20off.pdf")
@example("=?utf-8?q?a?=.pdf")
@example("🔔" * 40 + ".pdf")
def test_any_name_of_a_file_comes_back(name: str) -> None:
    content = written(email(attachments=[attached(b"1", name=name)]), [b"1"])
    [part] = read(content).iter_attachments()
    assert part["Content-Disposition"].params["filename"] == name
    assert part.get_filename() == name.strip()
    assert part.get_content_type() == "application/pdf"
    assert max(map(len, content.split(b"\r\n"))) <= 78


def test_a_repeat_is_the_same_bytes_even_after_the_store() -> None:
    message = email(html="<p>Hi</p>", attachments=[attached(b"one"), attached(b"two", name="two.pdf")])
    stored: Any = thaw(freeze(message))
    assert stored == message
    assert written(message, [b"one", b"two"]) == written(stored, [b"one", b"two"])


def test_the_parts_have_boundaries_of_their_own() -> None:
    found = read(written(email(html="<p>Hi</p>", attachments=[attached(b"1")]), [b"1"]))
    inner = next(iter(found.iter_parts()))
    assert inner.get_content_type() == "multipart/alternative"
    assert inner.get_boundary() != found.get_boundary()
    assert "MIME-Version" not in inner


def test_a_file_for_each_attachment() -> None:
    with pytest.raises(ValueError, match="zip"):
        written(email(attachments=[attached(b"1")]), [])
