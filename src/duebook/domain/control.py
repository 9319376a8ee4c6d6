"""What steers the workers: pauses, throttles and modes, each about a scope."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from ..errors import InvalidInput
from .policy import Mode, checked_name

EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Control:
    """One row of the controls. `paused_at`: a person paused it; `paused_until`: its provider throttles
    it, or its breaker is open. `probing_until`: that is over, and one send tries it out."""

    scope: str
    paused_at: datetime | None
    paused_until: datetime | None
    mode: Mode | None
    reason: str | None
    by: str
    at: datetime
    probing_until: datetime | None = None

    def throttle(self, now: datetime) -> Literal["open", "probing", "waiting"] | None:
        """Return how a throttled channel stands: "open" while it rests; then it waits for one send that tries it out,
        or that send is under way; None while it is not throttled."""
        if self.paused_until is None:
            return None
        if self.paused_until > now:
            return "open"
        return "probing" if self.probing_until is not None and self.probing_until > now else "waiting"


def scope(*, channel: str | None = None, kind: str | None = None) -> str:
    """Return the name of the scope of a channel, a kind, or everything."""
    if channel is not None and kind is None:
        return f"channel:{checked_name('channel', channel)}"
    if kind is not None and channel is None:
        return f"kind:{checked_name('kind', kind)}"
    if kind is None and channel is None:
        return EVERYTHING
    raise InvalidInput("kind", "name a channel or a kind, not both")
