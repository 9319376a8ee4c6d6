"""Web push: notifications to browsers, by the push service of each.

https://www.rfc-editor.org/rfc/rfc8030 (push), https://www.rfc-editor.org/rfc/rfc8291 (encryption),
https://www.rfc-editor.org/rfc/rfc8292 (VAPID)
"""

from __future__ import annotations

import asyncio
import inspect
import json
import ssl
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal, get_args

from ..domain.identity import short_key
from ..domain.message import Message, Push
from ..domain.outcome import Accepted, Outcome, Rejected, Retry, Uncertain
from ..domain.policy import ChannelPolicy, checked_choice, checked_span
from ..domain.text import RECIPIENT_CHARACTERS, checked, clean
from ..errors import InvalidInput, InvalidMessage, MissingExtra
from ..ports import SendContext
from .capabilities import Capabilities
from .deadline import Deadline
from .http.answer import Answer
from .http.call import Call, json_body
from .http.client import Client
from .http.hiding import hidden
from .http.waiting import wanted_at
from .webhook import guard

Urgency = Literal["very-low", "low", "normal", "high"]
OnGone = Callable[[str], Awaitable[None] | None]

PAYLOAD_BYTES = 3_993
"""RFC 8291 §4: what remains of the 4096 bytes that every push service takes."""

LONGEST_TTL = timedelta(days=28)
_TOPIC_CHARACTERS = 32

_GONE = frozenset({404, 410})
# https://learn.microsoft.com/windows/apps/windows-app-sdk/notifications/push-notifications/troubleshooting: 406
_WANTS_LESS = frozenset({406, 429})
_REFUSES_US = frozenset({401, 403})
_REFUSES_THE_MESSAGE = frozenset({400, 413})


class WebPush:
    """Sends a Push to one subscription of a browser. Its `to` is the subscription as `PushSubscription.toJSON()` gives
    it. The browser's service worker gets JSON with `title`, `body`, `data` and a `tag`.

    The `tag` is the same on every attempt: shown with it, a second copy takes the place of the first. Until one is
    delivered the push service does that itself, by the header Topic (RFC 8030 §5.4).

    404 and 410 say that the subscription is gone: Rejected, and `on_gone` is called with its endpoint, so that you
    remove it. It may be awaited; if it raises, the reason says so. Each subscription is on its own: 429 is Retry with
    the time asked for, and holds nobody else up. A refusal of our key (401, 403) is Retry, and 503 too, after which
    push services want to be asked again (https://mozilla-services.github.io/autopush-rs/http.html); other 5xx are
    Uncertain.

    `private_key`: the VAPID key, PKCS #8 in PEM. `contact`: an e-mail address for push services to write to. `ttl`: for
    how long a push service keeps a message for a browser that is away. `urgency`: by it a device that saves power
    decides. `allow_private`: also call addresses outside the public internet; leave it off, as browsers say where to
    call. `concurrency`: calls at once per process; `rate`: calls per second over all workers. `send_seconds` bounds an
    attempt, `connect_seconds` its connecting. `tls_context`: for a private certificate authority.

    Raises InvalidInput for settings that cannot work and MissingExtra without httpx2 or webpush.
    """

    capabilities = Capabilities(server_errors="Retry if it is 503, else Uncertain")

    def __init__(
        self,
        private_key: str,
        *,
        contact: str,
        on_gone: OnGone | None = None,
        ttl: timedelta = timedelta(days=1),
        urgency: Urgency = "normal",
        name: str = "push",
        allow_private: bool = False,
        concurrency: int = 20,
        rate: float | None = None,
        send_seconds: float = 30.0,
        connect_seconds: float = 5.0,
        tls_context: ssl.SSLContext | None = None,
    ) -> None:
        if find_spec("webpush") is None:
            raise MissingExtra("web push", "webpush")
        self._client = Client(
            extra="webpush", connect_seconds=connect_seconds, send_seconds=send_seconds, tls_context=tls_context
        )
        self.policy = ChannelPolicy(name, None, concurrency, rate, send_seconds, breaker=0)
        checked_choice("urgency", urgency, get_args(Urgency))
        self._urgency = urgency
        self._sealer = _sealer(private_key, checked("contact", contact, RECIPIENT_CHARACTERS), _checked_ttl(ttl))
        self._on_gone = on_gone
        self._approve = partial(guard.approve, allow_private=allow_private)

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Push):
            return Rejected(f"the channel {self.policy.name} takes Push, not {type(message).__name__}")
        try:
            endpoint = _endpoint(message.to)
            call = self._request(message, endpoint, short_key(context.idempotency_key)[:_TOPIC_CHARACTERS])
            answer = await self._client.call(call, deadline, self._approve)
        except (InvalidMessage, guard.Forbidden) as error:
            return Rejected(clean(str(error)))
        if not isinstance(answer, Answer):
            return answer
        if answer.status in _GONE:
            return Rejected(await self._tell_gone(endpoint, answer.status, deadline))
        return judge(hidden(answer, [call.url.raw_path]), context.now)

    async def close(self) -> None:
        """Nothing to close: a connection lives as long as its attempt."""

    def _request(self, message: Push, endpoint: str, tag: str) -> Call:
        url = guard.parse(endpoint)
        if url.scheme != "https":
            raise InvalidMessage("to", "names an endpoint that is not https://")
        payload = json_body({"title": message.title, "body": message.body, "data": message.data, "tag": tag})
        if len(payload) > PAYLOAD_BYTES:
            raise InvalidMessage("body", f"makes a push of {len(payload):,} bytes; the limit is {PAYLOAD_BYTES:,}")
        headers, sealed = self._seal(payload, message.to)
        plain = {"User-Agent": "duebook", "Accept-Encoding": "identity", "Content-Type": "application/octet-stream"}
        return Call("POST", url, {**plain, **headers, "Urgency": self._urgency, "Topic": tag}, sealed)

    def _seal(self, payload: bytes, subscription: str) -> tuple[dict[str, str], bytes]:
        """Return the headers TTL, Content-Encoding and Authorization, and the payload as only this browser reads it."""
        from webpush import WebPushSubscription

        try:
            sealed = self._sealer.get(payload, WebPushSubscription.model_validate_json(subscription))
        except ValueError:
            raise InvalidMessage("to", "holds keys that are not those of a subscription") from None
        return dict(sealed.headers), sealed.encrypted

    async def _tell_gone(self, endpoint: str, status: int, deadline: Deadline) -> str:
        reason = f"{status}: the subscription is gone; remove it"
        if self._on_gone is None:
            return reason
        try:
            async with asyncio.timeout_at(deadline.at):
                told = self._on_gone(endpoint)
                if inspect.isawaitable(told):
                    await told
        except Exception as error:  # noqa: BLE001  what is known of the message stays known
            return f"{reason} (on_gone raised {type(error).__name__})"
        return reason

    def __repr__(self) -> str:
        return f"WebPush(name={self.policy.name!r})"


