"""People's wishes, read when a message is about to be made: whether, when and over which channel they want it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta

from . import zones
from .control import EVERYTHING
from .decision import Defer, Elsewhere, Skip
from .notification import Notification
from .policy import Kind, Priority
from .walltime import readings

OPTED_OUT = "opted out of "
QUIET = "quiet hours"
"""How reasons begin that are somebody's wish."""

_A_DAY = timedelta(days=1)
_A_MINUTE = timedelta(minutes=1)
_LONGEST_GAP_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class QuietHours:
    """From one time of day to another, over midnight if that comes first; in the person's zone."""

    start: time
    end: time

    def hold(self, at: time) -> bool:
        """Say whether a time of day is quiet."""
        if self.start <= self.end:
            return self.start <= at < self.end
        return at >= self.start or at < self.end


@dataclass(frozen=True, slots=True)
class Person:
    """What is known about a recipient. `addresses`: by channel. `preferred`: the channel they would rather have.
    `opted_out`: scopes they want nothing of. `changed_at`: when it was noted; an opt-out does not count."""

    recipient: str
    zone: str | None = None
    locale: str | None = None
    addresses: Mapping[str, str] = field(default_factory=dict)
    preferred: str | None = None
    quiet: QuietHours | None = None
    opted_out: Sequence[str] = ()
    changed_at: datetime | None = None

    def wants_nothing_over(self, channel: str) -> bool:
        """Say whether they have opted out of a channel."""
        return f"channel:{channel}" in self.opted_out


def foregone(n: Notification, person: Person, kind: Kind, now: datetime) -> Skip | Defer | Elsewhere | None:
    """Return the decision that a person's wishes make before anybody is asked for the message.

    An essential kind is sent whatever they opted out of and at any hour; an urgent one at any hour.
    """
    if not kind.essential:
        for scope in (EVERYTHING, f"kind:{kind.name}"):
            if scope in person.opted_out:
                return Skip(f"{OPTED_OUT}{scope.replace(':', ' ')}")
    channel = _channel(n, person, kind)
    if channel is None:
        return Skip(f"{OPTED_OUT}channel {n.channel}")
    if channel != n.channel and not n.doubt:
        return Elsewhere(channel, "its recipient is reached there")
    if not kind.essential and kind.priority is not Priority.URGENT:
        until = quiet_until(person, now)
        if until is not None:
            return Defer(QUIET, until=until)
    return None


def _channel(n: Notification, person: Person, kind: Kind) -> str | None:
    """Return the channel a person is reached over, of those the kind can use, or None if they want none of them."""
    able = [n.channel, *(channel for channel in kind.able if channel != n.channel)]
    wanted = able if kind.essential else [one for one in able if not person.wants_nothing_over(one)]
    if person.preferred in wanted:
        return person.preferred
    return wanted[0] if wanted else None


def quiet_until(person: Person, now: datetime) -> datetime | None:
    """Return when a person's quiet hours end, if they hold now. On the night a clock goes forward over the end they end
    with the gap; on the night it goes back they hold in both readings."""
    if person.quiet is None or person.zone is None:
        return None
    tz = zones.zone(person.zone)
    local = now.astimezone(tz)
    if not person.quiet.hold(local.time()):
        return None
    days = (local.date(), local.date() + _A_DAY)
    ends = [at for day in days for at in readings(datetime.combine(day, person.quiet.end), tz) if at > now]
    end = min(ends).astimezone(UTC)
    for _ in range(_LONGEST_GAP_MINUTES):
        before = end - _A_MINUTE
        if before <= now or person.quiet.hold(before.astimezone(tz).time()):
            break
        end = before
    return end
