"""Text that comes from outside, made safe to store: bounded, and without what a database refuses."""

from __future__ import annotations

import re

from ..errors import InvalidInput

REASON_CHARACTERS = 1_000
TRACEBACK_CHARACTERS = 8_000
NAME_CHARACTERS = 64
KEY_CHARACTERS = 255
RECIPIENT_CHARACTERS = 320
PROVIDER_ID_CHARACTERS = 500

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_UNSTORABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def clean(text: str, limit: int = REASON_CHARACTERS) -> str:
    """Return text without control characters (newlines stay) and at most `limit` characters long.

    One NUL in a provider's reply must not undo the record of two hundred sends.
    """
    safe = _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
    return safe if len(safe) <= limit else safe[: limit - 1] + "…"


def has_nul(json_text: str) -> bool:
    """Say whether a JSON text holds the character U+0000, which databases refuse; a backslash before "u0000" does not
    make it one."""
    return _NUL.search(json_text) is not None


def checked(field: str, text: object, limit: int, *, empty: bool = False) -> str:
    """Return `text` if it is a string of 1 to `limit` printable characters; otherwise raise InvalidInput."""
    if not isinstance(text, str):
        raise InvalidInput(field, f"must be text, not {type(text).__name__}")
    if not text and not empty:
        raise InvalidInput(field, "must not be empty")
    if len(text) > limit:
        raise InvalidInput(field, f"is {len(text)} characters long; the limit is {limit}")
    if found := _CONTROL.search(text):
        raise InvalidInput(field, f"contains the control character U+{ord(found[0]):04X}; remove it")
    return text
