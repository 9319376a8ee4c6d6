"""Brevo's API for e-mail.

https://developers.brevo.com/reference/send-transac-email
"""

from __future__ import annotations

import json
import uuid
from datetime import datetime, timedelta
from typing import Any, Unpack
from urllib.parse import urlencode

from ...domain.identity import short_key
from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome
from ...ports import SendContext, Sought
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import SearchableApi, Settings, checked_secret
from ..http.call import Call, json_body
from ..http.mailbox import Mailbox, recipient, sender
from ..http.meaning import Refusals
from ..http.waiting import wanted_at
from ..own_headers import own_headers

OF_THE_SENDER = "invalid_parameter about sender"


class Brevo(SearchableApi):
    """Sends through Brevo. Its idempotency keys make a repeat within a quarter of an hour harmless.

    The announcement says 15 minutes and a later page 30; the shorter is kept. A key must be a UUID, so ours is made
    into one. `duplicate_parameter` says that Brevo has met the key, which refuses nothing. A message it has taken is
    found by a tag with our reference. Brevo writes the Message-ID itself.

    `api_key`: of the REST API, not of SMTP.
    """

    capabilities = Capabilities(
        # https://developers.brevo.com/changelog/email-api-now-supports-idempotency
        # https://developers.brevo.com/docs/heterogenous-versions-batch-emails
        key_window=timedelta(minutes=15),
        key_characters=36,
        looked_up_by="our metadata",
        receipts="token or password",
        server_errors="Uncertain",
    )
    refusals = Refusals(
        page="https://developers.brevo.com/docs/how-it-works",
        codes={
            OF_THE_SENDER: "account",
            "duplicate_parameter": "unknown",
            "not_enough_credits": "account",
            "account_under_validation": "account",
            "permission_denied": "account",
            "unauthorized": "account",
        },
        statuses={
            400: "message",
            401: "account",
            402: "account",
            403: "account",
            404: "account",
            405: "account",
            413: "message",
            429: "throttle",
        },
    )

    def __init__(self, api_key: str, **settings: Unpack[Settings]) -> None:
        self._authorization = {"api-key": checked_secret("api_key", api_key)}
        settings.setdefault("base_url", "https://api.brevo.com")
        super().__init__([api_key], **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        document: dict[str, Any] = {
            "sender": sender(message, self.sender).fields(),
            "to": [recipient(message).fields()],
            "subject": message.subject,
            "textContent": message.text,
            "headers": {**dict(own_headers(message)), "idempotencyKey": as_uuid(short_key(context.idempotency_key))},
            "tags": [context.reference],
        }
        if message.html is not None:
            document["htmlContent"] = message.html
        if message.reply_to is not None:
            document["replyTo"] = Mailbox(message.reply_to).fields()
        fields = {**self._authorization, "Content-Type": "application/json"}
        return self.call("POST", "/v3/smtp/email", fields, json_body(document))

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 201:
            id = answer.field("messageId")
            return Accepted(id.strip("<>") if id else None)
        code = answer.field("code")
        if code == "invalid_parameter" and "sender" in (answer.field("message") or "").lower():
            code = OF_THE_SENDER
        return self.refusals.outcome(answer, code, wanted_at(answer, now, seconds="x-sib-ratelimit-reset"))

    def question(self, sought: Sought) -> Call:
        """https://developers.brevo.com/reference/get-email-event-report"""
        query = {"tags": json.dumps([sought.reference]), "limit": 1}
        return self.call("GET", f"/v3/smtp/statistics/events?{urlencode(query)}", self._authorization)

    def found(self, answer: Answer, sought: Sought) -> str | None:
        match answer.json():
            case {"events": [{"messageId": str(found), "tag": sought.reference}, *_]}:
                return found.strip("<>")
        return None


def as_uuid(key: str) -> str:
    """Return the UUID whose digits are the first of a short key."""
    return str(uuid.UUID(key[:32], version=4))
