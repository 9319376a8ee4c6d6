"""A recipient's attention: at most so many messages of some kinds within a length of time; the others wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from .decision import Defer
from .notification import Intent, Taking
from .policy import AttentionLimit


@dataclass(frozen=True, slots=True)
class Attention:
    """What has reached a recipient, or may have, within a limit's time, the newest first. `version`: raised by whatever
    takes more."""

    limit: AttentionLimit
    version: int
    taken: Sequence[datetime]


def taken(intent: Intent, attention: Attention) -> Intent:
    """Return an intent that takes its recipient's attention when it begins."""
    recipient = intent.notification.recipient
    return intent._replace(taking=Taking(attention.limit.name, recipient, attention.version))


def foregone(attention: Attention) -> Defer | None:
    """Return the deferral of a notification whose recipient has had enough for now, until the next one is free."""
    limit = attention.limit
    if len(attention.taken) < limit.most:
        return None
    until = attention.taken[limit.most - 1] + limit.per
    return Defer(f"{limit.most} messages under the limit {limit.name!r} within {limit.per} are enough", until=until)
