"""The bytes of an e-mail: what goes in comes out, nothing else comes in, and a repeat is identical."""

from __future__ import annotations

import email.header
import email.message
import email.policy
import re
from email import message_from_bytes
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from duebook.channels.smtp.address import parse
from duebook.channels.smtp.headers import address_header, text_header
from duebook.channels.smtp.mime import Letter, Mailbox, letter
from duebook.domain import unsubscribe
from duebook.domain.message import Email, freeze, thaw
from duebook.errors import InvalidMessage

from .support import FROZEN_AT, context
from .support import email as mail

LONG_SUBJECT = "Überfällige Erinnerung \N{EN DASH} " * 12 + "🔔📅"

# What a message lets through as one line of a header.
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\u2028\u2029"), max_size=200)
ANYTHING = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=400)


def written(message: Email, *, message_id: str | None = None, **extra: str) -> Letter:
    return letter(
        message,
        sender=Mailbox(parse("sender", message.sender or "renewals@example.com"), message.sender_name),
        recipient=Mailbox(parse("to", message.to), message.to_name),
        reply_to=parse("reply_to", message.reply_to) if message.reply_to else None,
        message_id=message_id or context().message_id,
        rendered_at=FROZEN_AT,
        extra=extra,
    )


def read(content: bytes) -> email.message.EmailMessage:
    found = message_from_bytes(content, policy=email.policy.default)
    assert isinstance(found, email.message.EmailMessage)
    return found


def unfolded(header: bytes) -> str:
    # Readers take away the white space around a value, not just the one space after the colon.
    return header.decode().replace("\r\n", "").partition(":")[2].strip(" ")


def decoded(header: bytes) -> str:
    """Read a header as the older, independent half of the standard library does."""
    return str(email.header.make_header(email.header.decode_header(unfolded(header))))


class TestSubject:
    def test_h70_a_long_one_outside_ascii_comes_back_exactly(self) -> None:
        """python/cpython#92081."""
        assert (len(LONG_SUBJECT), LONG_SUBJECT.count(" ")) == (302, 36)
        content = written(mail(subject=LONG_SUBJECT)).content
        assert read(content)["Subject"] == LONG_SUBJECT
        lines = content.split(b"\r\n\r\n")[0].split(b"\r\n")
        assert max(map(len, lines)) <= 76
        words = re.findall(rb"=\?\S+\?=", content)
        assert len(words) > 5
        for word in words:
            assert len(word) <= 75
            email.header.decode_header(word.decode())[0][0].decode()

    @given(LINE)
    @example("=?utf-8?q?not_encoded?=")
    @example("two  spaces")
    @example(" leading and trailing ")
    @example("a" * 900)
    @example("word " * 180)
    @example("ü" * 900)
    @example("a " * 40 + " " * 90 + "b")
    def test_any_line_comes_back_exactly(self, subject: str) -> None:
        header = text_header("Subject", subject)
        assert decoded(header) == subject
        lines = header.split(b"\r\n")
        assert lines.pop() == b""
        assert header.isascii()
        assert max(map(len, lines)) <= 998
        assert all(line.strip() for line in lines)
        assert all(line.startswith(b" ") for line in lines[1:])

    @given(st.text(max_size=60))
    @example("Hi\r\nBcc: x@example.org\r\nX-Injected: yes")
    @example("a\rb")
    @example("a\nb")
    @example("a\x00b")
    @example("a\x85b")
    @example("a\u2028b")
    def test_h67_h71_no_text_becomes_another_header(self, subject: str) -> None:
        """simple-java-mail#88, zulip#39036: refused, or one header."""
        try:
            header = text_header("Subject", subject)
        except InvalidMessage:
            return
        assert re.fullmatch(rb"Subject: ?[^\r\n]*\r\n(?: [^\r\n]+\r\n)*", header)
        assert b"\x00" not in header
        assert list(read(header + b"\r\n").keys()) == ["Subject"]

    @pytest.mark.parametrize("character", ["\r", "\n", "\r\n", "\x00", "\x0b", "\x85"])
    def test_control_characters_are_refused_a_second_time(self, character: str) -> None:
        with pytest.raises(InvalidMessage):
            text_header("Subject", f"Hi{character}Bcc: x@example.org")
        with pytest.raises(InvalidMessage):
            text_header(f"X{character}Y", "value")
        with pytest.raises(InvalidMessage):
            address_header("To", f"a@example.net{character}Bcc: b@example.org", "Jane")
        with pytest.raises(InvalidMessage):
            address_header("To", "a@example.net", f"Jane{character}Bcc: b@example.org")


