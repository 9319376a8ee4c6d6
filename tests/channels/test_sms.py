"""Text messages: the request, what Twilio's errors mean, look-ups, and receipts."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest

from duebook.channels.sms import TwilioSms
from duebook.channels.sms.receipts import parse
from duebook.domain.message import Message, Sms
from duebook.domain.outcome import Accepted
from duebook.domain.receipt import Receipt
from duebook.errors import InvalidInput, UnverifiedReceipt
from duebook.ports import Found, LooksUp, Sought
from duebook.testing import ChannelContract, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, Reply

from .receipts import brief
from .support import NOW, context, webhook, word

TOKEN = "s3cret-token"
SENDER = "+15550100"
PATH = "/2010-04-01/Accounts/AC1/Messages"
TAKEN = Reply(201, {"sid": "SM90", "status": "queued", "error_code": None})


def refused(status: int, code: int) -> Reply:
    return Reply(status, {"code": code, "message": "…", "status": status})


def sms(**changes: Any) -> Sms:
    return Sms(**{"to": "+15550199", "text": "Your plan renews on Monday.", **changes})


@asynccontextmanager
async def standing(*answers: HttpAnswer, **settings: Any) -> AsyncIterator[tuple[TwilioSms, HttpDouble]]:
    """Give a channel and the double it talks to. The first requests get these answers, all others are taken."""
    async with HttpDouble(lambda request: TAKEN) as double:
        double.next(*answers)
        settings = {"sender": SENDER, "base_url": double.url, **settings}
        yield TwilioSms("AC1", TOKEN, **settings), double


class TestContract(ChannelContract):
    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        first: dict[Behaviour, Sequence[HttpAnswer]] = {
            "accepts": [], "refuses": [refused(400, 21211)], "breaks": [Drop(take=True)], "hangs": [Hang(take=True)],
        }  # fmt: skip
        async with standing(*first[provider]) as (channel, double):
            yield Rig(channel, lambda: [None for _ in double.requests], lambda: double.until(lambda: double.requests))

    def message(self) -> Message:
        return sms()

    def foreign(self) -> Message:
        return webhook()


class TestRequest:
    async def test_with_a_sender(self) -> None:
        async with standing() as (channel, double):
            assert await channel.send(sms(text="Grüße & 1+1"), context()) == Accepted("SM90")
            [request] = double.requests
        assert (request.method, request.target) == ("POST", f"{PATH}.json")
        assert request.headers["authorization"] == "Basic " + base64.b64encode(f"AC1:{TOKEN}".encode()).decode()
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        assert request.form() == {"To": "+15550199", "Body": "Grüße & 1+1", "From": SENDER}

    async def test_with_a_messaging_service(self) -> None:
        async with standing(sender=None, messaging_service="MG1") as (channel, double):
            await channel.send(sms(), context())
            form = double.requests[0].form()
        assert form["MessagingServiceSid"] == "MG1"
        assert "From" not in form

    @pytest.mark.parametrize(
        ("url", "called"),
        [
            ("https://example.com/sms", "https://example.com/sms?duebook=7.0a1b2c3d"),
            ("https://example.com/sms?a=1", "https://example.com/sms?a=1&duebook=7.0a1b2c3d"),
        ],
    )
    async def test_receipts_get_our_reference(self, url: str, called: str) -> None:
        async with standing(status_url=url) as (channel, double):
            await channel.send(sms(), context(reference="7.0a1b2c3d"))
            await channel.send(sms(), context(reference=""))
            with_reference, without = (request.form()["StatusCallback"] for request in double.requests)
        assert (with_reference, without) == (called, url)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (TAKEN, "Accepted"),
        (Reply(201, {}), "Uncertain"),
        (refused(400, 21211), "Rejected"),
        (refused(400, 21610), "Rejected"),
        (refused(400, 21614), "Rejected"),
        (refused(400, 21617), "Rejected"),
        (refused(400, 99999), "Rejected"),
        (refused(400, 21408), "Retry"),
        (refused(400, 21606), "Retry"),
        (refused(400, 21608), "Retry"),
        (refused(401, 20003), "Retry"),
        (refused(403, 20005), "Retry"),
        (refused(404, 20404), "Retry"),
        (refused(400, 21611), "Throttled"),
        (refused(429, 21611), "Throttled"),
        (refused(429, 20429), "Throttled"),
        (refused(500, 20500), "Uncertain"),
        (Reply(502), "Uncertain"),
        (Reply(503), "Uncertain"),
        (Reply(302), "Uncertain"),
    ],
)
async def test_what_its_answers_mean(answer: Reply, expected: str) -> None:
    async with standing(answer) as (channel, _):
        assert word(await channel.send(sms(), context())) == expected


async def test_a_throttle_holds_the_channel_as_long_as_it_was_asked() -> None:
    outcome: Any
    async with standing(Reply(429, headers={"Retry-After": "3"})) as (channel, _):
        outcome = await channel.send(sms(), context())
    assert outcome.until == NOW + timedelta(seconds=3)


async def test_an_answer_that_quotes_the_token_puts_none_of_it_on_record() -> None:
    async with standing(Reply(401, f"no such token: {TOKEN}")) as (channel, _):
        outcome = await channel.send(sms(), context())
    assert "no such token" in repr(outcome)
    assert TOKEN not in repr(outcome)


class TestLookingUp:
    def sought(self, provider_id: str | None) -> Sought:
        made = context()
        return Sought(sms(), 1, made.idempotency_key, made.message_id, "", provider_id, NOW, NOW)

    async def test_by_its_own_id(self) -> None:
        async with standing(Reply(200, {"sid": "SM90", "status": "sent"})) as (channel, double):
            assert isinstance(channel, LooksUp)
            assert await channel.look_up(self.sought("SM90")) == Found("accepted", "SM90")
            assert (double.requests[0].method, double.requests[0].target) == ("GET", f"{PATH}/SM90.json")

    async def test_without_an_id_nothing_is_asked(self) -> None:
        async with standing() as (channel, double):
            assert (await channel.look_up(self.sought(None))).says == "unknown"
            assert double.requests == []

    @pytest.mark.parametrize("answer", [refused(404, 20404), Reply(401), Reply(500), Drop(), Reply(200, {})])
    async def test_anything_else_proves_nothing(self, answer: HttpAnswer) -> None:
        async with standing(answer) as (channel, _):
            assert (await channel.look_up(self.sought("SM90"))).says == "unknown"


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"sender": None}, "sender"),
        ({"messaging_service": "MG1"}, "sender"),
        ({"sender": ""}, "sender"),
        ({"account_sid": "AC1/../AC2"}, "account_sid"),
        ({"auth_token": "two\r\nlines"}, "auth_token"),
        ({"base_url": "http://api.example.com"}, "base_url"),
        ({"base_url": "https://api.example.com/?key=1"}, "base_url"),
        ({"status_url": "http://example.com/sms"}, "status_url"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        TwilioSms(**{"account_sid": "AC1", "auth_token": TOKEN, "sender": SENDER, **settings})
    assert error.value.field == field


def test_secrets_stay_out_of_its_text() -> None:
    assert repr(TwilioSms("AC1", TOKEN, sender=SENDER)) == "TwilioSms(name='sms')"


URL = "https://example.com/sms?duebook=7.0a1b2c3d"


def posted(status: str, *, url: str = URL, token: str = TOKEN, **fields: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of a request as Twilio signs it."""
    form = {"MessageSid": "SM90", "MessageStatus": status, "To": "+15550199", "From": SENDER, **fields}
    content = url + "".join(f"{name}{form[name]}" for name in sorted(form))
    signature = base64.b64encode(hmac.new(token.encode(), content.encode(), hashlib.sha1).digest()).decode()
    return {"X-Twilio-Signature": signature}, urlencode(form).encode()


