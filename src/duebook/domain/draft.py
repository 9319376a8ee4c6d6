"""A notification not yet stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .policy import Priority
from .walltime import Promise


@dataclass(frozen=True, slots=True)
class Draft:
    """What schedule hands to the store. `data` is JSON text; `wake_at` is when to look at it first."""

    kind: str
    key: str
    recipient: str
    tenant: str | None
    namespace: str
    channel: str
    priority: Priority
    group: str | None
    data: str
    promise: Promise
    expires_at: datetime | None
    wake_at: datetime
    created_at: datetime
