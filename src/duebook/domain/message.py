"""What a handler hands to a channel: the rendered message, frozen when the attempt begins.

A message is a value. Once an attempt is in doubt, only these same bytes may go out again, so it can be written
to the store and read back without change.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from ..errors import InvalidMessage
from .attachment import Attachment, checked_attachments
from .lines import checked_line as _line
from .text import NAME_CHARACTERS, RECIPIENT_CHARACTERS, has_nul

MESSAGE_BYTES = 1_048_576
SMS_CHARACTERS = 1_600

_ADDRESS = re.compile(r"[^@\s<>,;:\"\x00-\x1f\x7f]+@[^@\s<>,;:\"\x00-\x1f\x7f]+")
_HEADER_NAME = re.compile(r"[!-9;-~]{1,76}")
_PHONE_NUMBER = re.compile(r"\+[1-9][0-9]{1,14}")


def _body(name: str, value: object, *, none: bool = False) -> None:
    if not isinstance(value, str) and not (none and value is None):
        raise InvalidMessage(name, f"must be text, not {type(value).__name__}")


def _words(name: str, value: object) -> None:
    _body(name, value)
    if not str(value).strip():
        raise InvalidMessage(name, "must not be empty")


def _own(message: Message, name: str) -> None:
    """Give the message a copy of a mapping of its own: what is stored and what is sent must stay the same."""
    value = getattr(message, name)
    if not isinstance(value, Mapping):
        raise InvalidMessage(name, f"must be a mapping, not {type(value).__name__}")
    object.__setattr__(message, name, deepcopy(dict(value)))


def _address(name: str, value: str) -> None:
    _line(name, value, RECIPIENT_CHARACTERS)
    if not _ADDRESS.fullmatch(value):
        raise InvalidMessage(name, f"{value!r} is not one e-mail address")


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """The base of every message. `channel` moves this one to another channel than its kind's."""

    type: ClassVar[str] = ""
    channel: str | None = None

    def __post_init__(self) -> None:
        if self.channel is not None:
            _line("channel", self.channel, NAME_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Email(Message):
    """One e-mail to one recipient. Line breaks in any header value are refused, not repaired."""

    type: ClassVar[str] = "email"
    to: str
    subject: str
    text: str
    html: str | None = None
    to_name: str | None = None
    sender: str | None = None
    sender_name: str | None = None
    reply_to: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    attachments: Sequence[Attachment] = ()

    def __post_init__(self) -> None:
        Message.__post_init__(self)
        _address("to", self.to)
        for name in ("sender", "reply_to"):
            if (address := getattr(self, name)) is not None:
                _address(name, address)
        _body("text", self.text)
        _body("html", self.html, none=True)
        _own(self, "headers")
        _line("subject", self.subject, 900, empty=True)
        for name in ("to_name", "sender_name"):
            if (person := getattr(self, name)) is not None:
                _line(name, person)
        for header, value in self.headers.items():
            if not _HEADER_NAME.fullmatch(header):
                raise InvalidMessage("headers", f"{header!r} is not a header name")
            _line(f"headers[{header}]", value, 900)
        object.__setattr__(self, "attachments", checked_attachments(self.attachments))


@dataclass(frozen=True, slots=True, kw_only=True)
class Push(Message):
    """A short notification for a device. `to` is what its push service knows the device by."""

    type: ClassVar[str] = "push"
    to: str
    title: str
    body: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Message.__post_init__(self)
        _line("to", self.to, 2_000)
        _line("title", self.title, 500, empty=True)
        _body("body", self.body)
        _own(self, "data")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sms(Message):
    """A text message for a phone. `to` is its number as ITU-T E.164 writes it: +, country, number, 15 digits at most.
    `text` has 1 to 1,600 characters, the most that providers split into parts that a phone joins again."""

    type: ClassVar[str] = "sms"
    to: str
    text: str

    def __post_init__(self) -> None:
        Message.__post_init__(self)
        _line("to", self.to)
        if not _PHONE_NUMBER.fullmatch(self.to):
            raise InvalidMessage("to", f"{self.to!r} is no phone number in the form +4915123456789")
        _words("text", self.text)
        if len(self.text) > SMS_CHARACTERS:
            raise InvalidMessage("text", f"is {len(self.text):,} characters long; the limit is {SMS_CHARACTERS:,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat(Message):
    """A post in a chat room, which the channel names. `title` stands above the text in bold. What somebody else wrote
    may stand in both: no room notifies people by it, or shows a link under other words."""

    type: ClassVar[str] = "chat"
    text: str
    title: str | None = None

    def __post_init__(self) -> None:
        Message.__post_init__(self)
        _words("text", self.text)
        if self.title is not None:
            _line("title", self.title)


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Message):
    """A JSON document for another system. `to` is its URL; without one the channel's own is used."""

    type: ClassVar[str] = "webhook"
    body: Mapping[str, Any]
    to: str | None = None

    def __post_init__(self) -> None:
        Message.__post_init__(self)
        if self.to is not None:
            _line("to", self.to, 2_000)
        _own(self, "body")


_TYPES: dict[str, type[Message]] = {kind.type: kind for kind in (Chat, Email, Push, Sms, Webhook)}


def freeze(message: Message) -> str:
    """Return the message as JSON text; equal messages give equal text. Raises InvalidMessage for what `thaw` could not
    read back, such as a subclass of one's own."""
    if type(message) is not _TYPES.get(message.type):
        known = ", ".join(sorted(known.__name__ for known in _TYPES.values()))
        raise InvalidMessage("message", f"{type(message).__name__} cannot be stored; use one of {known}")
    values = {name: getattr(message, name) for name in message.__dataclass_fields__}
    values["type"] = message.type
    try:
        text = _encode(values)
        size = len(text) if text.isascii() else len(text.encode())
    except (TypeError, ValueError) as error:
        raise InvalidMessage("message", f"cannot be stored: {error}") from None
    if size > MESSAGE_BYTES:
        raise InvalidMessage("message", f"is {size:,} bytes; the limit is {MESSAGE_BYTES:,}")
    if has_nul(text):
        raise InvalidMessage("message", "contains the character U+0000; remove it")
    return text


def _mapping(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Attachment):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, default=_mapping).encode


def thaw(text: str) -> Message:
    """Return the message that `freeze` wrote."""
    values = json.loads(text)
    return _TYPES[values.pop("type")](**values)


def fingerprint(text: str) -> str:
    """Return the SHA-256 of a frozen message, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()
