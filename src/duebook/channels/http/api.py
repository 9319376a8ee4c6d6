"""The base of the providers' e-mail APIs. An adapter writes two things: the request for a message, and what an answer
means. One that can be asked afterwards writes the question and how to find the message in what is answered."""

from __future__ import annotations

import ssl
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Required, TypedDict

from ...domain.message import Email, Message
from ...domain.outcome import Outcome, Rejected
from ...domain.policy import ChannelPolicy
from ...domain.text import KEY_CHARACTERS, RECIPIENT_CHARACTERS, checked, clean
from ...errors import InvalidInput, InvalidMessage
from ...ports import Found, SendContext, Sought
from ..capabilities import Capabilities
from ..deadline import Deadline
from .answer import Answer
from .call import Call
from .client import Client
from .endpoint import checked_base_url
from .exchange import Failure
from .hiding import hidden
from .mailbox import Mailbox
from .meaning import Refusals

LOOK_UP_SECONDS = 10.0


class Settings(TypedDict, total=False):
    """What every e-mail API takes, by name."""

    sender: Required[str]
    sender_name: str | None
    name: str
    base_url: str
    concurrency: int
    rate: float | None
    pause: timedelta
    send_seconds: float
    connect_seconds: float
    tls_context: ssl.SSLContext | None


class EmailApi(ABC):
    """Sends an Email to its one recipient by one HTTPS call.

    What fails before the body began to leave is Retry, and what fails after it is Uncertain. Each attempt has a
    connection of its own, and redirects are not followed.

    `sender`, `sender_name`: used where a message names none. `name`: the channel's. `base_url`: another address of the
    same API, https unless it is on this machine. `concurrency`: calls at once per process; `rate`: calls per second
    over all workers; `pause`: how long a throttle that names no time holds the channel. `send_seconds` bounds an
    attempt, `connect_seconds` its connecting. `tls_context`: for a private certificate authority.

    Raises InvalidInput for settings that cannot work and MissingExtra without httpx2.
    """

    capabilities: ClassVar[Capabilities]
    refusals: ClassVar[Refusals]

    def __init__(
        self,
        secrets: Sequence[str],
        *,
        sender: str,
        sender_name: str | None = None,
        name: str = "email",
        base_url: str,
        concurrency: int = 10,
        rate: float | None = None,
        pause: timedelta = timedelta(seconds=30),
        send_seconds: float = 30.0,
        connect_seconds: float = 5.0,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        self._client = Client(
            extra="http", connect_seconds=connect_seconds, send_seconds=send_seconds, tls_context=tls_context
        )
        self.policy = ChannelPolicy(name, self.capabilities.key_window, concurrency, rate, send_seconds, pause)
        self.sender = Mailbox(
            checked("sender", sender, RECIPIENT_CHARACTERS),
            None if sender_name is None else checked("sender_name", sender_name, KEY_CHARACTERS),
        )
        self._secrets = [secret.encode() for secret in secrets]
        self._base_url = checked_base_url(base_url)

    @abstractmethod
    def request(self, message: Email, context: SendContext) -> Call:
        """Return the request that sends a message; raises InvalidMessage for what the provider could never take."""

    @abstractmethod
    def read(self, answer: Answer, now: datetime) -> Outcome:
        """Return what an answer to that request says about the message."""

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Email):
            return Rejected(f"the channel {self.policy.name} takes Email, not {type(message).__name__}")
        if message.attachments:
            return Rejected(f"the channel {self.policy.name} takes no attachments; send this kind over SMTP")
        try:
            call = self.request(message, context)
        except InvalidMessage as error:
            return Rejected(clean(str(error)))
        answer = await self._ask(call, deadline)
        return self.read(answer, context.now) if isinstance(answer, Answer) else answer

    async def close(self) -> None:  # noqa: B027  not abstract: no adapter has more to close
        """Nothing to close: a connection lives as long as its attempt."""

    def call(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Call:
        """Return a call to a path below the base URL."""
        plain = {"User-Agent": "duebook", "Accept": "application/json", "Accept-Encoding": "identity"}
        return Call(method, self._base_url.copy_with(raw_path=self._path(path)), {**plain, **headers}, body)

    def _path(self, path: str) -> bytes:
        return self._base_url.raw_path.rstrip(b"/") + path.encode("ascii")

    async def _ask(self, call: Call, deadline: Deadline) -> Answer | Failure:
        answer = await self._client.call(call, deadline)
        return hidden(answer, self._secrets) if isinstance(answer, Answer) else answer

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.policy.name!r})"


class SearchableApi(EmailApi):
    """An e-mail API that can be asked whether it has taken a message.

    None of them says that a message it has taken is found at once, so what is not found stays unknown.
    """

    @abstractmethod
    def question(self, sought: Sought) -> Call | None:
        """Return the request that looks for a message, or None if it could not be found with what is known."""

    @abstractmethod
    def found(self, answer: Answer, sought: Sought) -> str | None:
        """Return the provider's id of the message in a successful answer, or None if it is not there.

        What is answered must itself show that it is the message: a filter that the provider did not understand would
        make proof of somebody else's.
        """

    async def look_up(self, sought: Sought) -> Found:
        question = self.question(sought)
        if question is None:
            return Found("unknown", detail="the provider finds a message by its own id, which is not known")
        answer = await self._ask(question, Deadline(LOOK_UP_SECONDS))
        if not isinstance(answer, Answer):
            return Found("unknown", detail=answer.reason)
        if answer.status != 200:
            return Found("unknown", detail=str(answer))
        provider_id = self.found(answer, sought)
        if provider_id is None:
            return Found("unknown", detail="the provider does not show it, which proves nothing")
        return Found("accepted", provider_id)


def checked_secret(field: str, secret: str) -> str:
    """Return a key or token that fits into a header; raises InvalidInput, without the secret in it."""
    if not secret or not secret.isascii() or not secret.isprintable():
        raise InvalidInput(field, "must be printable ASCII, and not empty")
    return secret
