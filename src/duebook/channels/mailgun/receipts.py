"""What Mailgun posts back.

https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/webhook-payloads
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ...domain.receipt import Receipt, ReceiptEvent
from ...errors import UnverifiedReceipt
from ..http.receiving import check_age, checked_secrets, digest, document, epoch, same, text, within
from .channel import VARIABLE

PROVIDER = "mailgun"
OLDEST = timedelta(hours=8)
"""So long Mailgun posts an event again that was not answered, and it does not say that it signs it anew."""


def parse(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipt in a request that Mailgun has posted; none for an event that says nothing of delivery.

    Mailgun signs in the body: a time and a token, not the event. A token whose event was changed on the way would pass,
    so the URL must be https. `secrets`: the account's webhook signing keys; old and new while you change them. Raises
    UnverifiedReceipt, and InvalidInput for a body that cannot be read.
    """
    posted = document(PROVIDER, body)
    _verify(within(posted, "signature"), secrets, now)
    told = within(posted, "event-data")
    event = _event(told)
    if event is None:
        return []
    at = epoch(within(told, "timestamp")) or now
    status = within(told, "delivery-status")
    receipt = Receipt(
        provider=PROVIDER,
        # An id is unique within a day, says https://documentation.mailgun.com/docs/mailgun/user-manual/events
        id=f"{at:%Y-%m-%d}-{text(within(told, 'id')) or digest(str(told))}",
        event=event,
        at=at,
        provider_id=text(within(told, "message", "headers", "message-id")),
        reference=text(within(told, "user-variables", VARIABLE)),
        address=text(within(told, "recipient")),
        permanent=event == "bounced" and within(told, "reason") == "bounce",
        detail=text(within(status, "message")) or text(within(status, "description")) or "",
    )
    return [receipt]


def _event(told: object) -> ReceiptEvent | None:
    """https://documentation.mailgun.com/docs/mailgun/user-manual/events/event-types"""
    match within(told, "event"):
        case "delivered":
            return "delivered"
        case "complained":
            return "complained"
        case "rejected":
            return "refused"
        case "failed" if within(told, "severity") == "temporary":
            return "delayed"
        case "failed":
            # Mailgun did not even try: the address had bounced, unsubscribed or complained before.
            return "refused" if str(within(told, "reason")).startswith("suppress-") else "bounced"
    return None


def _verify(signature: object, secrets: Sequence[str], now: datetime) -> None:
    """https://documentation.mailgun.com/docs/mailgun/user-manual/webhooks/securing-webhooks"""
    stamp, token = str(within(signature, "timestamp")), str(within(signature, "token"))
    given = str(within(signature, "signature"))
    signed = f"{stamp}{token}".encode()
    expected = [hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() for key in checked_secrets(secrets)]
    if not any(same(given, right) for right in expected):
        raise UnverifiedReceipt(PROVIDER, "its signature was made with none of the keys")
    check_age(PROVIDER, epoch(stamp), now, OLDEST)
