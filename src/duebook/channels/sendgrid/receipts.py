"""What SendGrid posts back.

https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec

from ...domain.receipt import Receipt, ReceiptEvent
from ...errors import InvalidInput, MissingExtra, UnverifiedReceipt
from ..http.receiving import check_age, checked_secrets, digest, document, epoch, header, text, within
from .channel import ARGUMENT

PROVIDER = "sendgrid"
OLDEST = timedelta(hours=24)
"""So long SendGrid posts an event again that was not answered, and it does not say that it signs it anew."""

_EVENTS: dict[str, ReceiptEvent] = {
    "delivered": "delivered",
    "bounce": "bounced",
    "spamreport": "complained",
    "deferred": "delayed",
    "dropped": "refused",
}


def parse(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipts in a request of SendGrid's signed event webhook; events that say nothing of delivery are
    left out.

    `secrets`: the verification keys that SendGrid shows, which are public; old and new while you change them. Raises
    UnverifiedReceipt, InvalidInput for a body or key that cannot be read, and MissingExtra without cryptography.
    """
    _verify(headers, body, secrets, now)
    posted = document(PROVIDER, body)
    if not isinstance(posted, list):
        raise InvalidInput("body", "must be a list of events")
    known = [(told, _EVENTS.get(str(within(told, "event")))) for told in posted]
    return [_receipt(told, event, now) for told, event in known if event is not None]


def _receipt(posted: object, event: ReceiptEvent, now: datetime) -> Receipt:
    message = text(within(posted, "sg_message_id")) or ""
    return Receipt(
        provider=PROVIDER,
        id=text(within(posted, "sg_event_id")) or digest(str(posted)),
        event=event,
        at=epoch(within(posted, "timestamp")) or now,
        # The answer to the send held only what stands before the first dot.
        provider_id=message.partition(".")[0] or None,
        reference=text(within(posted, ARGUMENT)),
        address=text(within(posted, "email")),
        # A bounce of type "blocked" is one that may be taken another time.
        permanent=event == "bounced" and within(posted, "type") != "blocked",
        detail=text(within(posted, "reason")) or text(within(posted, "response")) or "",
    )


def _verify(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> None:
    """Check a signature as SendGrid's page on the event webhook's security says: ECDSA over time and body.

    https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/getting-started-event-webhook-security-features
    """
    stamp = header(headers, "x-twilio-email-event-webhook-timestamp")
    try:
        signature = base64.b64decode(header(headers, "x-twilio-email-event-webhook-signature"), validate=True)
    except ValueError:
        raise UnverifiedReceipt(PROVIDER, "its signature is not base64") from None
    if not any(_signed(secret, signature, stamp.encode() + body) for secret in checked_secrets(secrets)):
        raise UnverifiedReceipt(PROVIDER, "its signature fits none of the keys")
    check_age(PROVIDER, epoch(stamp), now, OLDEST)


def _signed(key: str, signature: bytes, content: bytes) -> bool:
    if find_spec("cryptography") is None:
        raise MissingExtra("verifying receipts of SendGrid", "receipts")
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        public = load_der_public_key(base64.b64decode(key, validate=True))
    except ValueError:
        raise InvalidInput("secrets", "must be verification keys as SendGrid shows them, in base64") from None
    if not isinstance(public, EllipticCurvePublicKey):
        raise InvalidInput("secrets", "must be keys of an elliptic curve, as SendGrid shows them")
    try:
        public.verify(signature, content, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True
