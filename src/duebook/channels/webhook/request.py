"""The body and the headers of a webhook."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ...domain.identity import short_key
from ...errors import InvalidInput, InvalidMessage

if TYPE_CHECKING:
    from standardwebhooks import Webhook

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,76}")
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
_OURS = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection", "idempotency-key"}
    | {"webhook-id", "webhook-timestamp", "webhook-signature", "accept-encoding", "expect"}
)


def encode(body: Mapping[str, object]) -> bytes:
    """Return the body as JSON; the same bytes whether or not the message was stored and read back meanwhile.

    Raises InvalidMessage for what JSON cannot say.
    """
    try:
        # Through JSON once first: it turns keys into text, and those sort differently from numbers.
        plain = json.loads(json.dumps(body, allow_nan=False))
        text = json.dumps(plain, allow_nan=False, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidMessage("body", f"cannot be written as JSON: {error}") from None


def webhook_id(idempotency_key: str) -> str:
    """Return the id a receiver drops repeats by. It holds no dot: the signature separates its parts by one."""
    return f"msg_{short_key(idempotency_key)[:40]}"


def sign(signers: Sequence[Webhook], identifier: str, at: datetime, body: bytes) -> dict[str, str]:
    """Return the Standard Webhooks headers, with one signature for each secret so that secrets can be rotated.

    `at` is the time of this attempt, not of the message: receivers refuse what is older than five minutes.
    """
    at = at.astimezone(UTC)
    headers = {"webhook-id": identifier, "webhook-timestamp": str(int(at.timestamp()))}
    if signers:
        text = body.decode()
        headers["webhook-signature"] = " ".join(signer.sign(identifier, at, text) for signer in signers)
    return headers


def signers(secrets: Sequence[str]) -> tuple[Webhook, ...]:
    """Return what signs with each secret; raises InvalidInput, without the secret in it, for one that cannot."""
    if not secrets:
        return ()
    from standardwebhooks import Webhook

    try:
        return tuple(Webhook(secret) for secret in secrets)
    except Exception:  # noqa: BLE001  the library's errors and base64's have no common base
        raise InvalidInput("secrets", "must be base64, with or without the prefix 'whsec_'") from None


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the channel's own headers; raises InvalidInput, naming no value, for one that cannot be sent."""
    for name, value in headers.items():
        if not _HEADER_NAME.fullmatch(name):
            raise InvalidInput("headers", f"{name!r} is not a header name")
        if name.lower() in _OURS:
            raise InvalidInput("headers", f"{name!r} is written by the channel")
        if not _HEADER_VALUE.fullmatch(value):
            raise InvalidInput("headers", f"the value of {name!r} may only hold printable ASCII")
    return dict(headers)
