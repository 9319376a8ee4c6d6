"""The URL of a broker, as far as it may be shown."""

from __future__ import annotations

from urllib.parse import urlsplit

from ..errors import InvalidInput


def place(url: str) -> str:
    """Return scheme, host and port of a URL: whatever else stands in it may be a secret. Raises InvalidInput, without
    any part of it, for a URL that cannot be read."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise InvalidInput(
            "url", "cannot be read; characters such as @ : / [ in a password are written as %40 …"
        ) from None
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}" + (f":{port}" if port else "")
