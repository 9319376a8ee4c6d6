"""Where a webhook may go: a URL somebody else wrote must not reach what only we can reach.

The name is resolved once, every address is judged, and the connection then goes to a judged address, never to
the name: a second look-up could answer something else (DNS rebinding).
"""

from __future__ import annotations

import ipaddress
from typing import TYPE_CHECKING

from ..http.address import resolve

if TYPE_CHECKING:
    from httpx2 import URL

_MOST_ADDRESSES = 4

# `is_global` differs between releases of Python: 3.11 calls part of 192.0.0.0/24 global. Inside Azure,
# 168.63.129.16 is the host's own control service, although the address is a public one.
_NOT_PUBLIC = tuple(map(ipaddress.IPv4Network, ("192.0.0.0/24", "168.63.129.16/32")))
_PUBLIC_IPV6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")

Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Forbidden(Exception):
    """This URL will never be called; the text says why and holds no path or query."""


def parse(text: str) -> URL:
    """Return the URL; raises Forbidden for one that is malformed, not http(s), or carries a password."""
    from httpx2 import URL, InvalidURL

    try:
        url = URL(text)
    except (InvalidURL, UnicodeError):
        raise Forbidden("the URL is malformed") from None
    if "%" in url.host:
        raise Forbidden("the URL's host is no name and no address")
    if url.scheme not in ("http", "https") or not url.host:
        raise Forbidden("the URL must begin with https:// or http:// and a host")
    if url.port is not None and not 1 <= url.port <= 65_535:
        raise Forbidden(f"the port in the URL of {url.host} is none")
    if url.userinfo:
        raise Forbidden(f"the URL of {url.host} carries a user name or password; use a header")
    return url


async def approve(url: URL, *, allow_private: bool) -> list[str]:
    """Resolve the URL's host and return the addresses to connect to; raises Forbidden or Unresolved.

    One forbidden address among several forbids them all: that mixture is how a rebinding attack looks.
    """
    found = await resolve(url)
    if not allow_private:
        for address in found:
            if not is_public(address):
                raise Forbidden(
                    f"{url.host} is {address}, which is not a public address; "
                    "allow_private=True permits it for the whole channel"
                )
    return found[:_MOST_ADDRESSES]


def is_public(text: str) -> bool:
    """Say whether an address belongs to the public internet, looking inside IPv6 forms that carry an IPv4."""
    try:
        address = _inner(ipaddress.ip_address(text))
    except ValueError:
        return False
    if not address.is_global or address.is_multicast:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        return address in _PUBLIC_IPV6
    return not any(address in network for network in _NOT_PUBLIC)


def _inner(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped or address.sixtofour or address
