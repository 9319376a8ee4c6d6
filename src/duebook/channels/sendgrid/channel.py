"""SendGrid's API for e-mail.

https://www.twilio.com/docs/sendgrid/api-reference/mail-send/mail-send
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Unpack

from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome
from ...ports import SendContext
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import EmailApi, Settings, checked_secret
from ..http.call import Call, json_body
from ..http.mailbox import Mailbox, recipient, sender
from ..http.meaning import Refusals
from ..http.waiting import wanted_at
from ..own_headers import own_headers

ARGUMENT = "duebook"


class SendGrid(EmailApi):
    """Sends through SendGrid, which has no idempotency keys.

    Its logs can be searched by recipient and subject, which two messages may share, and by its own id, but not by
    anything of ours. So nothing is looked up, and receipts settle a doubt. An error names the field it is about; one
    about the sender refuses us.

    `api_key`: with access to Mail Send. For the EU: `base_url="https://api.eu.sendgrid.com"`.
    """

    capabilities = Capabilities(
        receipts="signature (ECDSA)",
        server_errors="503 is Retry: the API is not available. Others are Uncertain",
    )
    refusals = Refusals(
        page="https://www.twilio.com/docs/sendgrid/api-reference/how-to-use-the-sendgrid-v3-api/errors",
        codes={"from": "account", "from.email": "account"},
        statuses={
            400: "message",
            401: "account",
            403: "account",
            404: "account",
            405: "account",
            406: "account",
            413: "message",
            415: "message",
            429: "throttle",
            451: "account",
            503: "unsent",
        },
    )

    def __init__(self, api_key: str, **settings: Unpack[Settings]) -> None:
        self._authorization = {"Authorization": f"Bearer {checked_secret('api_key', api_key)}"}
        settings.setdefault("base_url", "https://api.sendgrid.com")
        super().__init__([api_key], **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        # The order is prescribed: text/plain first.
        content = [{"type": "text/plain", "value": message.text}]
        if message.html is not None:
            content.append({"type": "text/html", "value": message.html})
        document: dict[str, Any] = {
            "personalizations": [{"to": [recipient(message).fields()]}],
            "from": sender(message, self.sender).fields(),
            "subject": message.subject,
            "content": content,
            "headers": {**dict(own_headers(message)), "Message-ID": context.message_id},
            "custom_args": {ARGUMENT: context.reference},
        }
        if message.reply_to is not None:
            document["reply_to"] = Mailbox(message.reply_to).fields()
        fields = {**self._authorization, "Content-Type": "application/json"}
        return self.call("POST", "/v3/mail/send", fields, json_body(document))

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 202:
            return Accepted(answer.headers.get("x-message-id"))
        return self.refusals.outcome(answer, _field(answer), wanted_at(answer, now, epoch="x-ratelimit-reset"))


def _field(answer: Answer) -> str | None:
    """Return the field that the first error is about."""
    match answer.json():
        case {"errors": [{"field": str(field)}, *_]}:
            return field
    return None
