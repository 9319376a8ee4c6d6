"""The time one attempt has left, and whether it is still wanted."""

from __future__ import annotations

import asyncio

SHARE = 0.95
"""The part of an attempt's time a channel uses itself. The rest lets its own, more precise answer arrive
before the engine cuts the attempt off and can only say "timeout"."""


class Deadline:
    """Counts down on the event loop's clock, so that a changed wall clock changes no attempt."""

    def __init__(self, seconds: float) -> None:
        self._task = asyncio.current_task()
        self._cancels = self._task.cancelling() if self._task else 0
        self._clock = asyncio.get_running_loop().time
        self.at = self._clock() + seconds * SHARE

    def left(self, at_most: float | None = None) -> float:
        """Return the seconds left, never negative, and no more than `at_most`."""
        left = max(0.0, self.at - self._clock())
        return left if at_most is None else min(left, at_most)

    def check(self) -> None:
        """Raise CancelledError if the attempt was cancelled and nobody noticed.

        Until Python 3.12 `asyncio.wait_for` swallows a cancellation that arrives together with its result
        (python/cpython#86296), and the attempt would go on to send.
        """
        if self._task and self._task.cancelling() > self._cancels:
            raise asyncio.CancelledError

    def soon(self, at_most: float) -> float:
        """Return the loop's time `at_most` seconds from now, or the attempt's end if that comes first."""
        return min(self.at, self._clock() + at_most)
