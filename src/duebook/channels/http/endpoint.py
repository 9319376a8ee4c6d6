"""The URL that is written down for a channel by whoever sets it up."""

from __future__ import annotations

from ipaddress import ip_address
from typing import TYPE_CHECKING

from ...errors import InvalidInput

if TYPE_CHECKING:
    from httpx2 import URL


def checked_endpoint(field: str, text: str) -> URL:
    """Return a URL that may be called with a secret in it; raises InvalidInput, without any part of it.

    It must be https, unless it leads to this machine.
    """
    from httpx2 import URL, InvalidURL

    try:
        url = URL(text)
    except (InvalidURL, UnicodeError):
        raise InvalidInput(field, "is not a URL such as https://chat.example.com/hooks/…") from None
    if url.scheme not in ("https", "http") or not url.host or url.userinfo or url.fragment:
        raise InvalidInput(field, "must be https://, a host and a path")
    if url.scheme == "http" and not _is_local(url.host):
        raise InvalidInput(field, "must be https: the secret in it would go in the clear")
    return url


def checked_base_url(text: str) -> URL:
    """Return the URL that an API's paths stand below; raises InvalidInput."""
    url = checked_endpoint("base_url", text)
    if url.query:
        raise InvalidInput("base_url", "must be https://, a host and at most a path")
    return url


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
