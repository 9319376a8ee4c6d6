"""Web push: what reaches the browser, what the push services' answers mean, and when a subscription is removed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from duebook.channels.webpush import PAYLOAD_BYTES, WebPush
from duebook.domain.message import Message, Push
from duebook.domain.outcome import Accepted, Rejected, Retry
from duebook.errors import InvalidInput
from duebook.testing import ChannelContract, Rig
from duebook.testing.contracts import Behaviour
from duebook.testing.doubles import Drop, Hang, HttpAnswer, HttpDouble, Reply

from .browser import AUTH, decoded, opened, subscription
from .support import context, webhook, word
from .tls import Certificate, certificate

PATH = "/wpush/v2/s3cret-endpoint"


def private_key(curve: ec.EllipticCurve) -> str:
    key = ec.generate_private_key(curve)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


VAPID_KEY = private_key(ec.SECP256R1())


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("tls"), "localhost")


def channel(tls: Certificate, **settings: Any) -> WebPush:
    settings = {"contact": "ops@example.com", "allow_private": True, "tls_context": tls.client, **settings}
    return WebPush(VAPID_KEY, **settings)


@asynccontextmanager
async def service(tls: Certificate, *answers: HttpAnswer) -> AsyncIterator[HttpDouble]:
    """Give a push service. The first requests get these answers, all others are taken."""
    async with HttpDouble(lambda request: Reply(201, headers={"location": "/m/1"}), tls=tls.server) as double:
        double.next(*answers)
        yield double


def endpoint(double: HttpDouble, path: str = PATH) -> str:
    return f"https://localhost:{double.port}{path}"


def push(to: str, **changes: Any) -> Push:
    return Push(**{"to": to, "title": "Renewal", "body": "Monday", **changes})


class TestContract(ChannelContract):
    tls: Certificate
    port: int

    @pytest.fixture(autouse=True)
    def _trust(self, tls: Certificate) -> None:
        self.tls = tls

    @asynccontextmanager
    async def rig(self, provider: Behaviour) -> AsyncIterator[Rig]:
        first: dict[Behaviour, Sequence[HttpAnswer]] = {
            "accepts": [], "refuses": [Reply(413)], "breaks": [Drop(take=True)], "hangs": [Hang(take=True)],
        }  # fmt: skip
        async with service(self.tls, *first[provider]) as double:
            self.port = double.port
            yield Rig(
                channel(self.tls),
                lambda: [request.headers["topic"] for request in double.requests],
                lambda: double.until(lambda: double.requests),
            )

    def message(self) -> Message:
        return push(subscription(f"https://localhost:{self.port}{PATH}"))

    def foreign(self) -> Message:
        return webhook()


def test_the_vector_of_rfc_8291() -> None:
    """Appendix A: it shows that this browser reads what the RFC seals, and so judges rightly what the channel seals."""
    sealed = (
        "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
        "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
    )
    assert opened(decoded(sealed)) == b"When I grow up, I want to be a watermelon"


async def test_the_request(tls: Certificate) -> None:
    async with service(tls) as double:
        sender = channel(tls, ttl=timedelta(hours=2), urgency="high")
        outcome = await sender.send(push(subscription(endpoint(double)), data={"url": "/ä"}), context())
        [request] = double.requests
    assert outcome == Accepted()
    assert (request.method, request.target) == ("POST", PATH)
    assert (request.headers["ttl"], request.headers["urgency"]) == ("7200", "high")
    assert request.headers["content-encoding"] == "aes128gcm"
    assert json.loads(opened(request.body)) == {
        "title": "Renewal",
        "body": "Monday",
        "data": {"url": "/ä"},
        "tag": request.headers["topic"],
    }
    assert len(request.headers["topic"]) == 32


async def test_a_repeat_takes_the_place_of_the_first(tls: Certificate) -> None:
    async with service(tls) as double:
        for number, key in ((1, "a"), (2, "a"), (1, "b")):
            await channel(tls).send(push(subscription(endpoint(double))), context(key, number=number))
        first, again, other = (json.loads(opened(request.body)) for request in double.requests)
    assert first == again
    assert first["tag"] != other["tag"]


async def test_it_says_who_sends(tls: Certificate) -> None:
    async with service(tls) as double:
        await channel(tls).send(push(subscription(endpoint(double))), context())
        scheme, _, fields = double.requests[0].headers["authorization"].partition(" ")
    token, key = (field.partition("=")[2] for field in fields.split(", "))
    public_key = load_pem_private_key(VAPID_KEY.encode(), None).public_key()
    assert isinstance(public_key, ec.EllipticCurvePublicKey)
    claims = jwt.decode(token, public_key, algorithms=["ES256"], audience="https://localhost")
    assert (scheme, claims["sub"]) == ("vapid", "mailto:ops@example.com")
    assert ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decoded(key)) == public_key


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (200, "Accepted"),
        (201, "Accepted"),
        (202, "Accepted"),
        (302, "Uncertain"),
        (400, "Rejected"),
        (401, "Retry"),
        (403, "Retry"),
        (404, "Rejected"),
        (406, "Retry"),
        (408, "Uncertain"),
        (410, "Rejected"),
        (413, "Rejected"),
        (429, "Retry"),
        (500, "Uncertain"),
        (502, "Uncertain"),
        (503, "Retry"),
        (504, "Uncertain"),
    ],
)
async def test_what_the_answers_mean(tls: Certificate, status: int, expected: str) -> None:
    async with service(tls, Reply(status, f"about {PATH}")) as double:
        outcome = await channel(tls).send(push(subscription(endpoint(double))), context())
    assert word(outcome) == expected
    assert "s3cret" not in repr(outcome)


async def test_a_throttle_holds_up_nobody_else(tls: Certificate) -> None:
    async with service(tls, Reply(429, headers={"Retry-After": "30"})) as double:
        outcome = await channel(tls).send(push(subscription(endpoint(double))), context())
    assert outcome == Retry("429 Too Many Requests", timedelta(seconds=30))
    assert channel(tls).policy.breaker == 0


class TestGone:
    async def test_h51_only_what_is_gone_is_removed(self, tls: Certificate) -> None:
        subscriptions = {"/1": 410, "/2": 201, "/3": 404, "/4": 500, "/5": 503}
        removed: list[str] = []
        async with HttpDouble(lambda request: Reply(subscriptions[request.path]), tls=tls.server) as double:
            sender = channel(tls, on_gone=removed.append)
            for path in subscriptions:
                await sender.send(push(subscription(endpoint(double, path))), context())
            assert removed == [endpoint(double, "/1"), endpoint(double, "/3")]
            assert len(double.requests) == len(subscriptions)

    async def test_the_hook_is_awaited(self, tls: Certificate) -> None:
        removed: list[str] = []

        async def remove(gone: str) -> None:
            removed.append(gone)

        async with service(tls, Reply(410)) as double:
            outcome = await channel(tls, on_gone=remove).send(push(subscription(endpoint(double))), context())
            assert removed == [endpoint(double)]
        assert outcome == Rejected("410: the subscription is gone; remove it")

    async def test_a_hook_that_raises_does_not_change_what_is_known(self, tls: Certificate) -> None:
        def remove(gone: str) -> None:
            raise LookupError(gone)

        async with service(tls, Reply(410)) as double:
            outcome = await channel(tls, on_gone=remove).send(push(subscription(endpoint(double))), context())
        assert outcome == Rejected("410: the subscription is gone; remove it (on_gone raised LookupError)")


class TestWhatIsNeverSent:
    @pytest.mark.parametrize(
        ("to", "reason"),
        [
            ("not JSON", "subscription"),
            ("[]", "subscription"),
            ("{}", "subscription"),
            ('{"endpoint": 7}', "subscription"),
            ('{"endpoint": "https://push.example.com/x"}', "keys"),
            (subscription("https://push.example.com/x", p256dh="AAAA"), "keys"),
            (subscription("https://push.example.com/x", auth="A"), "keys"),
            (subscription("http://push.example.com/x"), "https"),
            (subscription("ftp://push.example.com/x"), "https"),
            (subscription("https://me:pass@push.example.com/x"), "password"),
        ],
    )
    async def test_what_is_no_subscription(self, tls: Certificate, to: str, reason: str) -> None:
        outcome = await channel(tls).send(push(to), context())
        assert isinstance(outcome, Rejected)
        assert reason in outcome.reason
        assert AUTH not in outcome.reason

    async def test_an_endpoint_inside_our_network(self, tls: Certificate) -> None:
        async with service(tls) as double:
            outcome = await channel(tls, allow_private=False).send(push(subscription(endpoint(double))), context())
            assert word(outcome) == "Rejected"
            assert double.connections == 0

    async def test_a_payload_of_the_last_byte_is_sent_and_one_more_is_not(self, tls: Certificate) -> None:
        async with service(tls) as double:
            to = subscription(endpoint(double))
            await channel(tls).send(push(to, body=""), context())
            room = PAYLOAD_BYTES - len(opened(double.requests[0].body))
            outcomes = [await channel(tls).send(push(to, body="x" * size), context()) for size in (room, room + 1)]
            assert len(double.requests[1].body) == 4_096
        assert [word(outcome) for outcome in outcomes] == ["Accepted", "Rejected"]


@pytest.mark.parametrize(
    ("key", "settings", "field"),
    [
        ("s3cret", {}, "private_key"),
        (private_key(ec.SECP384R1()), {}, "private_key"),
        (VAPID_KEY, {"contact": ""}, "contact"),
        (VAPID_KEY, {"ttl": timedelta(days=29)}, "ttl"),
        (VAPID_KEY, {"ttl": timedelta(seconds=-1)}, "ttl"),
        (VAPID_KEY, {"urgency": "urgent"}, "urgency"),
        (VAPID_KEY, {"connect_seconds": 60}, "connect_seconds"),
    ],
)
def test_settings_that_cannot_work(key: str, settings: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as error:
        WebPush(key, **{"contact": "ops@example.com", **settings})
    assert error.value.field == field
    assert "s3cret" not in str(error.value)
    assert "BEGIN" not in str(error.value)


def test_secrets_stay_out_of_its_text(tls: Certificate) -> None:
    assert repr(channel(tls)) == "WebPush(name='push')"
