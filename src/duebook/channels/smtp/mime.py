"""An e-mail as the bytes that go over the wire. The same message always gives the same bytes.

Only those bytes may go out again while an attempt is in doubt, so nothing here asks a clock or draws a random
number: the date is the instant the message was frozen, and the boundary follows from the content.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from ...domain.message import Email
from ...errors import InvalidMessage
from ..own_headers import own_headers
from .address import Address
from .headers import address_header, text_header
from .parts import mixed

# Bodies in seven bits need no extension of the server, so the bytes do not depend on which one answers.
_POLICY = SMTP.clone(cte_type="7bit")


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
    files: Sequence[bytes] = (),
) -> Letter:
    """Return the letter for a message; `extra` are headers of the channel's own, `files` the bytes of its attachments.

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
    lines.extend(text_header(name, value) for name, value in [*own_headers(message), *extra.items()])
    addresses = [sender.address, recipient.address, *([reply_to] if reply_to else [])]
    return Letter(
        sender=sender.address,
        recipient=recipient.address,
        content=b"".join(lines) + _body(message, message_id, files),
        needs_smtputf8=any(address.needs_smtputf8 for address in addresses),
    )


def _body(message: Email, message_id: str, files: Sequence[bytes]) -> bytes:
    parts = [message_id, message.text]
    body = EmailMessage(policy=_POLICY)
    try:
        body.set_content(message.text, charset="utf-8")
        if message.html is not None:
            parts.append(message.html)
            body.add_alternative(message.html, subtype="html", charset="utf-8")
            body.set_boundary(_boundary(*parts))
        if not message.attachments:
            return body.as_bytes()
        del body["MIME-Version"]
        parts += [attachment.sha256 for attachment in message.attachments]
        return mixed(body.as_bytes(), message.attachments, files, _boundary(*parts))
    except UnicodeEncodeError as error:
        raise InvalidMessage("text", f"contains a character that is not one: {error.reason}") from None


def _boundary(*parts: str) -> str:
    # A text cannot hold the digest of itself, so it cannot close its own part and begin another.
    digest = hashlib.sha256()
    for part in parts:
        digest.update(hashlib.sha256(part.encode()).digest())
    return f"=_{digest.hexdigest()[:40]}"
