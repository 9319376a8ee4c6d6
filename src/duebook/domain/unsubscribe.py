"""One-click unsubscribing by RFC 8058: the headers of a message, and the token in its address.

The token says who wants nothing more of which kind, and is signed, so that an address that is guessed or changed does
nothing. It never ends: a link in an old mail must work, and working twice is the same as once.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InvalidInput

_SECRET_BYTES = 16
_TOKEN_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What a token asks for: nothing more of a kind."""

    recipient: str
    kind: str


def token(secret: str, wish: Wish) -> str:
    """Return the signed token of a wish. Raises InvalidInput for a secret of fewer than 16 bytes."""
    key = _key(secret)
    body = _encode(json.dumps([wish.recipient, wish.kind], ensure_ascii=False, separators=(",", ":")).encode())
    return f"{body}.{_signed(key, body)}"


def read(secret: str, token: str) -> Wish:
    """Return the wish of a token. Raises InvalidInput for one that was not signed with this secret."""
    key = _key(secret)
    body, _, signature = token.partition(".")
    readable = token.isascii() and len(token) <= _TOKEN_CHARACTERS
    if not readable or not hmac.compare_digest(_signed(key, body), signature):
        raise InvalidInput("token", "is not one of ours; use the whole address from the message")
    try:
        recipient, kind = json.loads(_decode(body))
    except (ValueError, binascii.Error):
        raise InvalidInput("token", "cannot be read") from None
    return Wish(recipient, kind)


def headers(url: str, secret: str, wish: Wish) -> Mapping[str, str]:
    """Return the headers that make a mail unsubscribable by one click (RFC 8058 section 3.1). `url`: the https address
    that takes the POST; the token is its last path segment."""
    if not url.startswith("https://"):
        raise InvalidInput("url", "must be an https address, as RFC 8058 asks")
    return {
        "List-Unsubscribe": f"<{url.rstrip('/')}/{token(secret, wish)}>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def _key(secret: str) -> bytes:
    key = secret.encode()
    if len(key) < _SECRET_BYTES:
        raise InvalidInput("secret", f"must have at least {_SECRET_BYTES} bytes")
    return key


def _signed(key: bytes, body: str) -> str:
    return _encode(hmac.digest(key, b"duebook unsubscribe " + body.encode(), hashlib.sha256))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decode(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
