"""What a provider says later about a message it was given: evidence about one attempt, and about an address.

Accepted is not delivered, and delivered is not read. A receipt about a message proves that the provider took it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from .control import EVERYTHING
from .identity import idempotency_key, reference
from .notification import IN_DOUBT
from .recovery import Evidence

_OPEN = IN_DOUBT | {None}

ReceiptEvent = Literal["delivered", "bounced", "complained", "delayed", "refused"]
"""`bounced`: the receiving side refused it after all. `complained`: its reader reported it as unwanted. `delayed`: the
provider is still trying. `refused`: the provider took the message and then decided not to send it."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One event. `id`: the provider's name for it, or a digest of it, so that the same news twice is one.

    `provider_id`: its name for the message. `reference`: ours, where the message carried it as metadata (see
    SendContext). `permanent`: of a bounce, that the address will never take mail. `address`: whom it is about.
    """

    provider: str
    id: str
    event: ReceiptEvent
    at: datetime
    provider_id: str | None = None
    reference: str | None = None
    address: str | None = None
    permanent: bool = False
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Referred:
    """An attempt that receipts may be about. `outcome`: how it ended; None while it is on the wire."""

    notification_id: int
    number: int
    begun_at: datetime
    provider_id: str | None
    channel: str
    outcome: str | None
    namespace: str
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Suppression:
    """An address that is written to no more over a channel. `scope`: a kind, or everything."""

    channel: str
    address: str
    scope: str
    reason: str


@dataclass(frozen=True, slots=True)
class SuppressionRecord:
    """A suppression on record: since when, and by whom."""

    suppression: Suppression
    at: datetime
    by: str


def matched(receipt: Receipt, attempts: Sequence[Referred]) -> Referred | None:
    """Return the attempt a receipt is about: the one whose provider gave this name, or else the last one of the
    notification it refers to that had begun by then."""
    named = [one for one in attempts if one.provider_id is not None and one.provider_id == receipt.provider_id]
    if named:
        return named[-1]
    referred = [one for one in attempts if receipt.reference is not None and _refers(receipt.reference, one)]
    begun = [one for one in referred if one.begun_at <= receipt.at]
    last = begun or referred
    return last[-1] if last else None


def _refers(said: str, attempt: Referred) -> bool:
    key = idempotency_key(attempt.namespace, attempt.kind, attempt.key)
    return said == reference(attempt.notification_id, key)


def evidence(receipt: Receipt, attempt: Referred, now: datetime) -> Evidence | None:
    """Return what a receipt proves about an attempt nobody could vouch for: whatever became of the message, the
    provider had taken it, unless it says that it then refused it."""
    if attempt.outcome not in _OPEN:
        return None
    says: Literal["accepted", "rejected"] = "rejected" if receipt.event == "refused" else "accepted"
    detail = f"{receipt.provider} says {receipt.event}"
    return Evidence(attempt.notification_id, attempt.number, now, "receipt", says, receipt.provider_id, detail)


def suppression(receipt: Receipt, attempt: Referred) -> Suppression | None:
    """Return what a receipt means for an address: one that takes no mail is written to no more, and a reader who
    complained is spared this kind."""
    if receipt.address is None:
        return None
    address = receipt.address.lower()
    if receipt.event == "bounced" and receipt.permanent:
        reason = f"it bounced for good: {receipt.detail}".rstrip(": ")
        return Suppression(attempt.channel, address, EVERYTHING, reason)
    if receipt.event == "complained":
        return Suppression(attempt.channel, address, attempt.kind, f"its reader complained about {attempt.kind}")
    return None
