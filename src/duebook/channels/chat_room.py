"""The base of chat rooms: a URL that posts to one of them. An adapter writes two things: the document for a post, and
what an answer means."""

from __future__ import annotations

import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypedDict

from ..domain.message import Chat, Message
from ..domain.outcome import Outcome, Rejected
from ..domain.policy import ChannelPolicy
from ..domain.text import clean
from ..errors import InvalidMessage
from ..ports import SendContext
from .capabilities import Capabilities
from .deadline import Deadline
from .http.answer import Answer
from .http.call import Call, json_body
from .http.client import Client
from .http.endpoint import checked_endpoint
from .http.hiding import hidden
from .http.meaning import Refusals

_HEADERS = {"User-Agent": "duebook", "Accept-Encoding": "identity", "Content-Type": "application/json"}


class RoomSettings(TypedDict, total=False):
    """What every chat room takes, by name."""

    name: str
    concurrency: int
    rate: float | None
    pause: timedelta
    send_seconds: float
    connect_seconds: float
    tls_context: ssl.SSLContext | None


class ChatRoom(ABC):
    """Posts a Chat to one room, whose `url` is a secret: whoever knows it can post there.

    None of these rooms knows a repeated post, and none can be asked for one afterwards. What fails before the body
    began to leave is Retry, and what fails after it is Uncertain.

    `name`: the channel's; without one it is called as the service. `concurrency`: posts at once per process; `rate`:
    posts per second over all workers; `pause`: how long a throttle that names no time holds the channel. `send_seconds`
    bounds an attempt, `connect_seconds` its connecting. `tls_context`: for a private certificate authority.

    Raises InvalidInput for settings that cannot work and MissingExtra without httpx2.
    """

    capabilities: ClassVar[Capabilities] = Capabilities(server_errors="Uncertain")
    service: ClassVar[str]
    refusals: ClassVar[Refusals]

    def __init__(
        self,
        url: str,
        *,
        name: str | None = None,
        concurrency: int = 4,
        rate: float | None = None,
        pause: timedelta = timedelta(seconds=30),
        send_seconds: float = 15.0,
        connect_seconds: float = 5.0,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        self._client = Client(
            extra="http", connect_seconds=connect_seconds, send_seconds=send_seconds, tls_context=tls_context
        )
        self.policy = ChannelPolicy(name or self.service, None, concurrency, rate, send_seconds, pause)
        self._url = checked_endpoint("url", url)
        self._secret = self._url.raw_path

    @abstractmethod
    def document(self, message: Chat) -> Mapping[str, Any]:
        """Return what is posted; raises InvalidMessage for what the room could never show."""

    @abstractmethod
    def read(self, answer: Answer, now: datetime) -> Outcome:
        """Return what an answer says about the post."""

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Chat):
            return Rejected(f"the channel {self.policy.name} takes Chat, not {type(message).__name__}")
        try:
            call = Call("POST", self._url, _HEADERS, json_body(self.document(message)))
        except InvalidMessage as error:
            return Rejected(clean(str(error)))
        answer = await self._client.call(call, deadline)
        return self.read(hidden(answer, [self._secret]), context.now) if isinstance(answer, Answer) else answer

    async def close(self) -> None:  # noqa: B027  not abstract: no room has more to close
        """Nothing to close: a connection lives as long as its attempt."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.policy.name!r})"


def titled(title: str | None, text: str, bold: str) -> str:
    """Return a text with its title above it, between marks that make it bold."""
    return text if title is None else f"{bold}{title}{bold}\n{text}"


def at_most(characters: int, text: str) -> str:
    """Return a text that a room shows whole; raises InvalidMessage for a longer one."""
    if len(text) > characters:
        raise InvalidMessage("text", f"is {len(text):,} characters long with its title; this room takes {characters:,}")
    return text
