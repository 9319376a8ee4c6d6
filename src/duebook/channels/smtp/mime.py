"""An e-mail as the bytes that go over the wire. The same message always gives the same bytes.

Only those bytes may go out again while an attempt is in doubt, so nothing here asks a clock or draws a random
number: the date is the instant the message was frozen, and the boundary follows from the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from ...domain.message import Email
from ...errors import InvalidMessage
from .address import Address
from .headers import address_header, text_header

# Bodies in seven bits need no extension of the server, so the bytes do not depend on which one answers.
_POLICY = SMTP.clone(cte_type="7bit")

_OURS = frozenset(
    {"from", "to", "cc", "bcc", "reply-to", "subject", "date", "message-id", "mime-version"}
    | {"return-path", "received"}
)
_OURS_BY_PREFIX = ("content-", "resent-")


@dataclass(frozen=True, slots=True)
class Letter:
    """An e-mail ready to go: the envelope and its content, which ends with a line break."""

    sender: Address
    recipient: Address
    content: bytes
    needs_smtputf8: bool


@dataclass(frozen=True, slots=True)
class Mailbox:
    """An address and, if known, whose it is."""

    address: Address
    person: str | None = None


def letter(
    message: Email,
    *,
    sender: Mailbox,
    recipient: Mailbox,
    reply_to: Address | None,
    message_id: str,
    rendered_at: datetime,
    extra: Mapping[str, str],
) -> Letter:
    """Return the letter for a message; `extra` are headers of the channel's own.

    Raises InvalidMessage for a header that the message may not set, a control character in any header, and
    text that cannot be encoded.
    """
    lines = [
        address_header("From", str(sender.address), sender.person),
        address_header("To", str(recipient.address), recipient.person),
    ]
    if reply_to is not None:
        lines.append(address_header("Reply-To", str(reply_to), None))
    lines.append(text_header("Subject", message.subject))
    lines.append(text_header("Date", format_datetime(rendered_at)))
    lines.append(text_header("Message-ID", message_id))
    for name, value in _sorted(message.headers):
        if name.lower() in _OURS or name.lower().startswith(_OURS_BY_PREFIX):
            raise InvalidMessage("headers", f"{name!r} is written by the channel; use the message's fields")
        lines.append(text_header(name, value))
    lines.extend(text_header(name, value) for name, value in _sorted(extra))
    addresses = [sender.address, recipient.address, *([reply_to] if reply_to else [])]
    return Letter(
        sender=sender.address,
        recipient=recipient.address,
        content=b"".join(lines) + _body(message, message_id),
        needs_smtputf8=any(address.needs_smtputf8 for address in addresses),
    )


def _sorted(headers: Mapping[str, str]) -> list[tuple[str, str]]:
    # A message that was stored and read back has lost the order in which the handler wrote them.
    return sorted(headers.items(), key=lambda header: (header[0].lower(), header[0]))


def _body(message: Email, message_id: str) -> bytes:
    body = EmailMessage(policy=_POLICY)
    try:
        body.set_content(message.text, charset="utf-8")
        if message.html is not None:
            body.add_alternative(message.html, subtype="html", charset="utf-8")
            body.set_boundary(_boundary(message_id, message.text, message.html))
        return body.as_bytes()
    except UnicodeEncodeError as error:
        raise InvalidMessage("text", f"contains a character that is not one: {error.reason}") from None


def _boundary(*parts: str) -> str:
    # A text cannot hold the digest of itself, so it cannot close its own part and begin another.
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode()).digest())
    return f"=_{digest.hexdigest()[:40]}"
