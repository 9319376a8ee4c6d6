"""What Brevo posts back.

https://developers.brevo.com/docs/transactional-webhooks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from ...domain.identity import referred_id
from ...domain.receipt import Receipt, ReceiptEvent
from ..http.receiving import check_authorization, digest, document, epoch, text, within

PROVIDER = "brevo"

_EVENTS: dict[str, ReceiptEvent] = {
    "delivered": "delivered",
    "hard_bounce": "bounced",
    "soft_bounce": "bounced",
    "invalid_email": "bounced",
    "spam": "complained",
    "deferred": "delayed",
    "blocked": "refused",
    "error": "refused",
}
_PERMANENT = frozenset({"hard_bounce", "invalid_email"})


def parse(headers: Mapping[str, str], body: bytes, secrets: Sequence[str], now: datetime) -> list[Receipt]:
    """Return the receipt in a request that Brevo has posted; none for an event that says nothing of delivery.

    Brevo signs nothing, and the addresses it posts from are no proof. `secrets`: the token of the webhook, or its
    `user:password`; old and new while you change them. There is no signed time either, so a request is never too old.
    Raises UnverifiedReceipt, and InvalidInput for a body that cannot be read.
    """
    check_authorization(PROVIDER, headers, secrets)
    posted = document(PROVIDER, body)
    name = str(within(posted, "event"))
    event = _EVENTS.get(name)
    if event is None:
        return []
    message = text(within(posted, "message-id")) or ""
    instant, address = text(within(posted, "ts_event")), text(within(posted, "email"))
    receipt = Receipt(
        provider=PROVIDER,
        id=digest(name, message, address or "", instant or ""),
        event=event,
        at=epoch(instant) or now,
        provider_id=message.strip("<>") or None,
        reference=_reference(within(posted, "tags")),
        address=address,
        permanent=name in _PERMANENT,
        detail=text(within(posted, "reason")) or "",
    )
    return [receipt]


def _reference(tags: object) -> str | None:
    found = tags if isinstance(tags, list) else []
    return next((tag for tag in found if isinstance(tag, str) and referred_id(tag) is not None), None)
