"""One attempt, from an intent on record to what the channel answers."""

from __future__ import annotations

from datetime import datetime

from ..domain.identity import idempotency_key, message_id, reference
from ..domain.message import Message
from ..domain.notification import Intent
from ..domain.outcome import Outcome, Retry
from ..domain.policy import ChannelPolicy
from ..ports import Channel, Clock, SendContext

TOO_LATE = Retry("its lease ran out before anything was sent")


def context_of(intent: Intent, policy: ChannelPolicy, message_domain: str, now: datetime) -> SendContext:
    """Return what the channel is told beside the message; all but the present and the number is the same every time."""
    n = intent.notification
    key = idempotency_key(n.namespace, n.kind, n.key)
    return SendContext(
        kind=n.kind,
        key=n.key,
        recipient=n.recipient,
        number=intent.number,
        idempotency_key=key,
        message_id=message_id(key, message_domain),
        now=now,
        deadline_seconds=policy.send_seconds,
        rendered_at=intent.rendered_at,
        reference=reference(intent.id, key),
    )


async def attempt(channel: Channel, message: Message, context: SendContext, clock: Clock, until: float) -> Outcome:
    """Make the attempt, unless this process stood still until its lease was over: one look more before the wire."""
    if clock.monotonic() >= until:
        return TOO_LATE
    return await channel.send(message, context)
