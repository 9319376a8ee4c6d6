"""What Postmark posts back.

https://postmarkapp.com/developer/webhooks/webhooks-overview
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...domain.receipt import Receipt, ReceiptEvent
from ..http.receiving import check_authorization, digest, document, iso, text, within
from .channel import METADATA

PROVIDER = "postmark"

_RECORDS: dict[str, ReceiptEvent] = {"Delivery": "delivered", "Bounce": "bounced", "SpamComplaint": "complained"}

# https://postmarkapp.com/developer/api/bounce-api, "Bounce types". What is not named here is a bounce.
_BOUNCES: dict[str, ReceiptEvent] = {
    "Transient": "delayed",
    "DnsError": "delayed",
    "SpamComplaint": "complained",
    "ManuallyDeactivated": "refused",
    "SMTPApiError": "refused",
    "DMARCPolicy": "refused",
    "TemplateRenderingFailed": "refused",
}
_PERMANENT = frozenset({"HardBounce", "BadEmailAddress"})
_ARRIVED = frozenset({"AutoResponder", "AddressChange", "ChallengeVerification", "Subscribe", "Unsubscribe"})


def parse(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipt in a request that Postmark has posted; none for an event that says nothing of delivery.

    Postmark signs nothing. `secrets`: what it was told to send for HTTP basic authentication, as `user:password`; old
    and new while you change them. There is no signed time either, so a request is never too old. Raises
    UnverifiedReceipt, and InvalidInput for a body that cannot be read.
    """
    check_authorization(PROVIDER, headers, secrets)
    posted = document(PROVIDER, body)
    kind = str(within(posted, "Type"))
    event = _RECORDS.get(str(within(posted, "RecordType")))
    if event is None or (event == "bounced" and kind in _ARRIVED):
        return []
    if event == "bounced":
        event = _BOUNCES.get(kind, event)
    number = text(within(posted, "ID"))
    instants = (iso(within(posted, name)) for name in ("DeliveredAt", "BouncedAt"))
    receipt = Receipt(
        provider=PROVIDER,
        id=f"bounce-{number}" if number else digest(body.decode("utf-8", "replace")),
        event=event,
        at=next(filter(None, instants), now),
        provider_id=text(within(posted, "MessageID")),
        reference=text(within(posted, "Metadata", METADATA)),
        address=text(within(posted, "Email")) or text(within(posted, "Recipient")),
        permanent=event == "bounced" and kind in _PERMANENT,
        detail=text(within(posted, "Details")) or text(within(posted, "Description")) or "",
    )
    return [receipt]
