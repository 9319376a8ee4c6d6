"""Brevo: the request, what its errors mean, looking up, and receipts."""

from __future__ import annotations

import json
import uuid
from datetime import timedelta
from typing import Any

import pytest

from duebook.channels.brevo.receipts import parse
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import Found
from duebook.testing.doubles import Drop, Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked, sought, standing
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, word

HERE = PROVIDERS["brevo"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Ann", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("201798300811.5787683@relay.example.com")
    assert (request.method, request.target) == ("POST", "/v3/smtp/email")
    assert request.headers["api-key"] == SECRET
    document = request.json()
    assert uuid.UUID(document["headers"].pop("idempotencyKey")).version == 4
    assert document == {
        "sender": {"email": SENDER},
        "to": [{"email": "ann@example.net", "name": "Ann"}],
        "subject": "Renewal",
        "textContent": "Your plan renews on Monday.\n",
        "htmlContent": "<p>Monday</p>",
        "replyTo": {"email": "help@example.com"},
        "headers": {"X-A": "1"},
        "tags": [REFERENCE],
    }


@pytest.mark.parametrize(
    ("status", "code", "says", "expected"),
    [
        (400, "invalid_parameter", "Invalid email address", "Rejected"),
        (400, "invalid_parameter", "valid sender email required", "Retry"),
        (400, "missing_parameter", "subject is missing", "Rejected"),
        (400, "duplicate_parameter", "the idempotencyKey was used", "Uncertain"),
        (400, "not_enough_credits", "…", "Retry"),
        (401, "unauthorized", "Key not found", "Retry"),
        (402, "not_enough_credits", "…", "Retry"),
        (403, "account_under_validation", "…", "Retry"),
        (403, "permission_denied", "…", "Retry"),
        (429, "too_many_requests", "…", "Throttled"),
        (500, "internal_error", "…", "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, code: str, says: str, expected: str) -> None:
    outcome, _ = await asked(HERE, Reply(status, {"code": code, "message": says}))
    assert word(outcome) == expected


async def test_its_own_header_says_when_to_go_on() -> None:
    outcome, _ = await asked(HERE, Reply(429, headers={"x-sib-ratelimit-reset": "12"}))
    assert outcome.until == NOW + timedelta(seconds=12)


class TestLookingUp:
    async def test_by_our_tag(self) -> None:
        answer = Reply(
            200, {"events": [{"event": "requests", "messageId": "<2017.57@relay.example.com>", "tag": REFERENCE}]}
        )
        async with standing(HERE, answer) as (channel, double):
            assert await channel.look_up(sought()) == Found("accepted", "2017.57@relay.example.com")
            request = double.requests[0]
            assert (request.method, request.path) == ("GET", "/v3/smtp/statistics/events")
            assert request.query == {"tags": json.dumps([REFERENCE]), "limit": "1"}

    @pytest.mark.parametrize(
        "answer",
        [
            Reply(200, {"events": []}),
            Reply(200, {"events": [{"messageId": "<2017.57@relay.example.com>", "tag": "8.ab12cd34"}]}),
            Reply(200, {}), Reply(401), Reply(500), Drop(), Reply(200, b"{"),
        ],
    )  # fmt: skip
    async def test_anything_else_proves_nothing(self, answer: Any) -> None:
        async with standing(HERE, answer) as (channel, _):
            assert (await channel.look_up(sought())).says == "unknown"


TOKEN = "t0ken"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


def posted(event: str, **fields: Any) -> bytes:
    values = {
        "event": event, "email": ADDRESS, "id": 7, "message-id": "<2017.57@relay.example.com>",
        "ts_event": int(AT.timestamp()), "tags": ["renewals", REFERENCE], **fields,
    }  # fmt: skip
    return json.dumps(values).encode()


class TestReceipts:
    def test_what_one_says(self) -> None:
        [receipt] = parse(BEARER, posted("hard_bounce", reason="550 5.1.1"), [TOKEN], NOW)
        assert receipt == Receipt(
            "brevo", receipt.id, "bounced", AT, "2017.57@relay.example.com", REFERENCE, ADDRESS, True, "550 5.1.1"
        )

    def test_the_same_news_twice_is_one(self) -> None:
        """Its `id` is that of the webhook, so ours is made of what happened, to what, to whom and when."""
        bodies = [
            posted("deferred"), posted("deferred", reason="again"), posted("deferred", ts_event=1), posted("delivered"),
        ]  # fmt: skip
        first, again, later, other = (parse(BEARER, body, [TOKEN], NOW)[0].id for body in bodies)
        assert first == again
        assert len({first, later, other}) == 3

    @pytest.mark.parametrize(
        ("event", "expected"),
        [
            ("delivered", [("delivered", False)]),
            ("hard_bounce", [("bounced", True)]),
            ("invalid_email", [("bounced", True)]),
            ("soft_bounce", [("bounced", False)]),
            ("spam", [("complained", False)]),
            ("deferred", [("delayed", False)]),
            ("blocked", [("refused", False)]),
            ("error", [("refused", False)]),
            ("request", []),
            ("opened", []),
        ],
    )
    def test_events(self, event: str, expected: list[tuple[str, bool]]) -> None:
        assert brief(parse(BEARER, posted(event), [TOKEN], NOW)) == expected

    def test_a_tag_of_somebody_else_is_no_reference(self) -> None:
        assert parse(BEARER, posted("delivered", tags=["renewals"]), [TOKEN], NOW)[0].reference is None

    @pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer x"}, {"authorization": TOKEN}])
    def test_without_the_token_it_is_refused(self, headers: dict[str, str]) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(headers, posted("delivered"), [TOKEN], NOW)

    @pytest.mark.parametrize("secrets", [TOKEN, [], [""]])
    def test_tokens_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput, match="secrets"):
            parse({"authorization": "Bearer t"}, posted("delivered"), secrets, NOW)
