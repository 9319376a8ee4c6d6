"""What becomes of a notification whose worker vanished, whose use ran out, or whose attempt nobody can vouch for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from .deciding import key_protects
from .lifecycle import CLOSED, Event, State
from .notification import Attempt, Move, Notification, move
from .policy import ChannelPolicy, Kind

SPREAD = timedelta(seconds=2)
LOOK_AGAIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Something learned about one attempt after it was settled. `says` is about that attempt alone."""

    notification_id: int
    number: int
    at: datetime
    source: Literal["late_report", "lookup", "receipt", "person"]
    says: Literal["accepted", "not_accepted", "rejected", "unknown"]
    provider_id: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Doubt:
    """An attempt nobody can vouch for. `reported`: its worker has said how it ended for it; otherwise it may still be
    about to send."""

    notification_id: int
    number: int
    begun_at: datetime
    reported: bool
    provider_id: str | None = None


def looked_up(
    doubt: Doubt, says: Literal["accepted", "absent", "unknown"], provider_id: str | None, detail: str, now: datetime
) -> Evidence:
    """Return what a provider's answer about an attempt is worth. That it has not seen the message proves something only
    where no worker can still send it."""
    if says == "accepted":
        return Evidence(doubt.notification_id, doubt.number, now, "lookup", "accepted", provider_id, detail or None)
    if says == "absent" and doubt.reported:
        return Evidence(doubt.notification_id, doubt.number, now, "lookup", "not_accepted", None, detail or None)
    if says == "absent":
        detail = "the provider has not seen it, but its worker never reported and may still send it"
    return Evidence(doubt.notification_id, doubt.number, now, "lookup", "unknown", None, detail or None)


def lose(n: Notification, attempts: int, now: datetime, by: str, quiet: timedelta) -> Move:
    """Return the move of a lease that ran out. `attempts` is the kind's budget.

    Nothing was sent from `claimed`, so again is safe; but a row whose worker died is next claimed alone, and only
    losses suffered alone use up attempts: one notification that kills workers must not take its neighbours along.
    From `sending` an attempt is left in doubt, and its ledger entry says that nobody reported.
    """
    if n.state is State.SENDING:
        lost = Attempt(
            n.id, n.number, n.channel, n.begun_at or now, now, n.holder or "", "lost", "its worker never reported"
        )
        used = n.budget_used + 1
        why = "the worker vanished between intent and outcome"
        attention = now + quiet
        return move(
            n,
            Event.LOSE,
            now,
            by,
            reason=why,
            doubt=n.doubt + 1,
            budget_used=used,
            attention_at=attention,
            attempt=lost,
        )
    used = n.budget_used + n.alone
    if used >= attempts:
        reason = "each worker that claimed it, alone, died before anything was sent"
        return move(n, Event.EXHAUST, now, by, reason=reason, budget_used=used)
    wake_at = now + SPREAD * ((n.id * 7919 % 1000) / 1000)
    reason = "the worker vanished before anything was sent"
    return move(n, Event.LOSE, now, by, reason=reason, wake_at=wake_at, alone=True, budget_used=used)


def expire(n: Notification, now: datetime, by: str) -> Move:
    """Return the move of a notification that is worth nothing any more, before its turn came."""
    until = n.expires_at.isoformat() if n.expires_at else "its time"
    return move(n, Event.EXPIRE, now, by, reason=f"expired: worth nothing after {until}")


def is_early(n: Notification, evidence: Sequence[Evidence], now: datetime) -> bool:
    """Say whether some of this evidence proves nothing yet: a provider that has not seen a message may still see it.
    Only the worker that held the attempt knows at once that it was not sent."""
    quiet = n.attention_at is not None and n.attention_at > now
    return quiet and any(item.says == "not_accepted" and item.source != "late_report" for item in evidence)


def reconcile(
    n: Notification,
    evidence: Sequence[Evidence],
    kind: Kind | None,
    channel: ChannelPolicy | None,
    now: datetime,
    by: str,
) -> Move | datetime:
    """Return the way out of uncertainty that evidence or the kind's stated policy allows, or when to look again.

    Evidence counts for the attempt it is about; one acceptance settles the matter, and only when every doubtful
    attempt is known not to have been accepted is the notification known to be unsent.
    """
    resolved = {item.number for item in evidence if item.says != "unknown"}
    left = max(0, n.doubt - len(resolved))
    if n.state not in CLOSED:
        for item in evidence:
            if item.says == "accepted":
                reason = f"{item.source.replace('_', ' ')}: attempt {item.number} was accepted"
                changes = {"basis": "evidence", "provider_id": item.provider_id, "doubt": left}
                return move(n, Event.CONFIRM, now, by, reason=reason, **changes)
    if n.state is not State.UNCERTAIN:
        return now + LOOK_AGAIN
    if resolved and not left and not is_early(n, evidence, now):
        return _absent(n, evidence, kind, now, by)
    if kind is None or channel is None or (n.attention_at is not None and n.attention_at > now):
        return now + LOOK_AGAIN
    if n.wanted is not None or n.cancel_request is not None:
        return now + LOOK_AGAIN
    if kind.on_uncertain == "assume_sent":
        return move(n, Event.ASSUME, now, by, basis="assumed", reason="the kind's policy assumes it was sent")
    if kind.on_uncertain == "resend" and key_protects(n, channel, now) and n.budget_used < kind.retry.attempts:
        reason = "the provider still recognises a repeat by its idempotency key"
        return move(n, Event.REPEAT, now, by, reason=reason, wake_at=now, permit="key")
    return now + LOOK_AGAIN


def _absent(n: Notification, evidence: Sequence[Evidence], kind: Kind | None, now: datetime, by: str) -> Move:
    if n.wanted is not None or any(item.says == "rejected" for item in evidence) or kind is None:
        reason = "evidence says that no attempt was accepted" + (f"; {n.reason}" if n.reason else "")
        return move(n, Event.DISPROVE, now, by, reason=reason, doubt=0)
    if n.budget_used >= kind.retry.attempts:
        return move(n, Event.DISPROVE, now, by, reason="not accepted, and its attempts are used up", doubt=0)
    reason = "evidence says that no attempt was accepted"
    return move(n, Event.REPEAT, now, by, reason=reason, wake_at=now, doubt=0)