class TestNames:
    @given(LINE.filter(lambda name: name.strip() != ""))
    @example('Jane "JD" Doe')
    @example("back\\slash")
    @example("Doe, Jane (sales) <ceo@example.org>")
    @example("Jürgen Groß")
    @example("a" * 255)
    def test_any_name_stays_a_name(self, name: str) -> None:
        header = address_header("To", "ann@example.net", name)
        found = read(header + b"\r\n")["To"]
        assert [address.addr_spec for address in found.addresses] == ["ann@example.net"]
        assert max(map(len, header.split(b"\r\n"))) <= 998
        # The new half of the standard library reads a space between two encoded words of a name.
        phrase = unfolded(header).removesuffix("<ann@example.net>").removesuffix(" ")
        if phrase.startswith('"'):
            assert re.sub(r"\\(.)", r"\1", phrase[1:-1]) == name
        else:
            assert str(email.header.make_header(email.header.decode_header(phrase))) == name

    def test_h68_an_address_cannot_carry_a_header(self) -> None:
        """google_workspace_mcp#878: refused when the message is made, and again by the channel's own check."""
        evil = "a@example.net\r\nBcc: b@example.org"
        for field in ("to", "sender", "reply_to"):
            with pytest.raises(InvalidMessage):
                mail(**{field: evil})
        with pytest.raises(InvalidMessage):
            parse("to", evil)
        with pytest.raises(InvalidMessage):
            mail(headers={"List-Unsubscribe": "<https://example.com/>\r\nBcc: b@example.org"})


class TestWhole:
    def test_the_headers(self) -> None:
        message = mail(
            to="post@bücher.example",
            to_name="Jürgen",
            sender_name="Renewals, Inc.",
            reply_to="help@example.com",
            headers={"X-Kind": "renewal", "List-Unsubscribe": f"<https://example.com/{'u' * 120}>"},
        )
        found = read(written(message).content)
        assert found["From"] == '"Renewals, Inc." <renewals@example.com>'
        assert found["To"].addresses[0].display_name == "Jürgen"
        assert found["To"].addresses[0].addr_spec == "post@xn--bcher-kva.example"
        assert found["Reply-To"].addresses[0].addr_spec == "help@example.com"
        assert found["Date"].datetime == FROZEN_AT
        assert found["Message-ID"] == context().message_id
        assert found["List-Unsubscribe"] == message.headers["List-Unsubscribe"]
        assert found["MIME-Version"] == "1.0"
        assert len(found.keys()) == len({name.lower() for name in found.keys()})  # noqa: SIM118  names repeat

    def test_h72_the_headers_of_unsubscribing_arrive_as_they_are(self) -> None:
        """useSend#412: the one-click POST needs the very address that was signed, in one piece."""
        wish = unsubscribe.Wish("r" * 320, "k" * 64)
        headers = unsubscribe.headers("https://example.com/unsubscribe", "a secret of 16 or more", wish)
        content = written(mail(headers=headers)).content
        for name, value in headers.items():
            assert f"\r\n{name}: {value}\r\n".encode() in content

    def test_text_and_html_are_alternatives(self) -> None:
        message = mail(text="Grüße\n", html="<p>Grüße</p>\n")
        found = read(written(message).content)
        assert found.get_content_type() == "multipart/alternative"
        parts = [part.get_content() for part in found.iter_parts()]
        assert [part.splitlines() for part in parts] == [["Grüße"], ["<p>Grüße</p>"]]

    @pytest.mark.parametrize("name", ["Bcc", "bcc", "TO", "Content-Type", "Resent-Bcc", "Message-ID", "Subject"])
    def test_headers_of_the_channel_are_not_the_messages(self, name: str) -> None:
        with pytest.raises(InvalidMessage):
            written(mail(headers={name: "x"}))

    @given(ANYTHING, st.none() | ANYTHING)
    @example("From here\n.\n..dot\n", None)
    @example("x" * 3_000, "ü" * 3_000)
    @example("tab\tand\x0cform feed", None)
    def test_any_text_comes_back_and_no_line_is_too_long(self, text: str, html: str | None) -> None:
        content = written(mail(text=text, html=html)).content
        found = read(content)
        body = found.get_body(("plain",))
        assert body is not None
        # Line ends are the wire's own; beside them, every character comes back.
        assert lines(body.get_content()) == lines(text)
        assert content.isascii()
        assert content.endswith(b"\r\n")
        assert max(map(len, content.split(b"\r\n"))) <= 998
        assert b"\n" not in content.replace(b"\r\n", b"")
        assert b"\r" not in content.replace(b"\r\n", b"")

    @given(ANYTHING, st.none() | ANYTHING, st.dictionaries(st.sampled_from(["X-A", "x-b", "X-C"]), st.just("v")))
    def test_a_repeat_is_the_same_bytes_even_after_the_store(
        self, text: str, html: str | None, headers: dict[str, str]
    ) -> None:
        message = mail(text=text, html=html, headers=headers)
        stored: Any = thaw(freeze(message))
        assert written(message) == written(stored) == written(message)

    def test_another_notification_has_another_boundary(self) -> None:
        message = mail(html="<p>Hi</p>")
        one, two = written(message), written(message, message_id="<other@duebook.example>")
        assert read(one.content).get_boundary() != read(two.content).get_boundary()

    def test_a_character_that_is_none_is_refused(self) -> None:
        with pytest.raises(InvalidMessage):
            written(mail(text="\ud800"))

    def test_the_relays_key_header(self) -> None:
        assert read(written(mail(), **{"Resend-Idempotency-Key": "k"}).content)["Resend-Idempotency-Key"] == "k"


def lines(text: str) -> list[str]:
    found = re.split("\r\n|\r|\n", text)
    while found and not found[-1]:
        found.pop()
    return found
