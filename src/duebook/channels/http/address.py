"""Where a host is."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpx2 import URL


class Unresolved(Exception):
    """The host has no address at the moment."""


async def resolve(url: URL) -> list[str]:
    """Return the addresses of a URL's host, as the system resolves it; raises Unresolved."""
    host = url.raw_host.decode("ascii").strip("[]")
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise Unresolved(f"{host} cannot be resolved: {error}") from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))
