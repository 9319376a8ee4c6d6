"""Spreading a herd: notifications that a policy makes due at one instant, told apart by who they are for."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

from . import zones
from .policy import Kind
from .walltime import Promise

_STEPS = 2**32


def offset(kind: str, recipient: str, window: timedelta) -> timedelta:
    """Return how long after the herd's instant a recipient has their turn: always the same, somewhere in the window."""
    digest = hashlib.sha256(f"{kind}:{recipient}".encode()).digest()
    seconds = window.total_seconds() * int.from_bytes(digest[:4], "big") / _STEPS
    return timedelta(seconds=int(seconds))


def spread(promise: Promise, zone: str, recipient: str, kind: Kind) -> Promise:
    """Return a promise in its recipient's place in the kind's spread window. What period it is for stays as it was."""
    if kind.spread is None:
        return promise
    due_at = promise.due_at + offset(kind.name, recipient, kind.spread)
    local: datetime = due_at.astimezone(zones.zone(zone))
    rule = "later" if local.fold else "compatible"
    return Promise(due_at, local.replace(tzinfo=None, fold=0).isoformat(), zone, rule, zones.version())
