"""Mailgun: the request, what its errors mean, looking up, and receipts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from duebook.channels.mailgun.receipts import parse
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import Found
from duebook.testing.doubles import Drop, Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked, sought, standing
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, context, word

HERE = PROVIDERS["mailgun"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Änn", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("20260203.1@mg.example.com")
    assert (request.method, request.target) == ("POST", "/v3/mg.example.com/messages")
    assert request.headers["authorization"] == f"Basic {base64.b64encode(f'api:{SECRET}'.encode()).decode()}"
    assert request.form() == {
        "from": SENDER,
        "to": '"Änn" <ann@example.net>',
        "subject": "Renewal",
        "text": "Your plan renews on Monday.\n",
        "html": "<p>Monday</p>",
        "h:Reply-To": "help@example.com",
        "h:Message-Id": context().message_id,
        "h:X-A": "1",
        "v:duebook": REFERENCE,
    }


@pytest.mark.parametrize(
    ("status", "says", "expected"),
    [
        (400, "'to' parameter is not a valid address", "Rejected"),
        (401, "Forbidden", "Retry"),
        (402, "Payment required", "Retry"),
        (403, "Domain mg.example.com is not allowed to send: unverified", "Retry"),
        (404, "Domain not found: mg.example.com", "Retry"),
        (413, "Request Entity Too Large", "Rejected"),
        (429, "Domain mg.example.com is not allowed to send: recipient limit exceeded", "Throttled"),
        (500, "Internal Server Error", "Uncertain"),
        (200, "Mailgun Magnificent API", "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, says: str, expected: str) -> None:
    outcome, _ = await asked(HERE, Reply(status, {"message": says}))
    assert word(outcome) == expected


class TestLookingUp:
    async def test_by_our_message_id(self) -> None:
        id = context().message_id.strip("<>")
        found = {"items": [{"event": "accepted", "message": {"headers": {"message-id": id}}}]}
        async with standing(HERE, Reply(200, found)) as (channel, double):
            assert await channel.look_up(sought()) == Found("accepted", id)
            request = double.requests[0]
            assert (request.method, request.path) == ("GET", "/v3/mg.example.com/events")
            assert request.query["message-id"] == id
            assert int(request.query["begin"]) <= NOW.timestamp()

    @pytest.mark.parametrize(
        "answer",
        [
            Reply(200, {"items": []}),
            Reply(200, {"items": [{"event": "accepted", "message": {"headers": {"message-id": "other@example.com"}}}]}),
            Reply(401), Reply(500), Drop(), Reply(200, b"{"),
        ],
    )  # fmt: skip
    async def test_anything_else_proves_nothing(self, answer: Any) -> None:
        async with standing(HERE, answer) as (channel, _):
            assert (await channel.look_up(sought())).says == "unknown"


KEY = "key-1234"
STATUS: dict[str, Any] = {"delivery-status": {"message": "5.1.1"}}


def posted(event: str, *, at: datetime = NOW, key: str = KEY, **fields: Any) -> bytes:
    stamp, token = str(int(at.timestamp())), "ae4b9a2c0d"
    signature = hmac.new(key.encode(), f"{stamp}{token}".encode(), hashlib.sha256).hexdigest()
    data = {
        "event": event, "id": "CPgfbmQMTCKtHW6uIWtuVe", "timestamp": AT.timestamp(), "recipient": ADDRESS,
        "message": {"headers": {"message-id": "20260203.1@mg.example.com"}},
        "user-variables": {"duebook": REFERENCE}, **fields,
    }  # fmt: skip
    return json.dumps(
        {"signature": {"timestamp": stamp, "token": token, "signature": signature}, "event-data": data}
    ).encode()


class TestReceipts:
    def test_what_one_says(self) -> None:
        body = posted("failed", severity="permanent", reason="bounce", **STATUS)
        assert parse({}, body, [KEY], NOW) == [
            Receipt(
                "mailgun", "2026-09-09-CPgfbmQMTCKtHW6uIWtuVe", "bounced", AT, "20260203.1@mg.example.com", REFERENCE,
                ADDRESS, True, "5.1.1",
            )
        ]  # fmt: skip

    @pytest.mark.parametrize(
        ("event", "fields", "expected"),
        [
            ("delivered", {}, [("delivered", False)]),
            ("complained", {}, [("complained", False)]),
            ("rejected", {}, [("refused", False)]),
            ("failed", {"severity": "temporary", "reason": "generic"}, [("delayed", False)]),
            ("failed", {"severity": "permanent", "reason": "bounce"}, [("bounced", True)]),
            ("failed", {"severity": "permanent", "reason": "old"}, [("bounced", False)]),
            ("failed", {"severity": "permanent", "reason": "suppress-bounce"}, [("refused", False)]),
            ("opened", {}, []),
            ("accepted", {}, []),
        ],
    )
    def test_events(self, event: str, fields: dict[str, Any], expected: list[tuple[str, bool]]) -> None:
        assert brief(parse({}, posted(event, **fields), [KEY], NOW)) == expected

    def test_old_and_new_keys_both_verify(self) -> None:
        assert parse({}, posted("delivered"), ["key-new", KEY], NOW)

    @pytest.mark.parametrize("age", [timedelta(hours=9), timedelta(minutes=-6)])
    def test_what_is_old_or_from_the_future_is_refused(self, age: timedelta) -> None:
        with pytest.raises(UnverifiedReceipt, match="signed"):
            parse({}, posted("delivered", at=NOW - age), [KEY], NOW)

    @pytest.mark.parametrize("body", [b"{}", b"[]", b'{"signature": null}', b'{"signature": {"signature": ["x"]}}'])
    def test_what_is_not_signed_is_refused(self, body: bytes) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse({}, body, [KEY], NOW)

    def test_a_signature_with_another_key_is_refused(self) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse({}, posted("delivered", key="other"), [KEY], NOW)

    @pytest.mark.parametrize("secrets", [KEY, [], [""]])
    def test_keys_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput, match="secrets"):
            parse({}, posted("delivered", key=""), secrets, NOW)

    def test_a_body_that_cannot_be_read(self) -> None:
        with pytest.raises(InvalidInput, match="body"):
            parse({}, b"<html>", [KEY], NOW)
