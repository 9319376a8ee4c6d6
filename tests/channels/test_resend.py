"""Resend: the request, what its errors mean, looking up, and receipts."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from standardwebhooks import Webhook as Signer

from duebook.channels.resend import Resend
from duebook.channels.resend.receipts import parse
from duebook.domain.identity import short_key
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import Found
from duebook.testing.doubles import Drop, HttpDouble, Reply

from .providers import PROVIDERS, SECRET, SENDER, ProviderContract, asked, sought, standing
from .receipts import ADDRESS, AT, REFERENCE, brief
from .support import NOW, context, email, word

HERE = PROVIDERS["resend"]


class TestContract(ProviderContract):
    provider = HERE


async def test_the_request() -> None:
    outcome, request = await asked(
        HERE, HERE.success, to_name="Ann", html="<p>Monday</p>", reply_to="help@example.com", headers={"X-A": "1"},
    )  # fmt: skip
    assert outcome == Accepted("49a3999c")
    assert (request.method, request.target) == ("POST", "/emails")
    assert request.headers["authorization"] == f"Bearer {SECRET}"
    assert request.headers["idempotency-key"] == short_key(context().idempotency_key)
    assert request.json() == {
        "from": SENDER,
        "to": ['"Ann" <ann@example.net>'],
        "subject": "Renewal",
        "text": "Your plan renews on Monday.\n",
        "html": "<p>Monday</p>",
        "reply_to": "help@example.com",
        "headers": {"X-A": "1"},
        "tags": [{"name": "duebook", "value": REFERENCE.replace(".", "-")}],
    }


@pytest.mark.parametrize(
    ("status", "name", "expected"),
    [
        (400, "validation_error", "Rejected"),
        (422, "missing_required_field", "Rejected"),
        (422, "invalid_from_address", "Retry"),
        (401, "missing_api_key", "Retry"),
        (401, "restricted_api_key", "Retry"),
        (403, "invalid_api_key", "Retry"),
        (403, "validation_error", "Retry"),
        (409, "invalid_idempotent_request", "Uncertain"),
        (409, "concurrent_idempotent_requests", "Uncertain"),
        (429, "rate_limit_exceeded", "Throttled"),
        (429, "daily_quota_exceeded", "Throttled"),
        (500, "application_error", "Uncertain"),
    ],
)
async def test_what_its_errors_mean(status: int, name: str, expected: str) -> None:
    outcome, _ = await asked(HERE, Reply(status, {"statusCode": status, "name": name, "message": "…"}))
    assert word(outcome) == expected


async def test_its_own_header_says_when_to_go_on() -> None:
    outcome, _ = await asked(HERE, Reply(429, headers={"ratelimit-reset": "2"}))
    assert outcome.until == NOW + timedelta(seconds=2)


async def test_h41_a_repeat_makes_no_second_copy() -> None:
    async with HttpDouble(key_window=timedelta(hours=24)) as double:
        double.next(Drop(take=True))
        first = await Resend(SECRET, sender=SENDER, base_url=double.url).send(email(), context())
        again = await Resend(SECRET, sender=SENDER, base_url=double.url).send(email(), context(number=2))
        assert (word(first), again, len(double.accepted)) == ("Uncertain", Accepted("m-1"), 1)


async def test_another_body_under_the_same_key_refuses_nothing() -> None:
    conflict = Reply(409, {"name": "invalid_idempotent_request"})
    async with HttpDouble(key_window=timedelta(hours=24), conflict=conflict) as double:
        channel = Resend(SECRET, sender=SENDER, base_url=double.url)
        outcomes = [await channel.send(email(subject=subject), context()) for subject in ("one", "two")]
        assert [word(outcome) for outcome in outcomes] == ["Accepted", "Uncertain"]


class TestLookingUp:
    async def test_by_its_own_id(self) -> None:
        async with standing(HERE, Reply(200, {"id": "49a3999c", "last_event": "delivered"})) as (channel, double):
            assert await channel.look_up(sought(provider_id="49a3999c")) == Found("accepted", "49a3999c")
            assert (double.requests[0].method, double.requests[0].target) == ("GET", "/emails/49a3999c")

    async def test_without_an_id_nothing_is_asked(self) -> None:
        async with standing(HERE) as (channel, double):
            assert (await channel.look_up(sought())).says == "unknown"
            assert double.requests == []

    @pytest.mark.parametrize("answer", [Reply(404), Reply(401), Reply(500), Drop(), Reply(200, {"id": "other"})])
    async def test_anything_else_proves_nothing(self, answer: Any) -> None:
        async with standing(HERE, answer) as (channel, _):
            assert (await channel.look_up(sought(provider_id="49a3999c"))).says == "unknown"


KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def posted(kind: str, *, at: datetime = NOW, key: str = KEY, **data: Any) -> tuple[dict[str, str], bytes]:
    data = {"email_id": "49a3999c", "to": [ADDRESS], "tags": {"duebook": REFERENCE.replace(".", "-")}, **data}
    body = json.dumps({"type": kind, "created_at": AT.isoformat(), "data": data}).encode()
    signature = Signer(key).sign("msg_1", at, body.decode())
    return {"svix-id": "msg_1", "Svix-Timestamp": str(int(at.timestamp())), "svix-signature": signature}, body


class TestReceipts:
    def test_the_vector_of_the_specification(self) -> None:
        """https://docs.svix.com/receiving/verifying-payloads/how-manual"""
        headers = {
            "svix-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
            "svix-timestamp": "1614265330",
            "svix-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
        }
        now = datetime.fromtimestamp(1614265330, AT.tzinfo)
        assert parse(headers, b'{"test": 2432232314}', [KEY], now) == []

    def test_what_one_says(self) -> None:
        assert parse(*posted("email.delivered"), [KEY], NOW) == [
            Receipt("resend", "msg_1", "delivered", AT, "49a3999c", REFERENCE, ADDRESS)
        ]

    @pytest.mark.parametrize(
        ("kind", "data", "expected"),
        [
            ("email.delivered", {}, [("delivered", False)]),
            ("email.bounced", {}, [("bounced", True)]),
            ("email.bounced", {"bounce": {"type": "Permanent"}}, [("bounced", True)]),
            ("email.bounced", {"bounce": {"type": "Transient"}}, [("bounced", False)]),
            ("email.bounced", {"bounce": {"type": "Undetermined"}}, [("bounced", False)]),
            ("email.complained", {}, [("complained", False)]),
            ("email.delivery_delayed", {}, [("delayed", False)]),
            ("email.failed", {}, [("refused", False)]),
            ("email.suppressed", {}, [("refused", False)]),
            ("email.opened", {}, []),
            ("contact.created", {}, []),
        ],
    )
    def test_events(self, kind: str, data: dict[str, Any], expected: list[tuple[str, bool]]) -> None:
        assert brief(parse(*posted(kind, **data), [KEY], NOW)) == expected

    def test_old_and_new_secrets_both_verify(self) -> None:
        new = "whsec_" + base64.b64encode(b"another secret").decode()
        for key in (KEY, new):
            assert parse(*posted("email.delivered", key=key), [KEY, new], NOW)

    @pytest.mark.parametrize("age", [timedelta(minutes=6), timedelta(minutes=-6)])
    def test_what_is_old_or_from_the_future_is_refused(self, age: timedelta) -> None:
        with pytest.raises(UnverifiedReceipt, match="signed"):
            parse(*posted("email.delivered", at=NOW - age), [KEY], NOW)

    def test_what_was_changed_is_refused(self) -> None:
        headers, body = posted("email.bounced")
        for changed in ({**headers, "svix-id": "msg_2"}, {**headers, "svix-signature": ""}, {}):
            with pytest.raises(UnverifiedReceipt):
                parse(changed, body, [KEY], NOW)
        with pytest.raises(UnverifiedReceipt):
            parse(headers, body + b" ", [KEY], NOW)

    def test_a_signature_with_another_secret_is_refused(self) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(*posted("email.delivered"), ["whsec_" + base64.b64encode(b"other").decode()], NOW)

    @pytest.mark.parametrize("secrets", [KEY, [], [""], ["whsec_not base64"]])
    def test_secrets_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput) as error:
            parse(*posted("email.delivered"), secrets, NOW)
        assert error.value.field == "secrets"

    def test_a_body_that_cannot_be_read(self) -> None:
        headers, _ = posted("email.delivered")
        key = base64.b64decode(KEY.removeprefix("whsec_"))
        content = f"msg_1.{headers['Svix-Timestamp']}.{{".encode()
        signature = base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        with pytest.raises(InvalidInput, match="body"):
            parse({**headers, "svix-signature": f"v1,{signature}"}, b"{", [KEY], NOW)
