"""From what a channel answered to the move it makes: everything after the wire."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Literal

from .lifecycle import Event
from .message import fingerprint
from .notification import Attempt, Intent, Move, move, patient_from
from .outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain, safe
from .policy import ChannelPolicy, Copy, Kind
from .retry import WISH_CEILING

Name = Literal["accepted", "rejected", "retry", "throttled", "uncertain", "lost"]

_NAMES: dict[type[Outcome], Name] = {
    Accepted: "accepted",
    Rejected: "rejected",
    Retry: "retry",
    Throttled: "throttled",
    Uncertain: "uncertain",
}


def settle(
    intent: Intent, outcome: Outcome, kind: Kind, channel: ChannelPolicy, now: datetime, jitter: float, quiet: timedelta
) -> Move:
    """Return the move of a finished attempt, with its ledger entry.

    `jitter`: a draw from 0 to 1. `quiet`: how long after an uncertain end nobody acts on it, because the message
    may still be on its way.
    """
    outcome = safe(outcome)
    attempt = _attempt(intent, outcome, kind.keep_copy, now)
    common: dict[str, Any] = {"attempt": attempt, "reason": attempt.reason}
    match outcome:
        case Accepted(provider_id):
            changes = {"basis": "reported", "provider_id": provider_id, **common}
            return move(intent, Event.ACCEPT, now, intent.holder, discard=kind.keep_copy != "full", **changes)
        case Rejected():
            return move(intent, Event.REJECT, now, intent.holder, **common)
        case Retry(_, after):
            used = intent.notification.budget_used + 1
            wake_at = now + kind.retry.delay(used, jitter, after)
            return _again(intent, Event.RETRY, kind, now, wake_at, used, common)
        case Throttled():
            until = throttled_until(outcome, channel, now)
            used = intent.notification.budget_used
            return _again(intent, Event.THROTTLE, kind, now, until, used, common)
        case Uncertain():
            changes = {"doubt": intent.doubt + 1, "budget_used": intent.notification.budget_used + 1, **common}
            return move(intent, Event.TIME_OUT, now, intent.holder, attention_at=now + quiet, **changes)


def _again(
    intent: Intent, event: Event, kind: Kind, now: datetime, wake_at: datetime, used: int, common: dict[str, Any]
) -> Move:
    since = patient_from(intent.notification, intent.at)
    if used >= kind.retry.attempts or now - since >= kind.retry.age:
        return move(intent, Event.EXHAUST, now, intent.holder, budget_used=used, **common)
    return move(intent, event, now, intent.holder, wake_at=wake_at, budget_used=used, age_from=since, **common)


def throttled_until(outcome: Throttled, channel: ChannelPolicy, now: datetime) -> datetime:
    """Return until when a throttled channel rests: what the provider asked for, within reason, or the channel's own."""
    if outcome.until is None or outcome.until <= now:
        return now + channel.pause
    return min(outcome.until, now + WISH_CEILING)


def _attempt(intent: Intent, outcome: Outcome, keep: Copy, now: datetime) -> Attempt:
    reason = getattr(outcome, "reason", None)
    return Attempt(
        notification_id=intent.id,
        number=intent.number,
        channel=intent.notification.channel,
        begun_at=intent.at,
        ended_at=now,
        holder=intent.holder,
        outcome=_NAMES[type(outcome)],
        reason=reason or None,
        phase=outcome.phase or None if isinstance(outcome, Uncertain) else None,
        provider_id=outcome.provider_id if isinstance(outcome, Accepted) else None,
        message_hash=None if keep == "none" else fingerprint(intent.message),
    )
