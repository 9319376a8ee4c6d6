"""The six e-mail APIs, each in front of a double that answers as its documentation says."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

from duebook.channels.brevo import Brevo
from duebook.channels.http.api import EmailApi
from duebook.channels.mailgun import Mailgun
from duebook.channels.postmark import Postmark
from duebook.channels.resend import Resend
from duebook.channels.sendgrid import SendGrid
from duebook.channels.ses import Ses
from duebook.domain.message import Message
from duebook.ports import Sought
from duebook.testing import ChannelContract, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, HttpRequest, Reply

from .support import NOW, context, email, webhook

SECRET = "s3cret-key"
SENDER = "renewals@example.com"


@dataclass(frozen=True)
class Provider:
    """`build`: makes the channel from a base URL. `success`, `refusal`: how the provider takes a message, and refuses
    one for good. `mark`: that by which a request could be told to be a repeat, if there
    is anything."""

    build: Callable[..., EmailApi]
    success: Reply
    refusal: Reply
    mark: Callable[[HttpRequest], str | None]


PROVIDERS = {
    "resend": Provider(
        lambda **settings: Resend(SECRET, sender=SENDER, **settings),
        Reply(200, {"id": "49a3999c"}),
        Reply(422, {"statusCode": 422, "name": "missing_required_field", "message": "Missing `to` field."}),
        lambda request: request.headers["idempotency-key"],
    ),
    "postmark": Provider(
        lambda **settings: Postmark(SECRET, sender=SENDER, **settings),
        Reply(200, {"ErrorCode": 0, "Message": "OK", "MessageID": "b7bc2f4a"}),
        Reply(422, {"ErrorCode": 406, "Message": "You tried to send to an inactive recipient."}),
        lambda request: {one["Name"]: one["Value"] for one in request.json()["Headers"]}["Message-ID"],
    ),
    "sendgrid": Provider(
        lambda **settings: SendGrid(SECRET, sender=SENDER, **settings),
        Reply(202, headers={"X-Message-Id": "LRzXl_NHStOGhQ4kofSm_A"}),
        Reply(400, {"errors": [{"field": "content", "message": "The content value must be a string."}]}),
        lambda request: str(request.json()["headers"]["Message-ID"]),
    ),
    "mailgun": Provider(
        lambda **settings: Mailgun(SECRET, "mg.example.com", sender=SENDER, **settings),
        Reply(200, {"id": "<20260203.1@mg.example.com>", "message": "Queued. Thank you."}),
        Reply(400, {"message": "'to' parameter is not a valid address. please check documentation"}),
        lambda request: request.form()["h:Message-Id"],
    ),
    "ses": Provider(
        lambda **settings: Ses("eu-west-1", "AKIDEXAMPLE", SECRET, sender=SENDER, **settings),
        Reply(200, {"MessageId": "EXAMPLE7c191be45"}),
        Reply(400, {"message": "Illegal address"}, {"x-amzn-ErrorType": "BadRequestException"}),
        lambda request: None,
    ),
    "brevo": Provider(
        lambda **settings: Brevo(SECRET, sender=SENDER, **settings),
        Reply(201, {"messageId": "<201798300811.5787683@relay.example.com>"}),
        Reply(400, {"code": "invalid_parameter", "message": "Invalid email address"}),
        lambda request: str(request.json()["headers"]["idempotencyKey"]),
    ),
}


@asynccontextmanager
async def standing(provider: Provider, *answers: HttpAnswer, **settings: Any) -> AsyncIterator[tuple[Any, HttpDouble]]:
    """Give a channel and the double it talks to. The first requests get these answers, all others are taken."""
    async with HttpDouble(lambda request: provider.success) as double:
        double.next(*answers)
        yield provider.build(base_url=double.url, **settings), double


async def asked(provider: Provider, answer: HttpAnswer, **changes: Any) -> tuple[Any, HttpRequest]:
    """Send one message and return the outcome with the request."""
    async with standing(provider, answer) as (channel, double):
        outcome = await channel.send(email(**changes), context())
        return outcome, double.requests[0]


def sought(**changes: Any) -> Sought:
    """Return the attempt that `support.context()` makes, as a provider is asked about it."""
    made = context()
    values = {"reference": made.reference, "provider_id": None, "begun_at": NOW, "now": NOW, **changes}
    return Sought(email(), made.number, made.idempotency_key, made.message_id, **values)


class ProviderContract(ChannelContract):
    """The contract of a channel, for one of the providers."""

    provider: ClassVar[Provider]

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        first: dict[Behaviour, list[HttpAnswer]] = {
            "accepts": [], "refuses": [self.provider.refusal], "breaks": [Drop(take=True)], "hangs": [Hang(take=True)],
        }  # fmt: skip
        async with standing(self.provider, *first[provider]) as (channel, double):
            yield Rig(
                channel,
                lambda: [self.provider.mark(request) for request in double.requests],
                lambda: double.until(lambda: double.requests),
            )

    def foreign(self) -> Message:
        return webhook()
