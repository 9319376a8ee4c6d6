"""What Twilio posts back.

https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qs, parse_qsl, urlsplit

from ...domain.receipt import Receipt, ReceiptEvent
from ...errors import InvalidInput, UnverifiedReceipt
from ..http.receiving import checked_secrets, header, same
from .channel import PARAMETER

PROVIDER = "twilio"

_EVENTS: dict[str, ReceiptEvent] = {
    # The carrier has it. Some carriers say nothing after that.
    "sent": "delayed",
    "delivered": "delivered",
    "read": "delivered",
    "undelivered": "bounced",
    "failed": "refused",
    "canceled": "refused",
}
_NO_SUCH_PHONE = frozenset({"30005", "30006"})
"""An unknown handset, and a landline: https://www.twilio.com/docs/api/errors"""


def parse(url: str, headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipt in a request that Twilio has posted; none for a status before anything was sent.

    `url`: the whole URL that Twilio called, with its query: it is a part of what is signed. Behind a proxy it is the
    outer one. `secrets`: the account's auth tokens; old and new while you change them. Twilio signs no time, so a
    request that is posted again passes, and is the same receipt. Raises UnverifiedReceipt, and InvalidInput for a body
    that cannot be read.
    """
    fields = _form(body)
    _verify(url, headers, fields, secrets)
    values = dict(fields)
    sid, status = values.get("MessageSid"), values.get("MessageStatus", "")
    event = _EVENTS.get(status)
    if event is None or not sid:
        return []
    code = values.get("ErrorCode", "")
    receipt = Receipt(
        provider=PROVIDER,
        id=f"{sid}.{status}",
        event=event,
        at=now,
        provider_id=sid,
        reference=parse_qs(urlsplit(url).query).get(PARAMETER, [None])[0],
        address=values.get("To"),
        permanent=event == "bounced" and code in _NO_SUCH_PHONE,
        detail=f"{status} {code}".rstrip(),
    )
    return [receipt]


def _form(body: bytes) -> list[tuple[str, str]]:
    try:
        return parse_qsl(body.decode("ascii"), keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise InvalidInput("body", f"is not the form that {PROVIDER} posts") from None


def _verify(url: str, headers: Mapping[str, str], fields: Sequence[tuple[str, str]], secrets: Sequence[str]) -> None:
    """Check a signature as https://www.twilio.com/docs/usage/security#validating-requests says."""
    content = url + "".join(name + value for name, value in sorted(fields))
    given = header(headers, "x-twilio-signature")
    if not any(same(given, _signature(secret, content)) for secret in checked_secrets(secrets)):
        raise UnverifiedReceipt(PROVIDER, "its signature was made with none of the tokens, or for another URL")


def _signature(secret: str, content: str) -> str:
    return base64.b64encode(hmac.new(secret.encode(), content.encode(), hashlib.sha1).digest()).decode("ascii")
