"""What a provider remembers of idempotency keys, for as long as its window is open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from .http_messages import HttpRequest, Reply


@dataclass(frozen=True, slots=True)
class Remembered:
    """The first request with a key, and what it was answered."""

    request: HttpRequest
    reply: Reply
    until: float


class KeyMemory:
    """Remembers accepted requests by the key in a header, each for `window`; for no time if that is None.

    `monotonic`: seconds that never step back.
    """

    def __init__(self, header: str, window: timedelta | None, monotonic: Callable[[], float]) -> None:
        self._header = header.lower()
        self._window = window
        self._monotonic = monotonic
        self._known: dict[str, Remembered] = {}

    def key(self, request: HttpRequest) -> str | None:
        return request.headers.get(self._header)

    def find(self, request: HttpRequest) -> Remembered | None:
        """Return what is known of the request's key, if it has one and the window is still open."""
        known = self._known.get(self.key(request) or "")
        return known if known is not None and self._monotonic() < known.until else None

    def remember(self, request: HttpRequest, reply: Reply) -> None:
        key = self.key(request)
        if key is not None and self._window is not None:
            self._known[key] = Remembered(request, reply, self._monotonic() + self._window.total_seconds())
