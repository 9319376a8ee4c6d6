"""A request, before it is known where to connect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import URL


@dataclass(frozen=True, slots=True, repr=False)
class Call:
    """One request. It prints as its method and origin: headers and paths hold secrets."""

    method: str
    url: URL
    headers: Mapping[str, str]
    body: bytes = b""

    def __repr__(self) -> str:
        return f"Call({self.method} {origin(self.url)})"


def origin(url: URL) -> str:
    """Return scheme, host and port. What follows in a webhook's URL is often a secret."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}"


def json_body(document: Mapping[str, Any]) -> bytes:
    """Return a document as JSON in ASCII; the same document always gives the same bytes."""
    return json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
