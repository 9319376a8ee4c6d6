"""Names of locales such as `de-AT`, and what falls back to what."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LOCALE = re.compile(r"[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|[0-9]{3}))?")


def normal(locale: str) -> str:
    """Return a name as it is compared: `de_AT` and `de-AT` are one."""
    return locale.replace("_", "-").lower()


def is_locale(name: str) -> bool:
    """Say whether a name has the form of a locale (RFC 5646): a language, and perhaps a script and a region."""
    return _LOCALE.fullmatch(normal(name)) is not None


def fallbacks(locale: str) -> Iterator[str]:
    """Yield the normal name of a locale and of what it falls back to, nearest first: `de-at`, `de`."""
    name = normal(locale)
    while name:
        yield name
        name = name.rpartition("-")[0]


def same_language(one: str, other: str) -> bool:
    """Say whether two locales have the same language."""
    return normal(one).partition("-")[0] == normal(other).partition("-")[0]
