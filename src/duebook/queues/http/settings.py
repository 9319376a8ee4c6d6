"""What whoever sets the queue up writes down, checked."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit

from ...errors import InvalidInput
from ..address import place


def checked_url(url: str) -> str:
    """Return a URL that a token may be sent to, and that paths may be put behind. Raises InvalidInput, without any part
    of it.

    It must be https, unless it leads to this machine.
    """
    place(url)  # raises for what cannot be split
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or "@" in parts.netloc:
        raise InvalidInput("url", "must be https://, a host and at most a path; the token is an argument of its own")
    if parts.query or parts.fragment:
        raise InvalidInput("url", "must end with the path")
    if parts.scheme == "http" and not _is_local(parts.hostname):
        raise InvalidInput("url", "must be https: the token would go in the clear")
    return url


def checked_token(token: str) -> str:
    """Return a token that fits into a header. Raises InvalidInput, without the token in it."""
    if not token or not token.isascii() or not token.isprintable():
        raise InvalidInput("token", "must be printable ASCII, and not empty")
    return token


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
