"""Names that must be the same on every attempt, in every process, for ever."""

from __future__ import annotations

import hashlib


def idempotency_key(namespace: str, kind: str, key: str) -> str:
    """Return the key a provider may deduplicate by. Readable; see `short_key` for providers with a limit."""
    return f"{namespace}:{kind}:{key}"


def short_key(idempotency_key: str) -> str:
    """Return a 64-character digest of the key, for headers with a limit on length or characters."""
    return hashlib.sha256(idempotency_key.encode()).hexdigest()


def message_id(idempotency_key: str, domain: str) -> str:
    """Return the RFC 5322 Message-ID derived from the key: a repeat carries the id of the first attempt."""
    return f"<{short_key(idempotency_key)[:40]}@{domain}>"