def judge(answer: Answer, now: datetime) -> Outcome:
    """Return what a push service's answer says about a message, where the subscription is not gone."""
    status, reason = answer.status, str(answer)
    if 200 <= status < 300:
        return Accepted()
    if status in _WANTS_LESS or status == 503:
        asked = wanted_at(answer, now)
        return Retry(reason, asked - now if asked else None)
    if status in _REFUSES_US:
        return Retry(f"{reason} (it refuses our key, not the message)")
    if status in _REFUSES_THE_MESSAGE:
        return Rejected(reason)
    return Uncertain(reason, phase="reply")


def _endpoint(subscription: str) -> str:
    try:
        endpoint = json.loads(subscription)["endpoint"]
    except (ValueError, TypeError, LookupError, RecursionError):
        endpoint = None
    if not isinstance(endpoint, str):
        raise InvalidMessage("to", "is not the JSON of a subscription, as PushSubscription.toJSON() gives it")
    return endpoint


def _checked_ttl(ttl: timedelta) -> int:
    checked_span("ttl", ttl, zero=True)
    if ttl > LONGEST_TTL:
        raise InvalidInput("ttl", f"is longer than the {LONGEST_TTL.days} days that push services keep a message")
    return int(ttl.total_seconds())


def _sealer(private_key: str, contact: str, ttl_seconds: int) -> Any:
    """Return what encrypts and signs; raises InvalidInput, without the key in it, for a key that cannot."""
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key
    from webpush import WebPush as Sealer

    try:
        key = load_pem_private_key(private_key.encode(), password=None)
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
        raise InvalidInput("private_key", "must be a key on the curve P-256, PKCS #8 in PEM and without a password")
    public_key = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    return Sealer(private_key.encode(), public_key, subscriber=contact, ttl=ttl_seconds)
