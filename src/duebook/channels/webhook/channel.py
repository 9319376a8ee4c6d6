"""The webhook channel."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...domain.message import Message, Webhook
from ...domain.outcome import Outcome, Rejected
from ...domain.policy import ChannelPolicy
from ...domain.text import clean
from ...errors import InvalidInput, InvalidMessage, MissingExtra
from ...ports import SendContext
from ..capabilities import Capabilities
from ..deadline import Deadline
from ..http.answer import Answer
from ..http.call import Call, origin
from ..http.client import Client
from . import guard
from .request import checked_headers, encode, sign, signers, webhook_id
from .verdict import judge

if TYPE_CHECKING:
    from httpx2 import URL


class WebhookChannel:
    """POSTs a Webhook's body as JSON to the message's URL, or to `url` where the message names none.

    Every attempt for a notification carries the same `webhook-id` and `Idempotency-Key`. With `secrets` it is
    signed by each of them (Standard Webhooks; give old and new while you rotate). Redirects are not followed.
    What fails before the body began to leave is Retry, what fails after it is Uncertain, and `verdict.judge`
    says what an answer means.

    `allow_private`: also call loopback, private, link-local and other addresses outside the public internet;
    leave it off where customers enter URLs. `headers`: sent with every request, such as a token. `key_window`:
    how long your receivers drop a webhook-id they have seen; say None if you cannot know. `pause`: how long a
    throttle that names no time holds the channel. `send_seconds` bounds an attempt, `connect_seconds` its
    connecting. `tls_context`: for a private certificate authority.

    Raises InvalidInput for settings that cannot work and MissingExtra without httpx2 or standardwebhooks.
    """

    capabilities = Capabilities(server_errors="502, 504 and those of a gateway are Uncertain, others Retry")

    def __init__(
        self,
        url: str | None = None,
        *,
        name: str = "webhook",
        secrets: Sequence[str] = (),
        headers: Mapping[str, str] | None = None,
        allow_private: bool = False,
        key_window: timedelta | None = None,
        concurrency: int = 20,
        rate: float | None = None,
        pause: timedelta = timedelta(seconds=30),
        send_seconds: float = 30.0,
        connect_seconds: float = 5.0,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        if secrets and find_spec("standardwebhooks") is None:
            raise MissingExtra("signing webhooks", "webhook")
        if isinstance(secrets, str):
            raise InvalidInput("secrets", "must be a list, also for a single secret")
        policy = ChannelPolicy(name, key_window, concurrency, rate, send_seconds, pause)
        # Receivers that messages name fail each on its own.
        self.policy = policy if url is not None else replace(policy, breaker=0)
        self._url = url
        self._signers = signers(secrets)
        self._headers = checked_headers(headers or {})
        self._approve = partial(guard.approve, allow_private=allow_private)
        self._client = Client(
            extra="webhook", connect_seconds=connect_seconds, send_seconds=send_seconds, tls_context=tls_context
        )

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Webhook):
            return Rejected(f"the channel {self.policy.name} takes Webhook, not {type(message).__name__}")
        try:
            body = encode(message.body)
            call = Call("POST", self._destination(message), self._request_headers(context, body), body)
            answer = await self._client.call(call, deadline, self._approve)
        except (InvalidMessage, guard.Forbidden) as error:
            return Rejected(clean(str(error)))
        if not isinstance(answer, Answer):
            return answer
        return judge(
            answer,
            now=context.now,
            own_receiver=self._is_own(call.url),
            repeats_key=context.number > 1 and self.policy.key_window is not None,
        )

    async def close(self) -> None:
        """Nothing to close: a connection lives as long as its attempt."""

    def _destination(self, message: Webhook) -> URL:
        text = message.to or self._url
        if text is None:
            raise InvalidMessage("to", f"has no URL, and the channel {self.policy.name} has none either")
        return guard.parse(text)

    def _is_own(self, url: URL) -> bool:
        return self._url is not None and origin(guard.parse(self._url)) == origin(url)

    def _request_headers(self, context: SendContext, body: bytes) -> dict[str, str]:
        identifier = webhook_id(context.idempotency_key)
        return {
            "User-Agent": "duebook",
            "Accept-Encoding": "identity",
            **self._headers,
            "Content-Type": "application/json",
            "Idempotency-Key": identifier,
            **sign(self._signers, identifier, context.now, body),
        }

    def __repr__(self) -> str:
        return f"WebhookChannel(name={self.policy.name!r})"
