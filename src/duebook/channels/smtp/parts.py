"""The parts of an e-mail with attachments, written so that every reader gets back each name and each byte.

The standard library writes some names of files so that others come out, and otherwise in one Python than in the next.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from ...domain.attachment import Attachment

_PLAIN = re.compile(r"[A-Za-z0-9_(](?:[A-Za-z0-9 ._()-]{0,58}[A-Za-z0-9_)])?")
_CHARSET = "utf-8''"
_PIECE_CHARACTERS = 54


def mixed(first: bytes, attachments: Sequence[Attachment], files: Sequence[bytes], boundary: str) -> bytes:
    """Return the headers and the content of a mail of several parts: the first, and one for each attachment."""
    attached = [_attached(each, content) for each, content in zip(attachments, files, strict=True)]
    head = f'MIME-Version: 1.0\r\nContent-Type: multipart/mixed;\r\n boundary="{boundary}"\r\n\r\n'
    parts = b"".join(f"--{boundary}\r\n".encode() + part + b"\r\n" for part in (first, *attached))
    return head.encode() + parts + f"--{boundary}--\r\n".encode()


def _attached(attachment: Attachment, content: bytes) -> bytes:
    lines = [
        f"Content-Type: {attachment.media_type}",
        "Content-Transfer-Encoding: base64",
        ";\r\n ".join(["Content-Disposition: attachment", *_file_name(attachment.name)]),
        "",
        base64.encodebytes(content).decode().replace("\n", "\r\n"),
    ]
    return "\r\n".join(lines).encode()


def _file_name(name: str) -> list[str]:
    """Return the parameters that hold a name: quoted if it is plain, else percent-encoded and in pieces (RFC 2231).

    Neither can hold a line break or a quotation mark, whatever the name does.
    """
    if _PLAIN.fullmatch(name):
        return [f'filename="{name}"']
    pieces = list(_pieces(name))
    if len(pieces) == 1:
        return [f"filename*={_CHARSET}{pieces[0]}"]
    return [f"filename*{number}*={'' if number else _CHARSET}{piece}" for number, piece in enumerate(pieces)]


def _pieces(name: str) -> Iterator[str]:
    piece = ""
    for encoded in (quote(character, safe="") for character in name):
        if len(piece) + len(encoded) > _PIECE_CHARACTERS:
            yield piece
            piece = ""
        piece += encoded
    yield piece
