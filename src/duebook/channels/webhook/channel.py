"""The webhook channel."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping, Sequence
from datetime import timedelta
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...domain.message import Message, Webhook
from ...domain.outcome import Outcome, Rejected, Retry
from ...domain.policy import ChannelPolicy
from ...domain.text import clean
from ...errors import InvalidInput, InvalidMessage, MissingExtra
from ...ports import SendContext
from ..deadline import Deadline
from . import guard
from .exchange import post
from .request import checked_headers, encode, sign, signers, webhook_id
from .verdict import Answer, judge

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
        if find_spec("httpx2") is None or (secrets and find_spec("standardwebhooks") is None):
            raise MissingExtra("the webhook channel", "webhook")
        if isinstance(secrets, str):
            raise InvalidInput("secrets", "must be a list, also for a single secret")
        if not 0 < connect_seconds <= send_seconds:
            raise InvalidInput("connect_seconds", "must be positive and no longer than send_seconds")
        self.policy = ChannelPolicy(name, key_window, concurrency, rate, send_seconds, pause)
        self._url = url
        self._signers = signers(secrets)
        self._headers = checked_headers(headers or {})
        self._allow_private = allow_private
        self._connect_seconds = connect_seconds
        self._tls_context = tls_context

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Webhook):
            return Rejected(f"the channel {self.policy.name} takes Webhook, not {type(message).__name__}")
        try:
            body = encode(message.body)
            url = self._destination(message)
            async with asyncio.timeout_at(deadline.at):
                target = await guard.approve(url, allow_private=self._allow_private)
                tls = await self._tls()
        except (InvalidMessage, guard.Forbidden) as error:
            return Rejected(clean(str(error)))
        except guard.Unresolved as error:
            return Retry(clean(str(error)))
        except TimeoutError:
            return Retry("the name of the receiver was not resolved in time")
        answer = await post(
            target,
            self._request_headers(context, body),
            body,
            tls=tls,
            connect_seconds=self._connect_seconds,
            deadline=deadline,
        )
        if not isinstance(answer, Answer):
            return answer
        return judge(
            answer,
            now=context.now,
            own_receiver=self._is_own(url),
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
        return self._url is not None and guard.origin(guard.parse(self._url)) == guard.origin(url)

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

    async def _tls(self) -> ssl.SSLContext:
        if self._tls_context is None:
            # Reads the system's certificates from the disk.
            self._tls_context = await asyncio.to_thread(ssl.create_default_context)
        return self._tls_context

    def __repr__(self) -> str:
        return f"WebhookChannel(name={self.policy.name!r})"
