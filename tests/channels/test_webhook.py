"""Webhooks: what an answer, or none, may be taken for; signatures; and where they may go."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook as Verifier

from duebook.channels.http.answer import Answer
from duebook.channels.webhook import WebhookChannel, guard
from duebook.channels.webhook.request import encode, sign, signers
from duebook.channels.webhook.verdict import judge
from duebook.domain.message import freeze, thaw
from duebook.domain.outcome import Accepted, Rejected, Retry, Throttled, Uncertain
from duebook.errors import InvalidInput, InvalidMessage
from duebook.testing.doubles import Drop, DropUnread, Hang, HttpAnswer, HttpDouble, Raw, Reply

from .support import NOW, SHORT, context, email, webhook, word
from .tls import certificate

# The example of the specification.
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

Step = HttpAnswer | DropUnread


def answers(addresses: list[str]) -> Any:
    async def resolve(url: object) -> list[str]:
        return addresses

    return resolve


@asynccontextmanager
async def receiver(*steps: Step, **settings: Any) -> AsyncIterator[tuple[WebhookChannel, HttpDouble]]:
    async with HttpDouble() as server:
        server.next(*steps)
        settings = {"allow_private": True, **settings}
        yield WebhookChannel(f"{server.url}/hook?token=s3cret", **settings), server


@pytest.mark.parametrize(
    ("step", "expected", "received"),
    [
        (Reply(200), "Accepted", 1),
        (Reply(204), "Accepted", 1),
        (Reply(200, body=b"half", cut=True), "Accepted", 1),
        (DropUnread(), "Uncertain", 0),
        (Drop(), "Uncertain", 1),
        (Hang(), "Uncertain", 1),
        (Raw(b"garbage\r\n\r\n"), "Uncertain", 1),
        (Raw(b"HTTP/1.1 200"), "Uncertain", 1),
        (Reply(302, headers={"location": "http://127.0.0.1:1/"}), "Rejected", 1),
        (Reply(400, body=b"no such event"), "Rejected", 1),
        (Reply(410), "Rejected", 1),
        (Reply(408), "Retry", 1),
        (Reply(425), "Retry", 1),
        (Reply(500, body=b"oops"), "Retry", 1),
        (Reply(429), "Throttled", 1),
        (Reply(503), "Throttled", 1),
        (Reply(502), "Uncertain", 1),
        (Reply(504), "Uncertain", 1),
    ],
)
async def test_what_an_attempt_answers(step: Step, expected: str, received: int) -> None:
    async with receiver(step) as (channel, server):
        deadline = SHORT if isinstance(step, Hang) else 5.0
        outcome = await channel.send(webhook(), context(deadline_seconds=deadline))
        assert (word(outcome), len(server.requests)) == (expected, received), outcome
        assert server.connections == 1
        assert "s3cret" not in repr(outcome)


async def test_a_drop_on_connecting_is_retry_because_the_body_never_began_to_leave() -> None:
    channel = WebhookChannel("http://127.0.0.1:1/", allow_private=True)
    assert isinstance(await channel.send(webhook(), context()), Retry)


async def test_a_cancelled_attempt_closes_its_connection() -> None:
    async with receiver(Hang()) as (channel, server):
        sending = asyncio.create_task(channel.send(webhook(), context()))
        await server.until(lambda: server.requests)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await server.until(lambda: not server.open_connections)


async def test_the_request() -> None:
    async with receiver(secrets=[SECRET], headers={"Authorization": "Bearer t"}) as (channel, server):
        for number in (1, 2):
            await channel.send(webhook(body={"z": "Ü", "a": 1}), context(number=number))
        first, second = server.requests
        assert (first.method, first.target) == ("POST", "/hook?token=s3cret")
        assert first.body == second.body == '{"a":1,"z":"Ü"}'.encode()
        assert first.headers["host"] == f"127.0.0.1:{server.port}"
        assert first.headers["content-type"] == "application/json"
        assert first.headers["authorization"] == "Bearer t"
        assert first.headers["webhook-id"] == second.headers["webhook-id"] == first.headers["idempotency-key"]
        assert "." not in first.headers["webhook-id"]
        assert first.headers["webhook-timestamp"] == str(int(NOW.timestamp()))


def test_only_a_receiver_that_all_messages_share_opens_the_breaker() -> None:
    assert WebhookChannel().policy.breaker == 0
    assert WebhookChannel("https://example.com/hook").policy.breaker > 0


def test_the_vector_of_standard_webhooks() -> None:
    at = datetime.fromtimestamp(1614265330, UTC)
    headers = sign(signers([SECRET]), "msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}')
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


async def test_old_and_new_secrets_both_verify_while_they_are_rotated() -> None:
    now = datetime.now(UTC)
    old, new = SECRET, "whsec_" + "bmV3LXNlY3JldC1mb3ItdGVzdHM="
    async with receiver(secrets=[old, new]) as (channel, server):
        await channel.send(webhook(), context(now=now))
        for secret in (old, new):
            assert Verifier(secret).verify(server.requests[0].body, dict(server.requests[0].headers)) == dict(
                webhook().body
            )


def test_a_body_is_the_same_bytes_after_the_store() -> None:
    message = webhook(body={"b": 1, "a": {10: "x", 2: "y"}, "c": ["Ü", 1.5, None, True]})
    stored = thaw(freeze(message))
    assert encode(message.body) == encode(stored.body)  # type: ignore[attr-defined]


@pytest.mark.parametrize("body", [{"a": object()}, {"a": float("nan")}, {"a": b"x"}])
def test_a_body_that_is_not_json_is_refused(body: dict[str, object]) -> None:
    with pytest.raises(InvalidMessage):
        encode(body)


class TestVerdicts:
    def judge(self, status: int, retry_after: str | None = None, **changes: Any) -> Any:
        settings = {"now": NOW, "own_receiver": True, "repeats_key": False, **changes}
        headers = {"retry-after": retry_after} if retry_after else {}
        return judge(Answer(status, headers), **settings)

    def test_h45_a_throttle_holds_the_channel_as_long_as_it_was_asked(self) -> None:
        assert self.judge(429, "30").until == NOW + timedelta(seconds=30)

    def test_h48_an_http_date(self) -> None:
        assert self.judge(429, "Wed, 09 Sep 2026 12:00:00 GMT").until == datetime(2026, 9, 9, 12, tzinfo=UTC)

    def test_h44_a_negative_wait_is_ignored(self) -> None:
        assert self.judge(429, "-5") == Throttled("429 Too Many Requests", None)

    def test_h46_an_epoch_is_capped(self) -> None:
        assert self.judge(429, "1771404540").until == NOW + timedelta(hours=24)

    def test_one_customers_throttle_does_not_stop_the_others(self) -> None:
        assert self.judge(429, "30", own_receiver=False) == Retry("429 Too Many Requests", timedelta(seconds=30))
        assert isinstance(self.judge(503, own_receiver=False), Retry)

    def test_a_key_that_is_known_refuses_nothing(self) -> None:
        for status in (409, 422):
            assert isinstance(self.judge(status), Rejected)
            assert isinstance(self.judge(status, repeats_key=True), Uncertain)

    @pytest.mark.parametrize("status", [100, 101, 199, 600, 999])
    def test_a_status_beyond_http_decides_nothing(self, status: int) -> None:
        assert isinstance(self.judge(status), Uncertain)

    @pytest.mark.parametrize(
        ("body", "name"),
        [(b'{"id":"evt_1"}', "evt_1"), (b'{"id":7}', "7"), (b'{"id":true}', None), (b"[1]", None), (b"{", None)],
    )
    def test_the_receivers_name_for_the_message(self, body: bytes, name: str | None) -> None:
        answer = Answer(200, {"content-type": "application/json"}, body)
        assert judge(answer, now=NOW, own_receiver=True, repeats_key=False) == Accepted(name)


async def test_a_message_to_another_receiver_throttles_only_itself() -> None:
    async with receiver(Reply(429), Reply(429)) as (channel, server):
        assert word(await channel.send(webhook(to=f"{server.url}/own"), context("own"))) == "Throttled"
        other = webhook(to=f"{server.url}/other".replace("127.0.0.1", "localhost"))
        assert word(await channel.send(other, context("other"))) == "Retry"


async def test_a_repeat_that_meets_its_own_key_is_not_refused() -> None:
    async with receiver(*[Reply(409)] * 3, key_window=timedelta(hours=1)) as (channel, _):
        outcomes = [await channel.send(webhook(), context(number=number)) for number in (1, 2)]
        assert [word(outcome) for outcome in outcomes] == ["Rejected", "Uncertain"]


class TestGuard:
    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
            "0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.0.192", "198.18.0.1", "168.63.129.16",
            "::", "::1", "fe80::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
            "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::", "2001:db8::1", "not an address",
            "fe80::1%eth0", "fec0::1", "64:ff9b:1::a00:1", "5f00::1",
        ],
    )  # fmt: skip
    def test_addresses_outside_the_internet(self, address: str) -> None:
        assert not guard.is_public(address)

    @pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
    def test_public_addresses(self, address: str) -> None:
        assert guard.is_public(address)

    @pytest.mark.parametrize(
        "url",
        [
            "ftp://8.8.8.8/", "file:///etc/passwd", "gopher://8.8.8.8", "https://", "//8.8.8.8/", "8.8.8.8", "",
            "http://user:pass@8.8.8.8/", "http://pass@8.8.8.8/", "http://8.8.8.8:99999/", "http://8.8.8.8:0/",
            "http://[::1/", "http://8.8.8.8:pass/", "http://a b/", "http://[fe80::1%25eth0]/",
        ],
    )  # fmt: skip
    def test_urls_that_are_none(self, url: str) -> None:
        with pytest.raises(guard.Forbidden) as error:
            guard.parse(url)
        assert "pass" not in str(error.value).replace("password", "")

    @pytest.mark.parametrize(
        "url",
        [
            "http://localhost/", "http://127.0.0.1/", "http://[::1]/", "http://2130706433/", "http://0x7f.1/",
            "http://[::ffff:127.0.0.1]/", "http://0/", "http://127.1/", "https://[fe80::1]/",
        ],
    )  # fmt: skip
    async def test_ways_to_write_an_address_of_this_machine(self, url: str) -> None:
        outcome = await WebhookChannel().send(webhook(to=url), context())
        assert isinstance(outcome, Rejected)
        assert "not a public address" in outcome.reason

    async def test_no_url_at_all(self) -> None:
        assert isinstance(await WebhookChannel().send(webhook(), context()), Rejected)

    async def test_one_private_address_among_public_ones_refuses_them_all(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(guard, "resolve", answers(["8.8.8.8", "10.0.0.1"]))
        with pytest.raises(guard.Forbidden, match=r"10\.0\.0\.1"):
            await guard.approve(guard.parse("https://hooks.example/"), allow_private=False)

    async def test_the_connection_goes_to_the_address_that_was_judged(self, monkeypatch: Any) -> None:
        """A name that nobody else can resolve is still reached: there is no second look-up to be lied to in."""
        monkeypatch.setattr(guard, "resolve", answers(["127.0.0.1"]))
        async with receiver() as (channel, server):
            outcome = await channel.send(webhook(to=f"http://hooks.invalid:{server.port}/"), context())
            assert word(outcome) == "Accepted"
            assert server.requests[0].headers["host"] == f"hooks.invalid:{server.port}"

    async def test_the_next_address_is_tried_while_nothing_has_left(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(guard, "resolve", answers(["127.0.0.2", "127.0.0.1"]))
        async with receiver() as (channel, server):
            outcome = await channel.send(webhook(to=f"http://hooks.invalid:{server.port}/"), context())
            assert word(outcome) == "Accepted"

    async def test_no_other_address_is_tried_once_the_request_has_left(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(guard, "resolve", answers(["127.0.0.1", "127.0.0.1"]))
        async with receiver(Drop()) as (channel, server):
            assert word(await channel.send(webhook(), context())) == "Uncertain"
            assert server.connections == 1

    async def test_the_certificate_must_be_that_of_the_name(self, monkeypatch: Any, tmp_path: Path) -> None:
        monkeypatch.setattr(guard, "resolve", answers(["127.0.0.1"]))
        papers = certificate(tmp_path, "hooks.invalid")
        async with HttpDouble(tls=papers.server) as server:
            channel = WebhookChannel(allow_private=True, tls_context=papers.client)
            right = await channel.send(webhook(to=f"https://hooks.invalid:{server.port}/"), context("right"))
            wrong = await channel.send(webhook(to=f"https://other.invalid:{server.port}/"), context("wrong"))
            assert (word(right), word(wrong), len(server.requests)) == ("Accepted", "Retry", 1)

    async def test_a_name_without_an_address_is_tried_again_later(self) -> None:
        outcome = await WebhookChannel("https://nowhere.invalid/").send(webhook(), context(deadline_seconds=2))
        assert isinstance(outcome, Retry)


async def test_another_type_of_message_is_rejected() -> None:
    assert isinstance(await WebhookChannel().send(email(), context()), Rejected)


@pytest.mark.parametrize(
    "settings",
    [
        {"secrets": SECRET},
        {"secrets": ["whsec_"]},
        {"secrets": ["not base64 §"]},
        {"headers": {"Host": "x"}},
        {"headers": {"X-Evil": "a\r\nb: c"}},
        {"headers": {"bad name": "x"}},
        {"connect_seconds": 0},
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as error:
        WebhookChannel(**settings)
    assert "MfKQ" not in str(error.value)


def test_secrets_stay_out_of_its_text() -> None:
    channel = WebhookChannel("https://hooks.example/s3cret", secrets=[SECRET], headers={"Authorization": "t0ken"})
    assert not {"MfKQ", "s3cret", "t0ken"} & set(json.dumps(repr(channel)).split())
    assert repr(channel) == "WebhookChannel(name='webhook')"
