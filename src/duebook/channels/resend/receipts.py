"""What Resend posts back.

https://resend.com/docs/dashboard/webhooks/event-types
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from ...domain.receipt import Receipt, ReceiptEvent
from ...errors import InvalidInput, UnverifiedReceipt
from ..http.receiving import check_age, checked_secrets, document, epoch, header, iso, same, text, within
from ..http.tag import from_tag
from .channel import TAG

PROVIDER = "resend"
OLDEST = timedelta(minutes=5)
"""Svix signs each delivery anew, a repeated one too."""

_EVENTS: dict[str, ReceiptEvent] = {
    "email.delivered": "delivered",
    "email.bounced": "bounced",
    "email.complained": "complained",
    "email.delivery_delayed": "delayed",
    "email.failed": "refused",
    "email.suppressed": "refused",
}


def parse(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipts in a request that Resend has posted; none for an event that says nothing of delivery.

    `secrets`: the webhook's signing secrets (`whsec_…`); old and new while you change them. Raises UnverifiedReceipt,
    and InvalidInput for a body or a secret that cannot be read.
    """
    _verify(headers, body, secrets, now)
    posted = document(PROVIDER, body)
    event = _EVENTS.get(str(within(posted, "type")))
    if event is None:
        return []
    data = within(posted, "data")
    bounce = within(data, "bounce")
    receipt = Receipt(
        provider=PROVIDER,
        id=header(headers, "svix-id"),
        event=event,
        at=iso(within(posted, "created_at")) or now,
        provider_id=text(within(data, "email_id")),
        reference=from_tag(text(within(data, "tags", TAG))),
        address=text(within(data, "to", 0)),
        # By its own page the event is a permanent refusal, unless the type says otherwise.
        permanent=event == "bounced" and (text(within(bounce, "type")) or "Permanent") == "Permanent",
        detail=text(within(bounce, "message")) or text(within(data, "failed", "reason")) or "",
    )
    return [receipt]


def _verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """Check a signature as https://docs.svix.com/receiving/verifying-payloads/how-manual says."""
    id, stamp = header(headers, "svix-id"), header(headers, "svix-timestamp")
    content = f"{id}.{stamp}.".encode() + body
    expected = [f"v1,{_signature(secret, content)}" for secret in checked_secrets(secrets)]
    given = header(headers, "svix-signature").split()
    if not any(same(each, right) for each in given for right in expected):
        raise UnverifiedReceipt(PROVIDER, "its signature was made with none of the secrets")
    check_age(PROVIDER, epoch(stamp), now, OLDEST)


def _signature(secret: str, content: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        raise InvalidInput("secrets", "must be base64, with or without the prefix 'whsec_'") from None
    return base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode("ascii")
