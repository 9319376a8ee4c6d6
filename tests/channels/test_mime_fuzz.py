"""Hostile text in every field of an e-mail at once: refused, or a mail with the headers it should have and no other."""

from __future__ import annotations

import email.header
from email import message_from_bytes
from email.headerregistry import AddressHeader
from email.policy import compat32, default
from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from duebook.channels.smtp.address import parse
from duebook.channels.smtp.mime import Letter, Mailbox, letter
from duebook.domain.attachment import Attachment
from duebook.domain.message import Email
from duebook.errors import InvalidMessage

from .support import FROZEN_AT, context

PIECES = [
    *("\r\n", "\r", "\n", "\r\n\r\n", "\r\n ", "\x00", "\t", "\x85", "\u2028", "\u202e", "%0d%0a"),
    *("=?utf-8?q?evil=0D=0A?=", "=?utf-8?b?DQo=?=", "Bcc: evil@example.org", "X-Injected: yes", "evil@example.org"),
    *("group:a@example.org;", ":", ",", ";", "<", ">", '"', "\\", "@", " ", ".", "..", "--", "(", ")", "[", "]", "="),
    *("a", "renewal", "ü", "🔔"),
]
HOSTILE = st.lists(st.sampled_from(PIECES), max_size=8).map("".join) | st.text(max_size=40)
SUBJECTS = HOSTILE | st.lists(st.sampled_from(["Überfällige ", "Erinnerung ", "\N{EN DASH} ", " "]), max_size=60).map(
    "".join
)
GOOD_ADDRESSES = st.sampled_from(["ann@example.net", "post@bücher.example", "jürgen@bücher.example"])
ADDRESSES = GOOD_ADDRESSES | GOOD_ADDRESSES | st.builds("{}{}".format, GOOD_ADDRESSES, HOSTILE)
NAMES = st.none() | HOSTILE
HEADERS = st.dictionaries(
    st.sampled_from(["List-Unsubscribe", "List-Id", "X-Kind", "bcc", "Content-Type", "X: y", "X\r\nBcc"]) | HOSTILE,
    HOSTILE,
    max_size=3,
)
WRITTEN = ["from", "to", "subject", "date", "message-id", "mime-version", "content-type"]
FILE_NAMES = st.lists(HOSTILE, max_size=2)
FIELDS = st.fixed_dictionaries(
    {"to": ADDRESSES, "subject": SUBJECTS},
    optional={
        "to_name": NAMES, "sender": ADDRESSES, "sender_name": NAMES, "reply_to": ADDRESSES, "headers": HEADERS,
        "html": st.none() | HOSTILE,
    },
)  # fmt: skip


def written(fields: dict[str, Any], files: list[str]) -> tuple[Email, Letter]:
    attachments = [
        Attachment.of(b"1", name=name, media_type="text/plain", source="files", reference="1") for name in files
    ]
    message = Email(text="Hi\n", attachments=attachments, **fields)
    made = letter(
        message,
        sender=Mailbox(parse("sender", message.sender or "renewals@example.com"), message.sender_name),
        recipient=Mailbox(parse("to", message.to), message.to_name),
        reply_to=parse("reply_to", message.reply_to) if message.reply_to else None,
        message_id=context().message_id,
        rendered_at=FROZEN_AT,
        extra={},
        files=[b"1"] * len(files),
    )
    return message, made


@settings(max_examples=500)
@given(FIELDS, FILE_NAMES)
@example({"to": "ann@example.net", "subject": "Hi\r\nBcc: x@example.org"}, [])
@example({"to": "ann@example.net,evil@example.org", "subject": "Hi"}, [])
@example({"to": "ann@example.net", "subject": "Hi", "headers": {"bcc": "evil@example.org"}}, [])
@example({"to": "ann@example.net", "subject": "Hi", "headers": {"X\r\nBcc": "evil@example.org"}}, [])
@example({"to": "ann@example.net", "subject": "Hi", "to_name": "Ann <evil@example.org>, b"}, [])
@example({"to": "jürgen@bücher.example", "subject": "Hi", "headers": {"List-Unsubscribe": "<https://a/b>"}}, ["ü.pdf"])
@example({"to": "ann@example.net", "subject": "Überfällige \N{EN DASH} " * 30}, ['a".pdf', "b\r\n.pdf"])
def test_h67_h68_h70_h71_h78_hostile_text_is_refused_or_stays_where_it_was_put(
    fields: dict[str, Any], files: list[str]
) -> None:
    """simple-java-mail#88, google_workspace_mcp#878, python/cpython#92081, zulip#39036, qpixel#1728."""
    try:
        message, made = written(fields, files)
    except InvalidMessage:
        event("refused")
        return
    event("written")
    head, _, body = made.content.partition(b"\r\n\r\n")
    found = [name.lower() for name in message_from_bytes(made.content, policy=compat32)]
    own = [name.lower() for name in [*message.headers, *(["Reply-To"] if message.reply_to else [])]]
    assert not {"bcc", "content-type"} & set(own)
    of_one_part = [] if message.attachments or message.html is not None else ["content-transfer-encoding"]
    assert sorted(found) == sorted([*WRITTEN, *of_one_part, *own])
    assert b"\r" not in made.content.replace(b"\r\n", b"")
    assert b"\n" not in made.content.replace(b"\r\n", b"")
    assert max(map(len, made.content.split(b"\r\n"))) <= 998
    assert body
    assert subject(head) == message.subject
    check_recipient(made)


def subject(head: bytes) -> str:
    lines = head.decode().replace("\r\n ", "\0").split("\r\n")
    raw = next(line for line in lines if line.startswith("Subject:")).replace("\0", " ")
    return str(email.header.make_header(email.header.decode_header(raw.partition(":")[2].strip(" "))))


def check_recipient(made: Letter) -> None:
    found = message_from_bytes(made.content, policy=default)
    for name, expected in (("To", made.recipient), ("From", made.sender)):
        header = found[name]
        assert isinstance(header, AddressHeader)
        [address] = header.addresses
        if not expected.needs_smtputf8:
            assert address.addr_spec == str(expected)
