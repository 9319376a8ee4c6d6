"""What is attached to a mail: not its bytes, but where they are and which they must be."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidMessage
from .lines import checked_line
from .text import NAME_CHARACTERS

MOST_ATTACHMENTS = 10
ATTACHED_BYTES = 15 * 1_048_576
"""All of them together. On the wire they are a third larger, and many servers take 25 MB."""

_FILE_NAME_CHARACTERS = 150
_REFERENCE_CHARACTERS = 500
_MEDIA_TYPE = re.compile(r"(?!(?:multipart|message)/)[a-z]+/[a-z0-9][a-z0-9!#$&^_.+-]{0,99}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that the channel fetches when it sends, and that must then have these very bytes.

    `name`: what the reader sees. `media_type`: such as "application/pdf". `source`: which of the channel's sources to
    ask; `reference`: what to ask it for. `size_bytes` and `sha256` (hexadecimal) say which bytes are meant.

    Raises InvalidMessage for what cannot be sent.
    """

    name: str
    media_type: str
    source: str
    reference: str
    size_bytes: int
    sha256: str

    def __post_init__(self) -> None:
        checked_line("attachments.name", self.name, _FILE_NAME_CHARACTERS)
        if "/" in self.name or "\\" in self.name:
            raise InvalidMessage("attachments.name", f"{self.name!r} is a path; give the name of a file")
        checked_line("attachments.media_type", self.media_type)
        if not _MEDIA_TYPE.fullmatch(self.media_type):
            raise InvalidMessage("attachments.media_type", f"{self.media_type!r} is not one such as application/pdf")
        checked_line("attachments.source", self.source, NAME_CHARACTERS)
        checked_line("attachments.reference", self.reference, _REFERENCE_CHARACTERS)
        checked_line("attachments.sha256", self.sha256)
        if not _DIGEST.fullmatch(self.sha256):
            raise InvalidMessage("attachments.sha256", "is not a SHA-256 in hexadecimal; use Attachment.of")
        if not 0 <= self.size_bytes <= ATTACHED_BYTES:
            raise InvalidMessage("attachments.size_bytes", f"{self.size_bytes!r} is not 0 to {ATTACHED_BYTES:,}")

    @classmethod
    def of(cls, content: bytes, *, name: str, media_type: str, source: str, reference: str) -> Attachment:
        """Return the attachment of these bytes, which `source` must answer for `reference` when it is sent."""
        size_bytes, sha256 = len(content), _digest(content)
        return cls(
            name=name, media_type=media_type, source=source, reference=reference, size_bytes=size_bytes, sha256=sha256
        )

    def is_of(self, content: bytes) -> bool:
        """Say whether these are the bytes that are meant."""
        return len(content) == self.size_bytes and _digest(content) == self.sha256


def checked_attachments(value: Any) -> tuple[Attachment, ...]:
    """Return the attachments of a mail, those read from the store as they were; raises InvalidMessage."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InvalidMessage("attachments", f"must be a list, not {type(value).__name__}")
    found = tuple(Attachment(**each) if isinstance(each, Mapping) else each for each in value)
    for each in found:
        if not isinstance(each, Attachment):
            raise InvalidMessage("attachments", f"must hold Attachment, not {type(each).__name__}")
    if len(found) > MOST_ATTACHMENTS:
        raise InvalidMessage("attachments", f"are {len(found)}; the limit is {MOST_ATTACHMENTS}")
    if (size := sum(each.size_bytes for each in found)) > ATTACHED_BYTES:
        raise InvalidMessage("attachments", f"are {size:,} bytes; the limit is {ATTACHED_BYTES:,}")
    return found


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
