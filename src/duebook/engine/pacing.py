"""How hard a lane drives its channel: fewer at a time when the provider wants less, more again while it takes them.

Halved by every throttle and one more after as many good sends as may be on the wire, never over what the channel
declares (RFC 5681's additive increase, multiplicative decrease). Sends that fail in a row open the breaker: the channel
pauses, so that an outage of its provider uses up nobody's attempts; the pause doubles while it lasts.
"""

from __future__ import annotations

from datetime import timedelta

from ..domain.policy import ChannelPolicy

LONGEST_PAUSE = timedelta(minutes=5)


class Pacing:
    """`size`: how many sends may be on the wire now."""

    def __init__(self, policy: ChannelPolicy) -> None:
        self._policy = policy
        self.size = policy.concurrency
        self._good = 0
        self._failed = 0
        self._opened = 0

    def throttled(self) -> None:
        """The provider wants less, here or in another worker."""
        self.size = max(1, self.size // 2)
        self._good = 0

    def answered(self) -> None:
        """The provider took a message, or refused this one: it is there."""
        self._failed = self._opened = 0
        self._good += 1
        if self._good >= self.size and self.size < self._policy.concurrency:
            self.size += 1
            self._good = 0

    def failed(self, *, probing: bool) -> timedelta | None:
        """A send failed, through nobody's fault; returns how long the channel should pause, if it should."""
        self._good = 0
        self._failed += 1
        if not self._policy.breaker or (self._failed < self._policy.breaker and not probing):
            return None
        self._failed = 0
        self._opened += 1
        pause: timedelta = self._policy.pause * 2 ** min(self._opened - 1, 10)
        return min(LONGEST_PAUSE, pause)
