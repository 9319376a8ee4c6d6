"""From an exception to what a person reads, what a machine reads, and the exit code. Passwords stay out of them."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from ..errors import (
    AlreadyScheduled,
    Busy,
    DuebookError,
    InvalidInput,
    MissingExtra,
    QueueUnavailable,
    SchemaMismatch,
    StoreUnavailable,
    UnknownName,
    UnsafeSetting,
)
from .exits import Exit

_PASSWORDS = (
    re.compile(r"(?<=://)([^:/?#@]*:)(.*)(?=@)", re.DOTALL),
    re.compile(r"([?&](?:ssl)?password=)([^&#]*)"),
)
_SHORTEST_SECRET = 3

# Classes of SQLSTATE in which the server says that we may not or cannot work here, rather than that we are wrong.
_POSTGRES_DOORS = ("08", "28", "3D", "53", "57")
_POSTGRES_RIGHTS = ("42501", "25006")
# A statement prepared by somebody else, or nowhere: the sign of a pooler that changes processes under us.
_POSTGRES_POOLER = ("42P05", "26000")
_POOLED = (
    "PostgreSQL: a pooler by transaction (such as PgBouncer) is in between, and prepared statements fail there. "
    "Give duebook a direct connection, or a pool in session mode"
)

_CODES: dict[type[DuebookError], Exit] = {
    InvalidInput: Exit.USAGE,
    UnsafeSetting: Exit.USAGE,
    MissingExtra: Exit.USAGE,
    AlreadyScheduled: Exit.REFUSED,
    SchemaMismatch: Exit.DATABASE,
    StoreUnavailable: Exit.DATABASE,
    Busy: Exit.BUSY,
    QueueUnavailable: Exit.BROKER,
}


@dataclass(frozen=True, slots=True)
class Failure:
    """An expected error, ready to be told."""

    code: Exit
    error: str
    field: str | None = None

    @property
    def document(self) -> dict[str, Any]:
        return {"error": self.error, "field": self.field}

    def scrubbed(self, url: str | None) -> Failure:
        return Failure(self.code, scrub(self.error, url), self.field)


def failure(error: BaseException) -> Failure | None:
    """Return what there is to say about an error people may meet, or None for one that is a fault in a program."""
    if isinstance(error, UnknownName):
        return Failure(Exit.USAGE, error.problem[:1].upper() + error.problem[1:], error.field)
    if isinstance(error, InvalidInput):
        return Failure(Exit.USAGE, str(error), error.field)
    for kind, code in _CODES.items():
        if isinstance(error, kind):
            return Failure(code, str(error))
    if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.IntegrityError):
        return Failure(Exit.DATABASE, f"SQLite: {error}")
    state = getattr(error, "sqlstate", None)
    if state in _POSTGRES_POOLER:
        return Failure(Exit.DATABASE, _POOLED)
    if isinstance(state, str) and (state[:2] in _POSTGRES_DOORS or state in _POSTGRES_RIGHTS):
        return Failure(Exit.DATABASE, f"PostgreSQL refuses: {error}")
    return None


def masked(url: str) -> str:
    """Return a database URL that may be shown."""
    for pattern in _PASSWORDS:
        url = pattern.sub(r"\1***", url)
    return url


def scrub(text: str, url: str | None) -> str:
    """Return text without the URL's password, whoever put it in."""
    if not url:
        return text
    text = text.replace(url, masked(url))
    for secret in _secrets(url):
        for form in {secret, unquote(secret)}:
            if len(form) >= _SHORTEST_SECRET:
                text = text.replace(form, "***")
    return text


def _secrets(url: str) -> list[str]:
    return [found[2] for pattern in _PASSWORDS for found in pattern.finditer(url)]
