"""What newer zone rules mean for a local promise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from . import zones
from .lifecycle import Event
from .notification import Move, Notification, move
from .walltime import Disambiguation, Promise, resolve


@dataclass(frozen=True, slots=True)
class Retimed:
    """A promise that newer rules put at another instant, and the move that keeps its wall time."""

    kind: str
    key: str
    wall: str
    zone: str
    was: datetime
    due_at: datetime
    move: Move


def retimed(n: Notification, now: datetime, by: str) -> Retimed | None:
    """Return how a local promise moves under the zone rules in use, or None where its instant is the same.

    What is worth nothing after an instant moves along with it. A look that was put off to another time stays there.
    """
    assert n.wall is not None
    assert n.zone is not None
    rule = cast("Disambiguation", n.rule or "compatible")
    due_at = resolve(datetime.fromisoformat(n.wall), n.zone, "compatible" if rule == "raise" else rule)
    if due_at == n.due_at:
        return None
    by_rules = f"zone rules {zones.version()}: {n.wall} in {n.zone} is {due_at:%Y-%m-%d %H:%M} UTC"
    promise = Promise(due_at, n.wall, n.zone, rule, zones.version())
    expires_at = None if n.expires_at is None else n.expires_at + (due_at - n.due_at)
    wake_at = max(due_at, now) if n.wake_at == n.due_at else n.wake_at
    made = move(
        n, Event.RESCHEDULE, now, by, reason=by_rules, wake_at=wake_at, promise=promise, expires_at=expires_at
    )  # fmt: skip
    return Retimed(n.kind, n.key, n.wall, n.zone, n.due_at, due_at, made)
