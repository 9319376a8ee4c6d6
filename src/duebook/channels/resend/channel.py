"""Resend's API for e-mail.

https://resend.com/docs/api-reference/emails/send-email
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Unpack
from urllib.parse import quote

from ...domain.identity import short_key
from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome
from ...ports import SendContext, Sought
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import SearchableApi, Settings, checked_secret
from ..http.call import Call, json_body
from ..http.mailbox import recipient, sender
from ..http.meaning import Refusals
from ..http.tag import as_tag
from ..http.waiting import wanted_at
from ..own_headers import own_headers

TAG = "duebook"


class Resend(SearchableApi):
    """Sends through Resend. Its idempotency keys make a repeat within 24 hours harmless.

    A 409 says that Resend has met the key: with another body, or while the first request is still under way. Neither
    refuses anything, so both are Uncertain. Resend writes the Message-ID itself. Its look-up takes nothing but its own
    id, so it can answer only where a receipt has told that id.

    `api_key`: with sending access; looking up needs full access.
    """

    capabilities = Capabilities(
        # https://resend.com/docs/dashboard/emails/idempotency-keys
        key_window=timedelta(hours=24),
        key_characters=256,
        looked_up_by="the provider's id",
        receipts="signature (Svix)",
        server_errors="Uncertain",
    )
    refusals = Refusals(
        page="https://resend.com/docs/api-reference/errors",
        codes={
            "invalid_from_address": "account",
            "invalid_access": "account",
            "restricted_api_key": "account",
            "invalid_idempotent_request": "unknown",
            "concurrent_idempotent_requests": "unknown",
        },
        statuses={
            400: "message",
            401: "account",
            403: "account",
            404: "account",
            405: "account",
            422: "message",
            429: "throttle",
            451: "account",
        },
    )

    def __init__(self, api_key: str, **settings: Unpack[Settings]) -> None:
        self._authorization = {"Authorization": f"Bearer {checked_secret('api_key', api_key)}"}
        settings.setdefault("base_url", "https://api.resend.com")
        super().__init__([api_key], **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        document: dict[str, Any] = {
            "from": str(sender(message, self.sender)),
            "to": [str(recipient(message))],
            "subject": message.subject,
            "text": message.text,
            "tags": [{"name": TAG, "value": as_tag(context.reference)}],
        }
        if message.html is not None:
            document["html"] = message.html
        if message.reply_to is not None:
            document["reply_to"] = message.reply_to
        if headers := own_headers(message):
            document["headers"] = dict(headers)
        fields = {
            **self._authorization,
            "Content-Type": "application/json",
            "Idempotency-Key": short_key(context.idempotency_key),
        }
        return self.call("POST", "/emails", fields, json_body(document))

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 200:
            return Accepted(answer.field("id"))
        # https://resend.com/docs/api-reference/rate-limit
        return self.refusals.outcome(answer, answer.field("name"), wanted_at(answer, now, seconds="ratelimit-reset"))

    def question(self, sought: Sought) -> Call | None:
        """https://resend.com/docs/api-reference/emails/retrieve-email"""
        if sought.provider_id is None:
            return None
        return self.call("GET", f"/emails/{quote(sought.provider_id, safe='')}", self._authorization)

    def found(self, answer: Answer, sought: Sought) -> str | None:
        return sought.provider_id if answer.field("id") == sought.provider_id else None
