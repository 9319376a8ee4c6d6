"""What providers post back: how it is shown to be theirs, and how it is read. Pure."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ...domain.text import clean
from ...errors import InvalidInput, UnverifiedReceipt

CLOCKS = timedelta(minutes=5)
"""How far ahead of ours a provider's clock may be."""


def header(headers: Mapping[str, str], name: str) -> str:
    """Return a header, however it is written, or an empty text."""
    return next((value for known, value in headers.items() if known.lower() == name), "")


def same(given: str | bytes, expected: str | bytes) -> bool:
    """Compare a signature or password without telling by the time it takes where they differ."""
    left, right = (text.encode() if isinstance(text, str) else text for text in (given, expected))
    return hmac.compare_digest(left, right)


def checked_secrets(secrets: Sequence[str]) -> Sequence[str]:
    """Return secrets that can prove something; raises InvalidInput, without a secret in it.

    The letters of a text given for a list would each pass for a secret, and so would an empty one for everybody's.
    """
    if isinstance(secrets, str):
        raise InvalidInput("secrets", "must be a list, also for a single secret")
    if not secrets or not all(secrets):
        raise InvalidInput("secrets", "must hold at least one, and no empty one")
    return secrets


def check_authorization(provider: str, headers: Mapping[str, str], secrets: Sequence[str]) -> None:
    """Raise UnverifiedReceipt unless a request carries one of the secrets: a bearer token, or a `user:password`."""
    given = header(headers, "authorization")
    for secret in checked_secrets(secrets):
        basic = base64.b64encode(secret.encode()).decode("ascii")
        if same(given, f"Bearer {secret}") or same(given, f"Basic {basic}"):
            return
    raise UnverifiedReceipt(provider, "its Authorization header holds none of the secrets")


def check_age(provider: str, signed_at: datetime | None, now: datetime, oldest: timedelta) -> None:
    """Raise UnverifiedReceipt if a signature is older than `oldest`, from the future, or without a time."""
    if signed_at is None:
        raise UnverifiedReceipt(provider, "it does not say when it was signed")
    if now - signed_at > oldest:
        raise UnverifiedReceipt(provider, f"it was signed more than {oldest} ago")
    if signed_at - now > CLOCKS:
        raise UnverifiedReceipt(provider, "it was signed in the future; is this machine's clock right?")


def document(provider: str, body: bytes) -> Any:
    """Return a body as JSON; raises InvalidInput."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise InvalidInput("body", f"is not the JSON that {provider} posts") from None


def within(document: object, *path: str | int) -> Any:
    """Return what stands at a path of keys and places in a JSON document, or None."""
    for step in path:
        if isinstance(document, dict):
            document = document.get(step)
        elif isinstance(document, list) and isinstance(step, int) and step < len(document):
            document = document[step]
        else:
            return None
    return document


def text(value: object) -> str | None:
    """Return a text or number as text fit to be stored; None for anything else and for an empty one."""
    usable = isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
    return clean(str(value)) if usable else None


def epoch(value: object) -> datetime | None:
    """Return the instant of so many seconds since 1970, given as a number or as text."""
    try:
        return datetime.fromtimestamp(float(value), UTC)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def iso(value: object) -> datetime | None:
    """Return an instant in the form of ISO 8601; one without an offset is in UTC."""
    try:
        found = datetime.fromisoformat(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def digest(*parts: str) -> str:
    """Return a name for news that the provider gives none: the same news has the same one."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
