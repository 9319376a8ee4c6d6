"""The headers that a message may set itself."""

from __future__ import annotations

from ..domain.message import Email
from ..errors import InvalidMessage

_THE_CHANNELS = frozenset(
    {"from", "to", "cc", "bcc", "reply-to", "subject", "date", "message-id", "mime-version"}
    | {"return-path", "received"}
)
_THE_CHANNELS_BY_PREFIX = ("content-", "resent-")


def own_headers(message: Email) -> list[tuple[str, str]]:
    """Return a message's own headers in an order of their own, as a stored message has lost that of its handler.

    Raises InvalidMessage for one that the channel writes.
    """
    for name in message.headers:
        if name.lower() in _THE_CHANNELS or name.lower().startswith(_THE_CHANNELS_BY_PREFIX):
            raise InvalidMessage("headers", f"{name!r} is written by the channel; use the message's fields")
    return sorted(message.headers.items(), key=lambda header: (header[0].lower(), header[0]))
