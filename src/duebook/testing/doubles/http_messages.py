"""What an HTTP double gets and gives, and how it stands on the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_PROMISED_AND_NOT_SENT = 100

Content = bytes | str | Mapping[str, Any] | Sequence[Any]
"""A body: bytes and text go out as they are, anything else as JSON."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a request; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def length(self) -> int | None:
        """How long the body is in bytes; None if it comes in chunks and nobody knows."""
        return None if "transfer-encoding" in self.headers else int(self.headers.get("content-length", "0"))


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A complete request. `number` counts from 1; names of headers are in lower case."""

    number: int
    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def provider_id(self) -> str:
        """The name that the double gives to what it accepts by this request."""
        return f"m-{self.number}"

    def json(self) -> Any:
        """Return the body as JSON. Raises ValueError if it is none."""
        return json.loads(self.body)

    def form(self) -> dict[str, str]:
        """Return the body as the fields of a form."""
        return dict(parse_qsl(self.body.decode(), keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. A body that is no bytes and no text is sent as JSON.

    `take`: whether the request counts as accepted; None: by its status, 2xx to anything but a GET does. `cut`: the
    connection breaks in the middle of the body.
    """

    status: int = 200
    body: Content = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    take: bool | None = None
    cut: bool = False

    def encoded(self) -> bytes:
        """Return the answer as it goes over the wire."""
        content, headers = encoded(self.body, self.headers)
        length = len(content) + (_PROMISED_AND_NOT_SENT if self.cut else 0)
        lines = [f"HTTP/1.1 {self.status} Scripted", f"content-length: {length}", "connection: close"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + content


@dataclass(frozen=True, slots=True)
class Raw:
    """Send these bytes, which need not be HTTP, and close. `take`: the request was accepted all the same."""

    content: bytes
    take: bool = False


@dataclass(frozen=True, slots=True)
class DropUnread:
    """Close the connection after the head of the request, without reading its body."""


def encoded(body: Content, headers: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """Return a body as bytes, and the headers with the type of its content where they state none."""
    if isinstance(body, bytes):
        return body, dict(headers)
    if isinstance(body, str):
        return body.encode(), dict(headers)
    return json.dumps(body).encode(), {"content-type": "application/json", **headers}


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Read a request up to its body."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    fields = (line.partition(":") for line in lines if line)
    return Head(method, target, {name.lower(): value.strip() for name, _, value in fields})
