"""Header lines of an e-mail, written so that every reader gets back exactly the text that went in.

The standard library's own folding loses spaces between encoded words before Python 3.13
(python/cpython#92081), so long subjects are encoded here: RFC 2047 for the words, RFC 5322 §2.1.1 for the
length of lines.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

from ...errors import InvalidMessage

LINE = 76
LONGEST_LINE = 998

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NAME = re.compile(r"[!-9;-~]{1,76}")
_FOLDABLE = re.compile(r"(?<=[^ ]) (?=[^ ])")
_OPEN, _SHUT = "=?utf-8?b?", "?="
_WORD = 75 - len(_OPEN) - len(_SHUT)


def text_header(name: str, value: str) -> bytes:
    """Return `name: value` as header lines; text outside ASCII becomes encoded words.

    Raises InvalidMessage for a name that is none and for a control character anywhere: messages refuse those
    already, and a line break that slipped through here would be somebody else's header.
    """
    refuse_control(name, value)
    if value.isascii() and "=?" not in value and value == value.strip(" "):
        folded = _fold(name, value)
        if max(map(len, folded)) <= LONGEST_LINE:
            return _lines(folded)
    return _lines(_encoded(name, value))


def address_header(name: str, address: str, person: str | None) -> bytes:
    """Return a header that holds one address, with the person's name before it if there is one."""
    refuse_control(name, address)
    if not person:
        return _lines([f"{name}: <{address}>"])
    refuse_control(name, person)
    if person.isascii() and "=?" not in person:
        escaped = person.replace("\\", "\\\\").replace('"', '\\"')
        lines = [f'{name}: "{escaped}"']
    else:
        lines = _encoded(name, person)
    if len(lines[-1]) + len(address) + 3 <= LINE:
        lines[-1] += f" <{address}>"
    else:
        lines.append(f" <{address}>")
    return _lines(lines)


def refuse_control(name: str, value: str) -> None:
    """Raise InvalidMessage if the header's name or value could begin another header."""
    if not _NAME.fullmatch(name):
        raise InvalidMessage("headers", f"{name!r} is not a header name")
    if found := _CONTROL.search(value):
        raise InvalidMessage(name, f"contains the control character U+{ord(found[0]):04X}; remove it")


def _lines(lines: list[str]) -> bytes:
    # Only addresses reach this outside ASCII, and only towards a server that offers SMTPUTF8 (RFC 6532).
    return "".join(f"{line}\r\n" for line in lines).encode()


def _fold(name: str, value: str) -> list[str]:
    """Break at single spaces only: unfolding takes away the line break and leaves that space."""
    first, *rest = _FOLDABLE.split(value)
    lines = [f"{name}: {first}"]
    for piece in rest:
        if len(lines[-1]) + 1 + len(piece) <= LINE:
            lines[-1] += f" {piece}"
        else:
            lines.append(f" {piece}")
    return lines


def _encoded(name: str, value: str) -> list[str]:
    room = min(_WORD, LINE - len(name) - 2 - len(_OPEN) - len(_SHUT))
    start = f"{name}: "
    lines = []
    if room < 8:
        lines, start, room = [f"{name}:"], " ", _WORD
    for octets in _chunks(value, room // 4 * 3, _WORD // 4 * 3):
        lines.append(f"{start}{_OPEN}{base64.b64encode(octets).decode()}{_SHUT}")
        start = " "
    return lines


def _chunks(value: str, first: int, rest: int) -> Iterator[bytes]:
    """Split between characters, never within one: each encoded word must be readable alone."""
    chunk, room = b"", first
    for character in value:
        octets = character.encode()
        if len(chunk) + len(octets) > room:
            yield chunk
            chunk, room = b"", rest
        chunk += octets
    yield chunk
