"""SendGrid: the request, what its errors mean, and receipts."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from duebook.channels.sendgrid.receipts import parse
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import LooksUp
from duebook.testing.doubles import Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, context, word

HERE = PROVIDERS["sendgrid"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Ann", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("LRzXl_NHStOGhQ4kofSm_A")
    assert (request.method, request.target) == ("POST", "/v3/mail/send")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.json() == {
        "personalizations": [{"to": [{"email": "ann@example.net", "name": "Ann"}]}],
        "from": {"email": SENDER},
        "subject": "Renewal",
        "content": [
            {"type": "text/plain", "value": "Your plan renews on Monday.\n"},
            {"type": "text/html", "value": "<p>Monday</p>"},
        ],
        "headers": {"X-A": "1", "Message-ID": context().message_id},
        "custom_args": {"duebook": REFERENCE},
        "reply_to": {"email": "help@example.com"},
    }


@pytest.mark.parametrize(
    ("status", "field", "expected"),
    [
        (400, "personalizations.0.to.0.email", "Rejected"),
        (400, None, "Rejected"),
        (400, "from", "Retry"),
        (400, "from.email", "Retry"),
        (403, "from", "Retry"),
        (401, None, "Retry"),
        (413, None, "Rejected"),
        (429, None, "Throttled"),
        (500, None, "Uncertain"),
        (503, None, "Retry"),
        (200, None, "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, field: str | None, expected: str) -> None:
    outcome, _ = await asked(HERE, Reply(status, {"errors": [{"field": field, "message": "…"}]}))
    assert word(outcome) == expected


async def test_its_own_header_says_when_to_go_on() -> None:
    outcome, _ = await asked(HERE, Reply(429, headers={"X-RateLimit-Reset": str(int(NOW.timestamp()) + 40)}))
    assert outcome.until == NOW + timedelta(seconds=40)


def test_it_cannot_be_asked() -> None:
    assert not isinstance(HERE.build(), LooksUp)


PRIVATE = ec.generate_private_key(ec.SECP256R1())


def shown(private: Any) -> str:
    """Return a public key as SendGrid shows it."""
    return base64.b64encode(private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).decode()


KEY = shown(PRIVATE)


def posted(*events: dict[str, Any], at: datetime = NOW) -> tuple[dict[str, str], bytes]:
    body = json.dumps(events).encode()
    stamp = str(int(at.timestamp()))
    signature = base64.b64encode(PRIVATE.sign(stamp.encode() + body, ec.ECDSA(SHA256()))).decode()
    return {
        "X-Twilio-Email-Event-Webhook-Signature": signature,
        "X-Twilio-Email-Event-Webhook-Timestamp": stamp,
    }, body


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {
        "event": kind, "email": ADDRESS, "timestamp": int(AT.timestamp()), "sg_event_id": "e-1",
        "sg_message_id": "LRzXl_NHStOGhQ4kofSm_A.filterdrecv-1-18-5F5FC76C-9.0", "duebook": REFERENCE, **fields,
    }  # fmt: skip


class TestReceipts:
    def test_the_vector_of_its_own_library(self) -> None:
        key = (
            "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXv"
            "VpiglSI8eNEc6wEA3F+g=="
        )
        headers = {
            "x-twilio-email-event-webhook-signature": (
                "MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM="
            ),
            "x-twilio-email-event-webhook-timestamp": "1600112502",
        }
        body = (
            b'[{"email":"hello@world.com","event":"dropped","reason":"Bounced Address",'
            b'"sg_event_id":"ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA",'
            b'"sg_message_id":"LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0",'
            b'"smtp-id":"<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>","timestamp":1600112492}]\r\n'
        )
        now = datetime.fromtimestamp(1600112502, UTC)
        [receipt] = parse(headers, body, [key], now)
        assert (receipt.event, receipt.provider_id) == ("refused", "LRzXl_NHStOGhQ4kofSm_A")
        with pytest.raises(UnverifiedReceipt):
            parse(headers, body.strip(), [key], now)

    def test_what_one_says(self) -> None:
        assert parse(*posted(event("bounce", type="bounce", reason="550 5.1.1")), [KEY], NOW) == [
            Receipt("sendgrid", "e-1", "bounced", AT, "LRzXl_NHStOGhQ4kofSm_A", REFERENCE, ADDRESS, True, "550 5.1.1")
        ]

    def test_events_come_together(self) -> None:
        kinds = ["processed", "delivered", "deferred", "open", "spamreport", "dropped", "group_unsubscribe"]
        assert brief(parse(*posted(*map(event, kinds)), [KEY], NOW)) == [
            ("delivered", False), ("delayed", False), ("complained", False), ("refused", False),
        ]  # fmt: skip

    def test_a_block_is_not_permanent(self) -> None:
        assert brief(parse(*posted(event("bounce", type="blocked")), [KEY], NOW)) == [("bounced", False)]

    def test_old_and_new_keys_both_verify(self) -> None:
        assert parse(*posted(event("delivered")), [shown(ec.generate_private_key(ec.SECP256R1())), KEY], NOW)

    def test_what_is_old_is_refused(self) -> None:
        with pytest.raises(UnverifiedReceipt, match="ago"):
            parse(*posted(event("delivered"), at=NOW - timedelta(hours=25)), [KEY], NOW)

    def test_what_was_changed_is_refused(self) -> None:
        headers, body = posted(event("bounce"))
        for changed in ({}, {**headers, "X-Twilio-Email-Event-Webhook-Signature": "§"}):
            with pytest.raises(UnverifiedReceipt):
                parse(changed, body, [KEY], NOW)
        with pytest.raises(UnverifiedReceipt):
            parse(headers, body.replace(b"bounce", b"delivered"), [KEY], NOW)

    @pytest.mark.parametrize("secrets", [KEY, [], [""], ["§"], ["AAAA"], [shown(ed25519.Ed25519PrivateKey.generate())]])
    def test_keys_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput, match="secrets"):
            parse(*posted(event("delivered")), secrets, NOW)
