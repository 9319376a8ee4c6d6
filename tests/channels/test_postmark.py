"""Postmark: the request, what its errors mean, looking up, and receipts."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from duebook.channels.postmark.receipts import parse
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import Found
from duebook.testing.doubles import Drop, Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked, sought, standing
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, context, word

HERE = PROVIDERS["postmark"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Ann", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("b7bc2f4a")
    assert (request.method, request.target) == ("POST", "/email")
    assert request.headers["x-postmark-server-token"] == SECRET
    assert request.json() == {
        "From": SENDER,
        "To": '"Ann" <ann@example.net>',
        "Subject": "Renewal",
        "TextBody": "Your plan renews on Monday.\n",
        "HtmlBody": "<p>Monday</p>",
        "ReplyTo": "help@example.com",
        "Headers": [
            {"Name": "X-A", "Value": "1"},
            {"Name": "Message-ID", "Value": context().message_id},
            {"Name": "X-PM-KeepID", "Value": "true"},
        ],
        "Metadata": {"duebook": REFERENCE},
        "MessageStream": "outbound",
    }


@pytest.mark.parametrize(
    ("status", "code", "says", "expected"),
    [
        (422, 300, "Invalid 'To' address: 'ann@'.", "Rejected"),
        (422, 300, "Invalid 'From' address: 'us@example.com' is not a verified sender signature.", "Retry"),
        (422, 400, "The sender signature was not found.", "Retry"),
        (422, 401, "The sender signature is not confirmed.", "Retry"),
        (422, 405, "You ran out of credits.", "Retry"),
        (422, 406, "Inactive recipient.", "Rejected"),
        (422, 412, "Your account is pending approval.", "Retry"),
        (422, 413, "Your account may not send.", "Retry"),
        (422, 999, "Something else.", "Rejected"),
        (401, 10, "Bad or missing API token.", "Retry"),
        (429, 429, "Rate limit exceeded.", "Throttled"),
        (503, 100, "The API is offline for maintenance.", "Retry"),
        (500, 0, "", "Uncertain"),
        (200, 406, "Inactive recipient.", "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, code: int, says: str, expected: str) -> None:
    outcome, _ = await asked(HERE, Reply(status, {"ErrorCode": code, "Message": says}))
    assert word(outcome) == expected


class TestLookingUp:
    async def test_by_our_metadata(self) -> None:
        answer = Reply(
            200, {"TotalCount": 1, "Messages": [{"MessageID": "b7bc2f4a", "Metadata": {"duebook": REFERENCE}}]}
        )
        async with standing(HERE, answer) as (channel, double):
            assert await channel.look_up(sought()) == Found("accepted", "b7bc2f4a")
            request = double.requests[0]
            assert (request.method, request.path) == ("GET", "/messages/outbound")
            assert request.query == {"count": "1", "offset": "0", "metadata_duebook": REFERENCE}

    @pytest.mark.parametrize(
        "answer",
        [
            Reply(200, {"TotalCount": 0, "Messages": []}),
            Reply(200, {"Messages": [{"MessageID": "b7bc2f4a", "Metadata": {"duebook": "8.ab12cd34"}}]}),
            Reply(200, {"Messages": [{"MessageID": "b7bc2f4a", "Metadata": {}}]}),
            Reply(401), Reply(500), Drop(), Reply(200, b"{"),
        ],
    )  # fmt: skip
    async def test_anything_else_proves_nothing(self, answer: Any) -> None:
        async with standing(HERE, answer) as (channel, _):
            assert (await channel.look_up(sought())).says == "unknown"


PASSWORD = "postmark:pa55"
BASIC = {"authorization": f"Basic {base64.b64encode(PASSWORD.encode()).decode()}"}


def posted(record: str, **fields: Any) -> bytes:
    values = {"RecordType": record, "MessageID": "b7bc2f4a", "Metadata": {"duebook": REFERENCE}, **fields}
    return json.dumps(values).encode()


class TestReceipts:
    def test_what_a_bounce_says(self) -> None:
        body = posted(
            "Bounce", ID=42, Type="HardBounce", Email=ADDRESS, BouncedAt="2026-09-09T07:58:00-04:00", Details="550",
        )  # fmt: skip
        assert parse(BASIC, body, [PASSWORD], NOW) == [
            Receipt("postmark", "bounce-42", "bounced", AT, "b7bc2f4a", REFERENCE, ADDRESS, True, "550")
        ]

    def test_the_same_delivery_twice_is_one(self) -> None:
        body = posted("Delivery", Recipient=ADDRESS, DeliveredAt="2026-09-09T11:58:00Z")
        first, again = (parse(BASIC, body, [PASSWORD], NOW) for _ in range(2))
        other = parse(BASIC, posted("Delivery", Recipient="bob@example.net"), [PASSWORD], NOW)
        assert (first[0].event, first[0].at, first[0].address) == ("delivered", AT, ADDRESS)
        assert first == again
        assert first[0].id != other[0].id

    @pytest.mark.parametrize(
        ("record", "kind", "expected"),
        [
            ("Delivery", "", [("delivered", False)]),
            ("SpamComplaint", "SpamComplaint", [("complained", False)]),
            ("Bounce", "HardBounce", [("bounced", True)]),
            ("Bounce", "BadEmailAddress", [("bounced", True)]),
            ("Bounce", "SoftBounce", [("bounced", False)]),
            ("Bounce", "Blocked", [("bounced", False)]),
            ("Bounce", "SomethingNew", [("bounced", False)]),
            ("Bounce", "Transient", [("delayed", False)]),
            ("Bounce", "DnsError", [("delayed", False)]),
            ("Bounce", "SMTPApiError", [("refused", False)]),
            ("Bounce", "AutoResponder", []),
            ("Open", "", []),
            ("SubscriptionChange", "", []),
        ],
    )
    def test_events(self, record: str, kind: str, expected: list[tuple[str, bool]]) -> None:
        assert brief(parse(BASIC, posted(record, Type=kind), [PASSWORD], NOW)) == expected

    def test_old_and_new_passwords_both_verify(self) -> None:
        assert parse(BASIC, posted("Delivery"), ["postmark:new", PASSWORD], NOW)

    @pytest.mark.parametrize("headers", [{}, {"authorization": "Basic x"}, {"authorization": PASSWORD}])
    def test_without_the_password_it_is_refused(self, headers: dict[str, str]) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(headers, posted("Delivery"), [PASSWORD], NOW)

    @pytest.mark.parametrize("secrets", [PASSWORD, [], [""]])
    def test_secrets_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput, match="secrets"):
            parse({"authorization": "Bearer p"}, posted("Delivery"), secrets, NOW)

    def test_a_body_that_cannot_be_read(self) -> None:
        with pytest.raises(InvalidInput, match="body"):
            parse(BASIC, b"<html>", [PASSWORD], NOW)
