"""What steers the workers: pauses, throttles and modes, each about a scope."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ..errors import InvalidInput
from .policy import Mode, checked_name

EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Control:
    """One row of the controls. `paused_at`: a person paused it; `paused_until`: its provider throttles it."""

    scope: str
    paused_at: datetime | None
    paused_until: datetime | None
    mode: Mode | None
    reason: str | None
    by: str
    at: datetime


def scope(*, channel: str | None = None, kind: str | None = None) -> str:
    """Return the name of the scope of a channel, a kind, or everything."""
    if channel is not None and kind is None:
        return f"channel:{checked_name('channel', channel)}"
    if kind is not None and channel is None:
        return f"kind:{checked_name('kind', kind)}"
    if kind is None and channel is None:
        return EVERYTHING
    raise InvalidInput("kind", "name a channel or a kind, not both")
