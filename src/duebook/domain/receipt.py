"""What a provider says later about a message it was given: evidence about one attempt, and about an address.

Accepted is not delivered, and delivered is not read. A receipt about a message proves that the provider took it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

ReceiptEvent = Literal["delivered", "bounced", "complained", "delayed", "refused"]
"""`bounced`: the receiving side refused it after all. `complained`: its reader reported it as unwanted. `delayed`: the
provider is still trying. `refused`: the provider took the message and then decided not to send it."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """One event. `id`: the provider's name for it, or a digest of it, so that the same news twice is one.

    `provider_id`: its name for the message. `reference`: our idempotency key's short form, where the message carried it
    as metadata. `permanent`: of a bounce, that the address will never take mail. `address`: whom it is about.
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
