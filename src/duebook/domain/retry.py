"""When to try again, as arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from ..errors import InvalidInput

FLOOR = timedelta(seconds=1)
WISH_CEILING = timedelta(hours=24)
"""A provider's Retry-After is respected up to here; one header in 2026 asked for 56 years."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """`attempts` tries in all, delayed by min(ceiling, 2^n) seconds with jitter, for at most `age` altogether.

    `age` bounds retries and throttling alike, from the first time a worker looked at the notification.
    """

    attempts: int = 5
    ceiling: timedelta = timedelta(seconds=60)
    age: timedelta = timedelta(days=2)

    def __post_init__(self) -> None:
        if not 1 <= self.attempts <= 100:
            raise InvalidInput("retry.attempts", "must be between 1 and 100")
        if self.ceiling < FLOOR:
            raise InvalidInput("retry.ceiling", "must be at least one second")
        if self.age <= timedelta(0):
            raise InvalidInput("retry.age", "must be a positive length of time")

    def delay(self, used: int, jitter: float, wish: timedelta | None = None) -> timedelta:
        """Return how long to wait after `used` attempts; `jitter` is a draw from 0 to 1.

        Half of the delay is fixed and half is drawn, so that a herd spreads without anyone hammering.
        A `wish` (Retry-After) that is negative is malformed and ignored; a longer one than ours wins.
        """
        seconds = min(self.ceiling.total_seconds(), 2.0 ** min(used, 16))
        own = max(FLOOR, timedelta(seconds=seconds * (0.5 + jitter / 2)))
        if wish is None or wish <= timedelta(0):
            return own
        return max(own, min(wish, WISH_CEILING))
