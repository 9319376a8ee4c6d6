"""From a due notification and its handler's answer to a move or a message: everything before the wire.

The order is the order of a round: `precheck` may close it without asking anyone, `judge` reads the handler's
answer, `intend` is the last look before the intent goes on record.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta

from ..errors import InvalidMessage
from . import deadlines, digests, unread
from .deadlines import Deadline
from .decision import Cancel, Decision, Defer, Due, Elsewhere, Reject, Skip
from .digests import Selection
from .lifecycle import Event
from .message import Message, freeze
from .notification import Intent, Move, Notification, move, patient_from
from .people import Person
from .policy import ChannelPolicy, Kind, Mode
from .text import TRACEBACK_CHARACTERS, clean
from .unread import Seen

Facts = Deadline | Seen | Selection
"""What is on record beside a notification, read when it fires."""

DEFERRAL = timedelta(minutes=1)
SMALLEST_DEFERRAL = timedelta(seconds=1)
KEY_WINDOW_MARGIN = timedelta(minutes=1)

MOVED = "moved to channel "
SUPPRESSED = "suppressed: "
"""How reasons begin that people are told more about."""


def precheck(n: Notification, mode: Mode, now: datetime, by: str) -> Move | None:
    """Return the move that makes asking the handler pointless, if there is one."""
    if n.expires_at is not None and n.expires_at <= now:
        return move(n, Event.SKIP, now, by, reason=f"expired: worth nothing after {n.expires_at.isoformat()}")
    if mode == "off":
        return move(n, Event.SKIP, now, by, reason=f"kind {n.kind} is switched off")
    return None


def foregone(n: Notification, facts: Facts | None, now: datetime) -> Decision | None:
    """Return the decision that what is on record makes without the handler, if it does."""
    match facts:
        case Deadline() if (reason := deadlines.overtaken(n, facts)) is not None:
            return Skip(reason)
        case Seen():
            return unread.foregone(n, facts, now)
        case Selection() if not facts.items:
            return Skip("what it held is gone: erased, or in a later one")
        case Selection() if facts.read == len(facts.items):
            return Skip("everything in it has been read")
    return None


def due(n: Notification, facts: Facts | None, now: datetime, person: Person | None = None) -> Due:
    """Return what the handler is given."""
    wall = datetime.fromisoformat(n.wall) if n.wall else None
    data = json.loads(facts.data if isinstance(facts, Deadline) else n.data)
    plain = Due(
        n.kind, n.key, n.recipient, data, n.due_at, now, n.number + 1, n.tenant, wall, n.zone, n.doubt > 0,
        channel=n.channel, person=person,
    )  # fmt: skip
    match facts:
        case Deadline():
            return replace(plain, step=deadlines.step(n, facts))
        case Seen():
            return replace(plain, unread=unread.unread(facts))
        case Selection():
            return replace(plain, digest=digests.digest(facts))
    return plain


def judge(n: Notification, decision: Decision, kind: Kind, mode: Mode, now: datetime, by: str) -> Move | Message:
    """Return the move a decision makes, or the message it wants sent over this notification's channel."""
    match decision:
        case Message():
            # What is in doubt is repeated where it was sent: another provider never saw its key.
            if decision.channel is not None and decision.channel != n.channel and not n.doubt:
                reason = f"{MOVED}{decision.channel}"
                return move(n, Event.DEFER, now, by, wake_at=now, reason=reason, channel=decision.channel)
            if mode == "shadow":
                return move(n, Event.SKIP, now, by, reason="shadow: it would have been sent", message=freeze(decision))
            return decision
        case Elsewhere(channel, reason) if channel != n.channel and not n.doubt:
            return move(n, Event.DEFER, now, by, wake_at=now, reason=f"{MOVED}{channel}: {reason}", channel=channel)
        case Skip(reason) | Cancel(reason) | Reject(reason) | Defer(reason) if not _is_said(reason):
            raise TypeError(f"the handler of {n.kind} answered {type(decision).__name__} without a reason")
        case Skip(reason):
            return move(n, Event.SKIP, now, by, reason=reason)
        case Defer():
            return _defer(n, decision, kind, now, by)
        case Cancel(reason):
            return move(n, Event.CANCEL, now, by, reason=reason)
        case Reject(reason):
            return move(n, Event.REJECT, now, by, reason=reason)
        case _:
            raise TypeError(f"the handler of {n.kind} answered {type(decision).__name__}, which is no decision")


