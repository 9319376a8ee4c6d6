"""Text of a message that must be one line: whatever could begin another header is refused."""

from __future__ import annotations

from ..errors import InvalidInput, InvalidMessage
from .text import KEY_CHARACTERS, checked


def checked_line(name: str, value: str, limit: int = KEY_CHARACTERS, *, empty: bool = False) -> None:
    """Raise InvalidMessage for a value that is not one line of at most `limit` printable characters."""
    try:
        checked(name, value, limit, empty=empty)
    except InvalidInput as error:
        raise InvalidMessage(name, error.problem) from None
