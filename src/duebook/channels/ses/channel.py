"""Amazon SES's API for e-mail, version 2.

https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from email.utils import formataddr
from typing import Any, Unpack

from ...domain.message import Email
from ...domain.outcome import Accepted, Outcome
from ...domain.text import NAME_CHARACTERS, checked
from ...errors import InvalidInput
from ...ports import SendContext
from ..capabilities import Capabilities
from ..http.answer import Answer
from ..http.api import EmailApi, Settings, checked_secret
from ..http.call import Call, json_body
from ..http.mailbox import Mailbox, recipient, sender
from ..http.meaning import Refusals
from ..http.tag import as_tag
from ..http.waiting import wanted_at
from ..own_headers import own_headers
from .sigv4 import Credentials, Scope, signed

TAG = "duebook"
UNVERIFIED = "MessageRejected: not verified"
OTHER = "any other error of SES's own"

_REGION = re.compile(r"[a-z0-9-]+")


class Ses(EmailApi):
    """Sends through Amazon SES, which has no idempotency keys, and whose messages cannot be looked up by ours.

    If a call fails, SES "returns an error message to your application and does not send the email"
    (https://docs.aws.amazon.com/ses/latest/dg/troubleshoot-error-messages.html). So every error that carries a type of
    SES's own is proof, a 5xx too; one without it comes from something on the way, and is Uncertain. SES writes the
    Message-ID itself.

    `configuration_set`: whose event destinations get our tag with each receipt.
    """

    capabilities = Capabilities(
        receipts="signature (SNS), with its certificate",
        server_errors="Retry if it is an error of SES's own, else Uncertain",
    )
    refusals = Refusals(
        page="https://docs.aws.amazon.com/ses/latest/APIReference-V2/API_SendEmail.html",
        codes={
            "BadRequestException": "message",
            "MessageRejected": "message",
            UNVERIFIED: "account",
            "AccountSuspendedException": "account",
            "MailFromDomainNotVerifiedException": "account",
            "NotFoundException": "account",
            "SendingPausedException": "account",
            "LimitExceededException": "throttle",
            "TooManyRequestsException": "throttle",
            "ThrottlingException": "throttle",
            OTHER: "unsent",
        },
        statuses={429: "throttle"},
    )

    def __init__(
        self,
        region: str,
        access_key_id: str,
        secret_access_key: str,
        *,
        session_token: str | None = None,
        configuration_set: str | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        if not _REGION.fullmatch(region):
            raise InvalidInput("region", f"{region!r} is not a region such as eu-west-1")
        self._scope = Scope(region, "ses")
        self._credentials = Credentials(
            checked_secret("access_key_id", access_key_id),
            checked_secret("secret_access_key", secret_access_key),
            None if session_token is None else checked_secret("session_token", session_token),
        )
        self._configuration_set = configuration_set
        if configuration_set is not None:
            checked("configuration_set", configuration_set, NAME_CHARACTERS)
        secrets = [secret for secret in (secret_access_key, session_token) if secret]
        settings.setdefault("base_url", f"https://email.{region}.amazonaws.com")
        super().__init__(secrets, **settings)

    def request(self, message: Email, context: SendContext) -> Call:
        body = {"Text": _utf8(message.text)}
        if message.html is not None:
            body["Html"] = _utf8(message.html)
        content: dict[str, Any] = {"Subject": _utf8(message.subject), "Body": body}
        if headers := own_headers(message):
            content["Headers"] = [{"Name": name, "Value": value} for name, value in headers]
        document: dict[str, Any] = {
            "FromEmailAddress": _encoded(sender(message, self.sender)),
            "Destination": {"ToAddresses": [_encoded(recipient(message))]},
            "Content": {"Simple": content},
            "EmailTags": [{"Name": TAG, "Value": as_tag(context.reference)}],
        }
        if message.reply_to is not None:
            document["ReplyToAddresses"] = [message.reply_to]
        if self._configuration_set is not None:
            document["ConfigurationSetName"] = self._configuration_set
        return self._signed(self.call("POST", "/v2/email/outbound-emails", {}, json_body(document)), context.now)

    def read(self, answer: Answer, now: datetime) -> Outcome:
        if answer.status == 200:
            return Accepted(answer.field("MessageId"))
        return self.refusals.outcome(answer, self._error(answer), wanted_at(answer, now))

    def _signed(self, call: Call, at: datetime) -> Call:
        headers = {"Host": call.url.netloc.decode("ascii"), "Content-Type": "application/json"}
        path = call.url.raw_path.decode("ascii")
        complete = signed(
            call.method, path, headers, call.body, credentials=self._credentials, scope=self._scope, at=at
        )
        return replace(call, headers={**call.headers, **complete})

    def _error(self, answer: Answer) -> str | None:
        """Return the type of an error, or None if it is not one of SES's own.

        Version 2 sends it in a header, which may go on with ":" and a URL.
        """
        kind = answer.headers.get("x-amzn-errortype", "").partition(":")[0]
        if not kind:
            return None
        if kind == "MessageRejected" and "not verified" in (answer.field("message") or ""):
            return UNVERIFIED
        return kind if kind in self.refusals.codes else OTHER


def _utf8(text: str) -> dict[str, str]:
    return {"Data": text, "Charset": "UTF-8"}


def _encoded(mailbox: Mailbox) -> str:
    """Return a mailbox in ASCII: SES wants names outside of it as encoded words (RFC 2047)."""
    return formataddr((mailbox.person or "", mailbox.address))