def _defer(n: Notification, decision: Defer, kind: Kind, now: datetime, by: str) -> Move:
    used = n.budget_used + decision.uses_attempt
    if used >= kind.retry.attempts:
        return move(n, Event.EXHAUST, now, by, reason=f"attempts used up: {decision.reason}", budget_used=used)
    since = patient_from(n, now)
    if now - since >= kind.patience:
        return move(n, Event.EXHAUST, now, by, reason=f"deferred for {kind.patience} and more: {decision.reason}")
    until = max(decision.until or now + DEFERRAL, now + SMALLEST_DEFERRAL)
    until = min(until, since + kind.patience + SMALLEST_DEFERRAL)
    return move(n, Event.DEFER, now, by, wake_at=until, reason=decision.reason, budget_used=used, age_from=since)


def failed(
    n: Notification, error: BaseException, detail: str, kind: Kind, now: datetime, by: str, jitter: float
) -> Move:
    """Return the move of a handler that raised, answered nonsense or overran its time: an attempt used, or review."""
    if isinstance(error, InvalidMessage):
        return move(n, Event.REJECT, now, by, reason=f"the handler made a message that can never be sent: {error}")
    used = n.budget_used + 1
    reason = clean(detail, TRACEBACK_CHARACTERS)
    since = patient_from(n, now)
    if used >= kind.retry.attempts or now - since >= kind.retry.age:
        return move(n, Event.EXHAUST, now, by, reason=reason, budget_used=used)
    wake_at = now + kind.retry.delay(used, jitter)
    return move(n, Event.DEFER, now, by, wake_at=wake_at, reason=reason, budget_used=used, age_from=since)


def suppressed(n: Notification, why: str, now: datetime, by: str) -> Move:
    """Return the move of a message whose address is written to no more."""
    return move(n, Event.SKIP, now, by, reason=f"{SUPPRESSED}{why}")


def give_back(n: Notification, now: datetime, by: str, reason: str) -> Move:
    """Return the move that hands an unbegun notification back, unused."""
    return move(n, Event.DEFER, now, by, wake_at=now, reason=reason)


def intend(
    n: Notification, facts: Facts | None, message: Message, channel: ChannelPolicy, now: datetime, by: str
) -> Intent | Move:
    """Return the intent to put on record, or the move to `uncertain` where a repeat is no longer lawful.

    While an attempt is in doubt the stored bytes go out again, never the message just made; and what those cover is
    on record already, so that the covering of a repeat is no more than a fence.
    """
    cover = unread.covering(n, facts) if isinstance(facts, Seen) else None
    if not n.doubt or n.message is None or n.rendered_at is None:
        return Intent(
            n, n.id, n.version + 1, n.number + 1, now, freeze(message), now, now, by, 0, cover,
            address=_address(message),
        )  # fmt: skip
    first = n.first_begun_at or now
    if not may_repeat(n, channel, now):
        reason = "it may have been sent, and the time in which the provider would notice a repeat is over"
        return move(n, Event.DOUBT, now, by, reason=reason)
    return Intent(n, n.id, n.version + 1, n.number + 1, now, n.message, n.rendered_at, first, by, n.doubt, cover)


def _address(message: Message) -> str | None:
    """Return where a message goes, as suppressions name it."""
    to = getattr(message, "to", None)
    return to.lower() if isinstance(to, str) else None


def may_repeat(n: Notification, channel: ChannelPolicy, now: datetime) -> bool:
    """Say whether a message in doubt may go out again at this moment."""
    return key_protects(n, channel, now) if n.permit == "key" else n.permit is not None


def key_protects(n: Notification, channel: ChannelPolicy, now: datetime) -> bool:
    """Say whether the provider would still recognise a repeat by its idempotency key."""
    if channel.key_window is None or n.first_begun_at is None:
        return False
    return now < n.first_begun_at + channel.key_window - KEY_WINDOW_MARGIN


def _is_said(reason: object) -> bool:
    return isinstance(reason, str) and bool(reason)
