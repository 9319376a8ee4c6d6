"""Mailgun's API for e-mail.

https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/messages
"""

from __future__ import annotations

import base64
import re
from datetime import datetime, timedelta
from typing import Unpack
from urllib.parse import urlencode

from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome, Uncertain
from ...errors import InvalidInput
from ...ports import SendContext, Sought
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import SearchableApi, Settings, checked_secret
from ..http.call import Call
from ..http.mailbox import recipient, sender
from ..http.meaning import Refusals
from ..http.waiting import wanted_at
from ..own_headers import own_headers

VARIABLE = "duebook"

_DOMAIN = re.compile(r"[A-Za-z0-9.-]+")
_CLOCKS = timedelta(minutes=5)


class Mailgun(SearchableApi):
    """Sends through Mailgun, which has no idempotency keys. A message it has taken is found by our Message-ID.

    The events that are searched are kept for three days at least. Mailgun answers 200 to calls of no endpoint as well,
    so a 200 without an id is Uncertain.

    `api_key`: a sending key, and the account's for looking up. `domain`: the sending domain. For the EU:
    `base_url="https://api.eu.mailgun.net"`.
    """

    capabilities = Capabilities(
        # https://documentation.mailgun.com/docs/mailgun/api-reference/send/mailgun/events
        looked_up_by="our Message-ID",
        receipts="signature (HMAC)",
        server_errors="Uncertain",
    )
    refusals = Refusals(
        page="https://documentation.mailgun.com/docs/mailgun/quickstart-guide/responses",
        codes={},
        statuses={
            400: "message",
            401: "account",
            402: "account",
            403: "account",
            404: "account",
            413: "message",
            429: "throttle",
        },
    )

    def __init__(self, api_key: str, domain: str, **settings: Unpack[Settings]) -> None:
        if not _DOMAIN.fullmatch(domain):
            raise InvalidInput("domain", f"{domain!r} is not a domain such as mg.example.com")
        key = base64.b64encode(f"api:{checked_secret('api_key', api_key)}".encode("ascii")).decode("ascii")
        self._authorization = {"Authorization": f"Basic {key}"}
        self._domain = domain
        settings.setdefault("base_url", "https://api.mailgun.net")
        super().__init__([api_key, key], **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        form = {
            "from": str(sender(message, self.sender)),
            "to": str(recipient(message)),
            "subject": message.subject,
            "text": message.text,
            "h:Message-Id": context.message_id,
            f"v:{VARIABLE}": context.reference,
            **{f"h:{name}": value for name, value in own_headers(message)},
        }
        if message.html is not None:
            form["html"] = message.html
        if message.reply_to is not None:
            form["h:Reply-To"] = message.reply_to
        fields = {**self._authorization, "Content-Type": "application/x-www-form-urlencoded"}
        return self.call("POST", f"/v3/{self._domain}/messages", fields, urlencode(form).encode("ascii"))

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 200:
            id = answer.field("id")
            return Accepted(id.strip("<>")) if id else Uncertain(f"{answer} (without an id)", phase="reply")
        return self.refusals.outcome(answer, until=wanted_at(answer, now))

    def question(self, sought: Sought) -> Call:
        query = {
            "message-id": sought.message_id.strip("<>"),
            "begin": int((sought.begun_at - _CLOCKS).timestamp()),
            "ascending": "yes",
            "limit": 1,
        }
        return self.call("GET", f"/v3/{self._domain}/events?{urlencode(query)}", self._authorization)

    def found(self, answer: Answer, sought: Sought) -> str | None:
        ours = sought.message_id.strip("<>")
        match answer.json():
            case {"items": [{"message": {"headers": {"message-id": str(found)}}}, *_]} if found == ours:
                return found
        return None
