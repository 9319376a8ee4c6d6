"""Names that must be the same on every attempt, in every process, for ever."""

from __future__ import annotations

import hashlib


def idempotency_key(namespace: str, kind: str, key: str) -> str:
    """Return the key a provider may deduplicate by. Readable; see `short_key` for providers with a limit."""
    return f"{namespace}:{kind}:{key}"


def short_key(idempotency_key: str) -> str:
    """Return a 64-character digest of the key, for headers with a limit on length or characters."""
    return hashlib.sha256(idempotency_key.encode()).hexdigest()


def reference(notification_id: int, idempotency_key: str) -> str:
    """Return what a message may carry as metadata, the same on every attempt: a receipt that names it is matched
    without a search, and one of another environment with the same provider is not."""
    return f"{notification_id}.{short_key(idempotency_key)[:8]}"


def referred_id(reference: str) -> int | None:
    """Return the notification that a reference names, or None if it is not one of ours."""
    number, dot, _ = reference.partition(".")
    return int(number) if dot and number.isascii() and number.isdigit() and len(number) < 19 else None


def message_id(idempotency_key: str, domain: str) -> str:
    """Return the RFC 5322 Message-ID derived from the key: a repeat carries the id of the first attempt."""
    return f"<{short_key(idempotency_key)[:40]}@{domain}>"
