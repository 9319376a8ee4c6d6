"""Whether a request is made again, and when. Nothing here waits."""

from __future__ import annotations

TRIES = 5
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 30.0

_AGAIN = frozenset({408, 429, 500, 502, 503, 504})


def pause_seconds(number: int, status: int | None, retry_after: str | None) -> float | None:
    """Return how long to wait after the try of this number, counted from 1, or None for giving up.

    `status`: what was answered; None if nothing was. `retry_after`: the header, in whole seconds (RFC 9110 §10.2.3);
    without it the pauses double. Nobody who waits for a queue is kept longer than half a minute at a time.
    """
    if number >= TRIES or (status is not None and status not in _AGAIN):
        return None
    if retry_after is None or not (retry_after.isascii() and retry_after.isdigit()):
        return FIRST_PAUSE_SECONDS * 2.0 ** (number - 1)
    wanted = float(retry_after)
    return wanted if wanted <= LONGEST_PAUSE_SECONDS else None
