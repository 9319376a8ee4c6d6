"""How patient the engine is. The inequalities between these numbers are promises; they are checked when made."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ..domain.policy import LONGEST_SEND_SECONDS, ChannelPolicy
from ..errors import UnsafeSetting


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """`lease_seconds`: how long a worker that says nothing keeps what it holds. `grace_seconds`: how much longer the
    rescuer waits, so that a long lock wait does not look like a death. `poll_seconds`: how often an idle worker looks.
    `sweep_seconds`: how often a lane looks from the start of its index, for rows that became visible late.
    """

    lease_seconds: float = 15.0
    grace_seconds: float = 5.0
    poll_seconds: float = 1.0
    sweep_seconds: float = 10.0
    batch: int = 500

    def __post_init__(self) -> None:
        for name in ("lease_seconds", "grace_seconds", "poll_seconds", "sweep_seconds"):
            if not 0 < getattr(self, name) < 86_400:
                raise UnsafeSetting(f"{name} must be a positive number of seconds, less than a day")
        if self.lease_seconds < 3 * self.poll_seconds:
            raise UnsafeSetting("lease_seconds must be at least three times poll_seconds, or leases end between looks")
        if self.grace_seconds < self.poll_seconds:
            raise UnsafeSetting("grace_seconds must be at least poll_seconds")
        if not 1 <= self.batch <= 10_000:
            raise UnsafeSetting("batch must be between 1 and 10000")

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def third(self) -> float:
        """A third of a lease: how often leases are extended, and how long an unbegun notification is held."""
        return self.lease_seconds / 3

    def quiet(self, channel: ChannelPolicy | None) -> timedelta:
        """How long after an uncertain end a message may still be on its way: lease, grace and the longest send;
        of a channel that is not registered here, the longest any may take."""
        longest = channel.send_seconds if channel else LONGEST_SEND_SECONDS
        return timedelta(seconds=self.lease_seconds + self.grace_seconds + longest)
