"""Against aiosmtpd, a server that was written by somebody else: plain, with a log-in, and with TLS."""

from __future__ import annotations

import asyncio
import email.policy
import gc
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from typing import Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from duebook.channels.smtp import Smtp
from duebook.domain.outcome import Retry
from duebook.errors import InvalidInput
from duebook.testing.doubles import Say, SmtpDouble

from .support import context, word
from .support import email as mail
from .tls import Certificate, certificate

PASSWORD = "correct horse"


class Inbox:
    def __init__(self) -> None:
        self.envelopes: list[Envelope] = []

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: N802
        self.envelopes.append(envelope)
        return "250 2.0.0 Ok: queued as A1"


def authenticate(server: object, session: object, envelope: object, mechanism: str, data: object) -> AuthResult:
    right = isinstance(data, LoginPassword) and data.password == PASSWORD.encode()
    return AuthResult(success=right, handled=False)


class OnAnyPort(Controller):
    """The library proves that it listens by connecting to the port it was asked for, which is 0 here."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def aiosmtpd(**settings: Any) -> Iterator[tuple[Inbox, int]]:
    inbox = Inbox()
    controller = OnAnyPort(inbox, hostname="127.0.0.1", port=0, ready_timeout=5, **settings)
    controller.start()
    try:
        yield inbox, controller.port
    finally:
        controller.stop()


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate(tmp_path_factory.mktemp("tls"), "localhost")


async def sent(channel: Smtp, key: str = "one") -> str:
    outcome = await channel.send(mail(text="Grüße\n.\n"), context(key))
    await channel.close()
    return word(outcome)


async def test_a_message_arrives() -> None:
    with aiosmtpd() as (inbox, port):
        channel = Smtp("127.0.0.1", port, sender="renewals@example.com", sender_name="Renewals", tls="none")
        assert await sent(channel) == "Accepted"
        envelope = inbox.envelopes[0]
        assert (envelope.mail_from, envelope.rcpt_tos) == ("renewals@example.com", ["ann@example.net"])
        assert isinstance(envelope.content, bytes)
        found = message_from_bytes(envelope.content, policy=email.policy.default)
        assert found["Message-ID"] == context("one").message_id
        assert found.get_content().splitlines() == ["Grüße", "."]


async def test_starttls_and_log_in(papers: Certificate) -> None:
    with aiosmtpd(tls_context=papers.server, require_starttls=True, authenticator=authenticate) as (inbox, port):
        settings: dict[str, Any] = {"sender": "a@example.com", "tls_context": papers.client, "username": "u"}
        assert await sent(Smtp("localhost", port, password=PASSWORD, **settings)) == "Accepted"
        wrong = Smtp("localhost", port, password="battery staple", **settings)
        outcome = await wrong.send(mail(), context("two"))
        assert isinstance(outcome, Retry)
        assert outcome.reason.startswith("login: 535")
        assert "battery staple" not in outcome.reason
        assert "battery staple" not in repr(wrong)
        assert len(inbox.envelopes) == 1


@pytest.mark.parametrize("tls", ["implicit", "opportunistic"])
async def test_other_ways_to_tls(papers: Certificate, tls: Any) -> None:
    server = {"ssl_context": papers.server} if tls == "implicit" else {"tls_context": papers.server}
    with aiosmtpd(**server) as (_, port):
        channel = Smtp("localhost", port, sender="a@example.com", tls=tls, tls_context=papers.client)
        assert await sent(channel) == "Accepted"


@pytest.mark.parametrize("tls", ["implicit", "starttls"])
async def test_a_certificate_nobody_vouches_for_is_the_channels_problem(papers: Certificate, tls: Any) -> None:
    server = {"ssl_context": papers.server} if tls == "implicit" else {"tls_context": papers.server}
    with aiosmtpd(**server) as (inbox, port):
        stranger = ssl.create_default_context()
        channel = Smtp("localhost", port, sender="a@example.com", tls=tls, tls_context=stranger)
        assert await sent(channel) == "Retry"
        assert inbox.envelopes == []


async def test_a_server_without_starttls_is_the_channels_problem() -> None:
    with aiosmtpd() as (inbox, port):
        assert await sent(Smtp("127.0.0.1", port, sender="a@example.com")) == "Retry"
        assert inbox.envelopes == []


async def test_a_refused_starttls_is_not_passed_over() -> None:
    async with SmtpDouble(extensions=("STARTTLS",)) as server:
        server.next("STARTTLS", Say("454 not now"))
        assert await sent(Smtp("127.0.0.1", server.port, sender="a@example.com", tls="opportunistic")) == "Retry"
        assert server.accepted == []


async def test_a_password_does_not_go_in_the_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidInput, match="in the clear"):
        Smtp("mail.example", sender="a@example.com", tls="none", username="u", password="p")
    async with SmtpDouble(extensions=("AUTH PLAIN",)) as server:
        channel = Smtp("0.0.0.0", server.port, sender="a@example.com", tls="opportunistic", username="u", password="p")
        assert await sent(channel) == "Retry"
        assert not any(line.startswith("AUTH") for line in server.commands)


async def test_a_temporary_failure_to_log_in_is_retried() -> None:
    async with SmtpDouble(extensions=("AUTH PLAIN",)) as server:
        server.next("AUTH", Say("454 4.7.0 try later"))
        channel = Smtp("127.0.0.1", server.port, sender="a@example.com", tls="none", username="u", password="p")
        assert await sent(channel, "one") == "Retry"
        assert await sent(channel, "two") == "Accepted"


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_channel_outlives_its_event_loop() -> None:
    """The connection it kept belonged to the loop that is gone, and is not asked again."""
    with aiosmtpd() as (inbox, port):
        channel = Smtp("127.0.0.1", port, sender="a@example.com", tls="none")
        outcomes = [asyncio.run(channel.send(mail(), context(key))) for key in ("one", "two")]
        assert [word(outcome) for outcome in outcomes] == ["Accepted", "Accepted"]
        assert len(inbox.envelopes) == 2
    # What the dead loops left open is found here, where it is expected, and not in the middle of another test.
    del channel
    gc.collect()


class TestSettings:
    def test_from_url(self) -> None:
        channel = Smtp.from_url("smtps://u%40x:p%2Fw@mail.example", sender="a@example.com", rate=5)
        assert repr(channel) == "Smtp('mail.example', 465, name='email', tls='implicit')"
        assert channel.policy.rate == 5
        assert (channel._server.username, channel._server.password) == ("u@x", "p/w")
        assert repr(Smtp.from_url("smtp://localhost:1025?tls=none", sender="a@example.com")).endswith("tls='none')")

    @pytest.mark.parametrize(
        "url",
        [
            "http://u:hunter2@x", "smtp://", "smtp://u:hunter2@x:port", "smtp://u:hunter2@x?verify=no",
            "smtp://u:hunter2@x?tls=maybe", "smtp://u:hunter2@x?tls", "smtp://:hunter2@x:99999",
        ],
    )  # fmt: skip
    def test_a_url_that_cannot_work_stays_out_of_the_error(self, url: str) -> None:
        with pytest.raises(InvalidInput) as error:
            Smtp.from_url(url, sender="a@example.com")
        assert "hunter2" not in str(error.value)

    @pytest.mark.parametrize(
        "settings",
        [
            {"sender": "nobody"},
            {"port": 0},
            {"host": ""},
            {"host": "a\r\nb"},
            {"username": "u"},
            {"connect_seconds": 0},
            {"command_seconds": 301},
            {"idle_seconds": -1},
            {"messages_per_connection": 0},
            {"tls": "ssl"},
            {"sender_name": "a\r\nBcc: b"},
            {"key_header": "Bad Name"},
        ],
    )
    def test_settings_that_cannot_work(self, settings: dict[str, Any]) -> None:
        with pytest.raises(InvalidInput):
            Smtp(**{"sender": "a@example.com", **settings})
