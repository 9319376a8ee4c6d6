"""Twilio's API for text messages, which other services offer too.

https://www.twilio.com/docs/messaging/api/message-resource
"""

from __future__ import annotations

import base64
import re
import ssl
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote, urlencode

from ...domain.message import Message, Sms
from ...domain.outcome import Accepted, Outcome, Rejected, Uncertain
from ...domain.policy import ChannelPolicy
from ...domain.text import NAME_CHARACTERS, checked
from ...errors import InvalidInput
from ...ports import Found, SendContext, Sought
from ..capabilities import Capabilities
from ..deadline import Deadline
from ..http.answer import Answer
from ..http.api import LOOK_UP_SECONDS, checked_secret
from ..http.call import Call
from ..http.client import Client
from ..http.endpoint import checked_base_url, checked_endpoint
from ..http.exchange import Failure
from ..http.hiding import hidden
from ..http.meaning import Refusals
from ..http.waiting import wanted_at

PARAMETER = "duebook"

_SID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class TwilioSms:
    """Sends an Sms by one HTTPS call. Twilio has no idempotency keys, so an attempt without an answer stays uncertain
    until a receipt speaks.

    An invalid number, or one that has opted out (21610), is Rejected. Trouble with the account or the sender is Retry:
    the message is fine. A full queue (21611) and 429, which "aren't processed and are safe to retry"
    (https://www.twilio.com/docs/api/errors/20429), throttle the channel. Nothing is documented of a 5xx: Uncertain.

    `account_sid`, `auth_token`: of the account. `sender`: the number or name that phones show; or `messaging_service`,
    whose senders are used; one of the two. `status_url`: where Twilio posts what becomes of a message; our reference is
    added, so that a receipt finds its message even where no answer came. `base_url`: of another service, or another
    address of the same, https unless it is on this machine. `concurrency`: calls at once per process; `rate`: calls per
    second over all workers; `pause`: how long a throttle that names no time holds the channel. `send_seconds` bounds an
    attempt, `connect_seconds` its connecting. `tls_context`: for a private certificate authority.

    Raises InvalidInput for settings that cannot work and MissingExtra without httpx2.
    """

    capabilities = Capabilities(
        looked_up_by="the provider's id",
        receipts="signature (HMAC)",
        server_errors="Uncertain",
    )
    refusals = Refusals(
        page="https://www.twilio.com/docs/api/errors",
        codes={
            "21212": "account",
            "21219": "account",
            "21408": "account",
            "21603": "account",
            "21606": "account",
            "21608": "account",
            "21609": "account",
            "21611": "throttle",
            "21659": "account",
            "21660": "account",
            "21661": "account",
            "21701": "account",
            "21703": "account",
            "21704": "account",
        },
        statuses={
            400: "message",
            401: "account",
            403: "account",
            404: "account",
            405: "account",
            413: "message",
            429: "throttle",
        },
    )

    def __init__(
        self,
        account_sid: str,
        auth_token: str,
        *,
        sender: str | None = None,
        messaging_service: str | None = None,
        status_url: str | None = None,
        name: str = "sms",
        base_url: str = "https://api.twilio.com",
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
        self.policy = ChannelPolicy(name, None, concurrency, rate, send_seconds, pause)
        self._sender = _checked_sender(sender, messaging_service)
        self._status_url = None if status_url is None else str(checked_endpoint("status_url", status_url))
        self._base_url = checked_base_url(base_url)
        if not _SID.fullmatch(account_sid):
            raise InvalidInput("account_sid", "must be the account's SID, such as AC…")
        self._account_sid = account_sid
        basic = base64.b64encode(f"{account_sid}:{checked_secret('auth_token', auth_token)}".encode()).decode("ascii")
        self._authorization = {"Authorization": f"Basic {basic}"}
        self._secrets = [auth_token.encode(), basic.encode()]

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Sms):
            return Rejected(f"the channel {self.policy.name} takes Sms, not {type(message).__name__}")
        answer = await self._ask(self._request(message, context.reference), deadline)
        return self.read(answer, context.now) if isinstance(answer, Answer) else answer

    async def look_up(self, sought: Sought) -> Found:
        """https://www.twilio.com/docs/messaging/api/message-resource#fetch-a-message-resource"""
        if sought.provider_id is None:
            return Found("unknown", detail="the provider finds a message by its own id, which is not known")
        path = f"/Messages/{quote(sought.provider_id, safe='')}.json"
        answer = await self._ask(self._call("GET", path), Deadline(LOOK_UP_SECONDS))
        if not isinstance(answer, Answer):
            return Found("unknown", detail=answer.reason)
        sid = answer.field("sid")
        if answer.status != 200 or sid is None:
            return Found("unknown", detail=str(answer))
        return Found("accepted", sid)

    async def close(self) -> None:
        """Nothing to close: a connection lives as long as its attempt."""

    def read(self, answer: Answer, now: datetime) -> Outcome:
        """Return what an answer to a message says."""
        if answer.status in (200, 201):
            sid = answer.field("sid")
            return Accepted(sid) if sid else Uncertain(f"{answer} (without a sid)", phase="reply")
        return self.refusals.outcome(answer, answer.field("code"), wanted_at(answer, now))

    def _request(self, message: Sms, reference: str) -> Call:
        form = {"To": message.to, "Body": message.text, **self._sender}
        if self._status_url is not None:
            form["StatusCallback"] = _referring(self._status_url, reference)
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        return self._call("POST", "/Messages.json", headers, urlencode(form).encode("ascii"))

    def _call(self, method: str, path: str, headers: Mapping[str, str] | None = None, body: bytes = b"") -> Call:
        plain = {"User-Agent": "duebook", "Accept": "application/json", "Accept-Encoding": "identity"}
        whole = f"{self._base_url.path.rstrip('/')}/2010-04-01/Accounts/{self._account_sid}{path}"
        url = self._base_url.copy_with(raw_path=whole.encode("ascii"))
        return Call(method, url, {**plain, **self._authorization, **(headers or {})}, body)

    async def _ask(self, call: Call, deadline: Deadline) -> Answer | Failure:
        answer = await self._client.call(call, deadline)
        return hidden(answer, self._secrets) if isinstance(answer, Answer) else answer

    def __repr__(self) -> str:
        return f"TwilioSms(name={self.policy.name!r})"


def _checked_sender(sender: str | None, messaging_service: str | None) -> dict[str, str]:
    if sender is not None and messaging_service is None:
        return {"From": checked("sender", sender, NAME_CHARACTERS)}
    if messaging_service is not None and sender is None:
        return {"MessagingServiceSid": checked("messaging_service", messaging_service, NAME_CHARACTERS)}
    raise InvalidInput("sender", "state a sender or a messaging_service, and not both")


def _referring(url: str, reference: str) -> str:
    """Return a URL that carries a reference, if there is one, back to us."""
    if not reference:
        return url
    return f"{url}{'&' if '?' in url else '?'}{PARAMETER}={quote(reference, safe='')}"