class TestReceipts:
    def test_the_vector_of_the_documentation(self) -> None:
        """https://www.twilio.com/docs/usage/security"""
        url = "https://mycompany.com/myapp.php?foo=1&bar=2"
        number = "+12349013030"
        form = {
            "Digits": "1234",
            "To": "+18005551212",
            "From": number,
            "Caller": number,
            "CallSid": "CA1234567890ABCDE",
        }
        headers = {"x-twilio-signature": "0/KCTR6DLpKmkAf8muzZqo1nDgQ="}
        assert parse(url, headers, urlencode(form).encode(), ["12345"], NOW) == []

    def test_what_one_says(self) -> None:
        assert parse(URL, *posted("delivered"), [TOKEN], NOW) == [
            Receipt("twilio", "SM90.delivered", "delivered", NOW, "SM90", "7.0a1b2c3d", "+15550199", detail="delivered")
        ]

    @pytest.mark.parametrize(
        ("status", "fields", "expected"),
        [
            ("queued", {}, []),
            ("sending", {}, []),
            ("sent", {}, [("delayed", False)]),
            ("delivered", {}, [("delivered", False)]),
            ("undelivered", {"ErrorCode": "30003"}, [("bounced", False)]),
            ("undelivered", {"ErrorCode": "30005"}, [("bounced", True)]),
            ("undelivered", {"ErrorCode": "30006"}, [("bounced", True)]),
            ("failed", {"ErrorCode": "30001"}, [("refused", False)]),
            ("received", {}, []),
            ("delivered", {"MessageSid": ""}, []),
        ],
    )
    def test_events(self, status: str, fields: dict[str, str], expected: list[tuple[str, bool]]) -> None:
        assert brief(parse(URL, *posted(status, **fields), [TOKEN], NOW)) == expected

    def test_the_same_news_is_one_receipt(self) -> None:
        first, later = (parse(URL, *posted("sent"), [TOKEN], at)[0].id for at in (NOW, NOW + timedelta(hours=1)))
        assert first == later

    def test_without_a_reference_in_the_url(self) -> None:
        url = "https://example.com/sms"
        assert parse(url, *posted("sent", url=url), [TOKEN], NOW)[0].reference is None

    def test_old_and_new_tokens_both_verify(self) -> None:
        for token in (TOKEN, "new"):
            assert parse(URL, *posted("sent", token=token), [TOKEN, "new"], NOW)

    @pytest.mark.parametrize("url", ["https://example.com/sms", "http://example.com/sms?duebook=7.0a1b2c3d"])
    def test_what_was_signed_for_another_url_is_refused(self, url: str) -> None:
        with pytest.raises(UnverifiedReceipt):
            parse(url, *posted("sent"), [TOKEN], NOW)

    def test_what_was_changed_is_refused(self) -> None:
        headers, body = posted("sent")
        changed: list[tuple[Mapping[str, str], bytes]] = [
            (headers, body.replace(b"SM90", b"SM91")), (headers, body + b"&ErrorCode=1"), ({}, body),
        ]  # fmt: skip
        for request in changed:
            with pytest.raises(UnverifiedReceipt):
                parse(URL, *request, [TOKEN], NOW)

    @pytest.mark.parametrize("secrets", [TOKEN, [], [""]])
    def test_secrets_that_prove_nothing(self, secrets: Any) -> None:
        with pytest.raises(InvalidInput) as error:
            parse(URL, *posted("sent"), secrets, NOW)
        assert error.value.field == "secrets"

    @pytest.mark.parametrize("body", [b"{}", b"\xff=1", b"To=%FF"])
    def test_a_body_that_cannot_be_read(self, body: bytes) -> None:
        with pytest.raises(InvalidInput, match="body"):
            parse(URL, {}, body, [TOKEN], NOW)
