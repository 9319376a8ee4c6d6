"""Postmark's API for e-mail.

https://postmarkapp.com/developer/api/email-api
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Unpack
from urllib.parse import urlencode

from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome
from ...domain.text import NAME_CHARACTERS, checked
from ...ports import SendContext, Sought
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import SearchableApi, Settings, checked_secret
from ..http.call import Call, json_body
from ..http.mailbox import recipient, sender
from ..http.meaning import Refusals
from ..http.waiting import wanted_at
from ..own_headers import own_headers

METADATA = "duebook"
OF_THE_SENDER = "300 about From"


class Postmark(SearchableApi):
    """Sends through Postmark, which has no idempotency keys. A message it has taken is found by our metadata.

    `X-PM-KeepID` makes it keep our Message-ID. Error 300 stands for many faults in a request; where its words are about
    the sender it refuses us, and else the message. Of its 500 it says that the message is lost "in most cases", which
    is not all. `server_token`: of the server. `stream`: the message stream.
    """

    capabilities = Capabilities(
        # https://postmarkapp.com/support/article/1125-custom-metadata-faq
        looked_up_by="our metadata",
        receipts="password (HTTP basic authentication)",
        server_errors="Retry if it says maintenance (error 100), else Uncertain",
    )
    refusals = Refusals(
        page="https://postmarkapp.com/developer/api/overview",
        codes={
            "10": "account",
            "100": "unsent",
            OF_THE_SENDER: "account",
            "400": "account",
            "401": "account",
            "405": "account",
            "412": "account",
            "413": "account",
            "429": "throttle",
            "1235": "account",
        },
        statuses={
            401: "account",
            403: "account",
            404: "account",
            413: "message",
            415: "message",
            422: "message",
            429: "throttle",
        },
    )

    def __init__(self, server_token: str, *, stream: str = "outbound", **settings: Unpack[Settings]) -> None:
        self._authorization = {"X-Postmark-Server-Token": checked_secret("server_token", server_token)}
        self._stream = checked("stream", stream, NAME_CHARACTERS)
        settings.setdefault("base_url", "https://api.postmarkapp.com")
        super().__init__([server_token], **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        headers = [*own_headers(message), ("Message-ID", context.message_id), ("X-PM-KeepID", "true")]
        document: dict[str, Any] = {
            "From": str(sender(message, self.sender)),
            "To": str(recipient(message)),
            "Subject": message.subject,
            "TextBody": message.text,
            "Headers": [{"Name": name, "Value": value} for name, value in headers],
            "Metadata": {METADATA: context.reference},
            "MessageStream": self._stream,
        }
        if message.html is not None:
            document["HtmlBody"] = message.html
        if message.reply_to is not None:
            document["ReplyTo"] = message.reply_to
        fields = {**self._authorization, "Content-Type": "application/json"}
        return self.call("POST", "/email", fields, json_body(document))

    def read(self, answer: Answer, now: datetime) -> Outcome:
        code = answer.field("ErrorCode")
        if answer.status == 200 and code in (None, "0"):
            return Accepted(answer.field("MessageID"))
        if code == "300" and "'from'" in (answer.field("Message") or "").lower():
            code = OF_THE_SENDER
        return self.refusals.outcome(answer, code, wanted_at(answer, now))

    def question(self, sought: Sought) -> Call:
        """https://postmarkapp.com/developer/api/messages-api"""
        query = {"count": 1, "offset": 0, f"metadata_{METADATA}": sought.reference}
        return self.call("GET", f"/messages/outbound?{urlencode(query)}", self._authorization)

    def found(self, answer: Answer, sought: Sought) -> str | None:
        match answer.json():
            case {"Messages": [{"MessageID": str(found), "Metadata": {"duebook": sought.reference}}, *_]}:
                return found
        return None
