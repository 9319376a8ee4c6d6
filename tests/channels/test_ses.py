"""Amazon SES: the signed request, what its errors mean, and receipts through SNS."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from duebook.channels.ses import Ses
from duebook.channels.ses.receipts import certificate_url, parse
from duebook.channels.ses.sigv4 import Credentials, Scope, signed
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import LooksUp
from duebook.testing.doubles import HttpDouble, Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, context, email, word

HERE = PROVIDERS["ses"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Änn", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("EXAMPLE7c191be45")
    assert (request.method, request.target) == ("POST", "/v2/email/outbound-emails")
    assert request.json() == {
        "FromEmailAddress": SENDER,
        "Destination": {"ToAddresses": ["=?utf-8?q?=C3=84nn?= <ann@example.net>"]},
        "ReplyToAddresses": ["help@example.com"],
        "Content": {
            "Simple": {
                "Subject": {"Data": "Renewal", "Charset": "UTF-8"},
                "Body": {
                    "Text": {"Data": "Your plan renews on Monday.\n", "Charset": "UTF-8"},
                    "Html": {"Data": "<p>Monday</p>", "Charset": "UTF-8"},
                },
                "Headers": [{"Name": "X-A", "Value": "1"}],
            }
        },
        "EmailTags": [{"Name": "duebook", "Value": REFERENCE.replace(".", "-")}],
    }


async def test_the_signature_covers_what_was_sent() -> None:
    async with HttpDouble(lambda request: HERE.success) as double:
        channel = Ses(
            "eu-west-1", "AKIDEXAMPLE", SECRET, session_token="t0ken", configuration_set="receipts", sender=SENDER,
            base_url=double.url,
        )  # fmt: skip
        await channel.send(email(), context())
        [request] = double.requests
        assert request.json()["ConfigurationSetName"] == "receipts"
        sent = {"Host": f"127.0.0.1:{double.port}", "Content-Type": "application/json"}
        again = signed(
            "POST", request.target, sent, request.body,
            credentials=Credentials("AKIDEXAMPLE", SECRET, "t0ken"), scope=Scope("eu-west-1", "ses"), at=NOW,
        )  # fmt: skip
        assert {name: request.headers[name.lower()] for name in again} == again
        assert request.headers["x-amz-security-token"] == "t0ken"


@pytest.mark.parametrize(
    ("method", "headers", "body", "signature"),
    [
        ("GET", {}, b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
        ("POST", {}, b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
        (
            "POST",
            {"Content-Type": "application/x-www-form-urlencoded"},
            b"Param1=value1",
            "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
        ),
    ],
    ids=["get-vanilla", "post-vanilla", "post-x-www-form-urlencoded"],
)
def test_the_vectors_of_signature_version_4(method: str, headers: dict[str, str], body: bytes, signature: str) -> None:
    complete = signed(
        method, "/", {"Host": "example.amazonaws.com", **headers}, body,
        credentials=Credentials("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        scope=Scope("us-east-1", "service"), at=datetime(2015, 8, 30, 12, 36, tzinfo=UTC),
    )  # fmt: skip
    names = ";".join(sorted(["host", "x-amz-date", *(name.lower() for name in headers)]))
    assert complete["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        f"SignedHeaders={names}, Signature={signature}"
    )


def test_credentials_print_without_their_secrets() -> None:
    assert repr(Credentials("AKIDEXAMPLE", SECRET, "t0ken")) == "Credentials(access_key_id='AKIDEXAMPLE')"


@pytest.mark.parametrize(
    ("status", "kind", "says", "expected"),
    [
        (400, "BadRequestException", "Illegal address", "Rejected"),
        (400, "MessageRejected", "Message contains a virus", "Rejected"),
        (400, "MessageRejected", "Email address is not verified: us@example.com", "Retry"),
        (400, "AccountSuspendedException", "", "Retry"),
        (400, "MailFromDomainNotVerifiedException", "", "Retry"),
        (404, "NotFoundException", "no such configuration set", "Retry"),
        (400, "SendingPausedException", "", "Retry"),
        (400, "LimitExceededException", "", "Throttled"),
        (429, "TooManyRequestsException:http://internal.amazon.com/", "", "Throttled"),
        (403, "InvalidSignatureException", "", "Retry"),
        (403, "ExpiredTokenException", "", "Retry"),
        (500, "InternalServiceErrorException", "", "Retry"),
        (503, "ServiceUnavailable", "", "Retry"),
        (500, None, "", "Uncertain"),
        (403, None, "", "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, kind: str | None, says: str, expected: str) -> None:
    headers = {"x-amzn-ErrorType": kind} if kind else {}
    outcome, _ = await asked(HERE, Reply(status, {"message": says}, headers))
    assert word(outcome) == expected


def test_it_cannot_be_asked() -> None:
    assert not isinstance(HERE.build(), LooksUp)


TOPIC = "arn:aws:sns:eu-west-1:123456789012:receipts"
PRIVATE = rsa.generate_private_key(public_exponent=65537, key_size=2048)


def certified(private: Any = PRIVATE, *, until: datetime = NOW + timedelta(days=1)) -> bytes:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "sns.amazonaws.com")])
    builder = x509.CertificateBuilder(name, name, private.public_key(), 1, until - timedelta(days=9), until)
    return builder.sign(private, SHA256()).public_bytes(Encoding.PEM)


CERTIFICATE = certified()


def posted(told: dict[str, Any], *, at: datetime = NOW, version: str = "2", **fields: str) -> bytes:
    message = {
        "Type": "Notification", "MessageId": "22b80b92", "TopicArn": TOPIC, "Message": json.dumps(told),
        "Timestamp": at.isoformat().replace("+00:00", "Z"), **fields,
    }  # fmt: skip
    order = ["Message", "MessageId", "Subject", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"]
    content = "".join(f"{name}\n{message[name]}\n" for name in order if name in message)
    signature = PRIVATE.sign(content.encode(), PKCS1v15(), SHA256() if version == "2" else SHA1())
    complete = {
        **message, "SignatureVersion": version, "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem",
    }  # fmt: skip
    return json.dumps(complete).encode()


def told(kind: str, field: str = "eventType", **about: Any) -> dict[str, Any]:
    mail = {
        "messageId": "EXAMPLE7c191be45",
        "destination": [ADDRESS],
        "tags": {"duebook": [REFERENCE.replace(".", "-")]},
    }
    return {field: kind, "mail": mail, **about}


BOUNCE = {
    "bounceType": "Permanent", "timestamp": "2026-09-09T11:58:00.000Z",
    "bouncedRecipients": [{"emailAddress": ADDRESS, "diagnosticCode": "smtp; 550 5.1.1 user unknown"}],
}  # fmt: skip


class TestReceipts:
    @pytest.mark.parametrize("version", ["1", "2"])
    def test_what_one_says(self, version: str) -> None:
        body = posted(told("Bounce", bounce=BOUNCE), version=version, Subject="Amazon SES")
        assert parse(body, [TOPIC], CERTIFICATE, NOW) == [
            Receipt(
                "ses", "22b80b92", "bounced", AT, "EXAMPLE7c191be45", REFERENCE, ADDRESS, True,
                "smtp; 550 5.1.1 user unknown",
            )
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("news", "expected"),
        [
            (told("Delivery", delivery={}), [("delivered", False)]),
            (told("Delivery", "notificationType"), [("delivered", False)]),
            (told("Bounce", bounce={"bounceType": "Transient"}), [("bounced", False)]),
            (told("Bounce", bounce={"bounceType": "Undetermined"}), [("bounced", False)]),
            (told("Complaint"), [("complained", False)]),
            (told("DeliveryDelay", deliveryDelay={"delayType": "MailboxFull"}), [("delayed", False)]),
            (told("Reject", reject={"reason": "Bad content"}), [("refused", False)]),
            (told("Rendering Failure"), [("refused", False)]),
            (told("Send"), []),
            (told("Open"), []),
        ],
    )
    def test_events(self, news: dict[str, Any], expected: list[tuple[str, bool]]) -> None:
        assert brief(parse(posted(news), [TOPIC], CERTIFICATE, NOW)) == expected

    def test_a_request_to_confirm_is_verified_and_no_receipt(self) -> None:
        url = "https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription"
        body = posted({}, Type="SubscriptionConfirmation", SubscribeURL=url, Token="t")
        assert parse(body, [TOPIC], CERTIFICATE, NOW) == []
        with pytest.raises(UnverifiedReceipt):
            parse(body.replace(b"ConfirmSubscription", b"Unsubscribe"), [TOPIC], CERTIFICATE, NOW)

    def test_what_was_changed_is_refused(self) -> None:
        body = posted(told("Bounce", bounce=BOUNCE))
        with pytest.raises(UnverifiedReceipt, match="signature"):
            parse(body.replace(b"Permanent", b"Transient"), [TOPIC], CERTIFICATE, NOW)

    def test_another_topic_is_refused(self) -> None:
        with pytest.raises(UnverifiedReceipt, match="topic"):
            parse(posted(told("Delivery")), [f"{TOPIC}-2"], CERTIFICATE, NOW)

    @pytest.mark.parametrize("age", [timedelta(hours=2), timedelta(minutes=-6)])
    def test_what_is_old_or_from_the_future_is_refused(self, age: timedelta) -> None:
        with pytest.raises(UnverifiedReceipt, match="signed"):
            parse(posted(told("Delivery"), at=NOW - age), [TOPIC], CERTIFICATE, NOW)

    @pytest.mark.parametrize(
        "certificate",
        [
            certified(rsa.generate_private_key(public_exponent=65537, key_size=2048)),
            certified(until=NOW - timedelta(minutes=1)),
            certified(ec.generate_private_key(ec.SECP256R1())),
        ],
        ids=["another", "expired", "of another kind"],
    )
    def test_a_certificate_that_proves_nothing(self, certificate: bytes) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(posted(told("Delivery")), [TOPIC], certificate, NOW)

    @pytest.mark.parametrize("body", [b"{}", b"[]", b'{"TopicArn": "%s"}' % TOPIC.encode()])
    def test_what_is_not_signed_is_refused(self, body: bytes) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(body, [TOPIC], CERTIFICATE, NOW)

    def test_what_cannot_be_read(self) -> None:
        with pytest.raises(InvalidInput, match="body"):
            parse(b"<html>", [TOPIC], CERTIFICATE, NOW)
        with pytest.raises(InvalidInput, match="certificate"):
            parse(posted(told("Delivery")), [TOPIC], b"no PEM", NOW)

    def test_where_the_certificate_is(self) -> None:
        assert certificate_url(posted({})) == "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-1.pem"

    @pytest.mark.parametrize(
        "url",
        [
            "http://sns.eu-west-1.amazonaws.com/a.pem", "https://sns.eu-west-1.amazonaws.com.evil.example/a.pem",
            "https://evil.example/sns.eu-west-1.amazonaws.com/a.pem", "https://sns.eu-west-1.amazonaws.com@evil/a.pem",
            "https://sns.eu-west-1.amazonaws.com:8443/a.pem", "https://sns.eu-west-1.amazonaws.com/a", "",
        ],
    )  # fmt: skip
    def test_a_certificate_from_elsewhere_is_refused(self, url: str) -> None:
        with pytest.raises(UnverifiedReceipt):
            certificate_url(json.dumps({"SigningCertURL": url}).encode())
