"""What Amazon SES posts back, through Amazon SNS.

https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...domain.receipt import Receipt, ReceiptEvent
from ..http.receiving import digest, document, iso, text, within
from ..http.tag import from_tag
from .channel import TAG
from .sns import PROVIDER, certificate_url, verify

__all__ = ["certificate_url", "parse"]

_EVENTS: dict[str, tuple[ReceiptEvent, str]] = {
    "Delivery": ("delivered", "delivery"),
    "Bounce": ("bounced", "bounce"),
    "Complaint": ("complained", "complaint"),
    "DeliveryDelay": ("delayed", "deliveryDelay"),
    "Reject": ("refused", "reject"),
    "Rendering Failure": ("refused", "failure"),
}


def parse(body: bytes, topics: Sequence[str], certificate: bytes, now: datetime) -> list[Receipt]:
    """Return the receipt in a message that SNS has posted; none for one that says nothing of delivery, which a
    SubscriptionConfirmation is.

    `topics`: the ARNs of the topics that are yours. `certificate`: what is found at `certificate_url(body)`, in PEM
    form; fetching it is yours, as nothing here uses the network. Raises UnverifiedReceipt, InvalidInput for a body or
    certificate that cannot be read, and MissingExtra without cryptography.
    """
    posted = document(PROVIDER, body)
    verify(posted, topics, certificate, now)
    if within(posted, "Type") != "Notification":
        return []
    told = document(PROVIDER, str(within(posted, "Message")).encode())
    # The second name is that of notifications without event publishing.
    found = _EVENTS.get(str(within(told, "eventType") or within(told, "notificationType")))
    return [] if found is None else [_receipt(posted, told, *found, now)]


def _receipt(posted: object, told: object, event: ReceiptEvent, name: str, now: datetime) -> Receipt:
    mail, about = within(told, "mail"), within(told, name)
    bounced = within(about, "bouncedRecipients", 0)
    return Receipt(
        provider=PROVIDER,
        id=text(within(posted, "MessageId")) or digest(str(told)),
        event=event,
        at=iso(within(about, "timestamp")) or iso(within(posted, "Timestamp")) or now,
        provider_id=text(within(mail, "messageId")),
        reference=from_tag(text(within(mail, "tags", TAG, 0))),
        address=text(within(mail, "destination", 0)),
        permanent=event == "bounced" and within(about, "bounceType") == "Permanent",
        detail=text(within(bounced, "diagnosticCode"))
        or text(within(about, "reason"))
        or text(within(about, "errorMessage"))
        or text(within(about, "delayType"))
        or "",
    )
