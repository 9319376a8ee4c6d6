"""Phase by phase: what the server does, and what the channel may say about it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest
from aiosmtplib.protocol import SMTPProtocol

from duebook.channels.deadline import Deadline
from duebook.channels.smtp import Smtp
from duebook.channels.smtp.address import parse
from duebook.channels.smtp.connection import connect
from duebook.channels.smtp.conversation import Broken, converse
from duebook.channels.smtp.mime import Letter
from duebook.domain.outcome import Accepted, Rejected, Retry, Throttled, Uncertain
from duebook.testing.doubles import Drop, Hang, Mail, Phase, Say, SmtpDouble, SmtpStep

from .support import SHORT, context, email, webhook, word

Script = dict[Phase, list[SmtpStep]]


@asynccontextmanager
async def post_office(
    script: Script | None = None, extensions: tuple[str, ...] = (), **settings: Any
) -> AsyncIterator[tuple[Smtp, SmtpDouble]]:
    async with SmtpDouble(extensions=extensions) as server:
        for phase, steps in (script or {}).items():
            server.next(phase, *steps)
        settings = {"sender": "renewals@example.com", "tls": "none", **settings}
        channel = Smtp("127.0.0.1", server.port, **settings)
        try:
            yield channel, server
        finally:
            await channel.close()


BEFORE_THE_DOT: list[Phase] = ["greeting", "EHLO", "MAIL", "RCPT", "DATA"]
PER_MESSAGE: list[Phase] = ["MAIL", "RCPT", "DATA", "dot"]
EVERYWHERE: list[Phase] = [*BEFORE_THE_DOT, "dot"]

MATRIX: list[tuple[Phase, SmtpStep, str, int]] = [
    *[(phase, Drop(), "Retry", 0) for phase in BEFORE_THE_DOT],
    *[(phase, Hang(), "Retry", 0) for phase in BEFORE_THE_DOT],
    *[(phase, Say("451 4.3.0 local trouble"), "Retry", 0) for phase in EVERYWHERE],
    *[(phase, Say("421 4.3.2 shutting down"), "Retry", 0) for phase in EVERYWHERE],
    *[(phase, Say("garbage"), "Retry", 0) for phase in BEFORE_THE_DOT],
    *[(phase, Say("999 beyond"), "Retry", 0) for phase in BEFORE_THE_DOT],
    *[(phase, Say("421 4.7.0 too many connections"), "Throttled", 0) for phase in EVERYWHERE],
    *[(phase, Say("454 4.7.0 Throttling failure"), "Throttled", 0) for phase in PER_MESSAGE],
    *[(phase, Say("454 4.7.0 temporary failure"), "Retry", 0) for phase in PER_MESSAGE],
    *[(phase, Say("550 5.7.1 refused"), "Rejected", 0) for phase in PER_MESSAGE],
    ("greeting", Say("554 5.7.1 not for you"), "Retry", 0),
    *[(phase, Say("530 5.7.0 authentication required"), "Retry", 0) for phase in PER_MESSAGE[:-1]],
    ("RCPT", Say("450 4.7.1 greylisted, too many messages later"), "Throttled", 0),
    ("RCPT", Say("450 4.2.0 greylisted"), "Retry", 0),
    ("RCPT", Say("450 4.2.1 the user receives too many messages"), "Retry", 0),
    ("RCPT", Say("452 4.2.2 mailbox full"), "Retry", 0),
    ("RCPT", Say("251 will forward"), "Accepted", 1),
    ("dot", Say("250 2.0.0 Ok: queued as 4B1C32", take=True), "Accepted", 1),
    ("dot", Say("250-first\r\n250 second", take=True), "Accepted", 1),
    ("dot", Drop(take=True), "Uncertain", 1),
    ("dot", Drop(), "Uncertain", 0),
    ("dot", Hang(take=True), "Uncertain", 1),
    ("dot", Hang(), "Uncertain", 0),
    ("dot", Say("garbage", take=True), "Uncertain", 1),
    ("dot", Say("999 beyond", take=True), "Uncertain", 1),
    ("dot", Say("354 again", take=True), "Uncertain", 1),
]


@pytest.mark.parametrize(("phase", "step", "expected", "taken"), MATRIX)
async def test_what_an_attempt_answers(phase: Phase, step: SmtpStep, expected: str, taken: int) -> None:
    async with post_office({phase: [step]}) as (channel, server):
        deadline = SHORT if isinstance(step, Hang) else 5.0
        outcome = await channel.send(email(), context(deadline_seconds=deadline))
        assert (word(outcome), len(server.accepted)) == (expected, taken), outcome
        if isinstance(outcome, Uncertain):
            assert outcome.phase == "data"
        if not isinstance(outcome, Accepted) and phase not in ("body", "dot"):
            assert outcome.reason


async def test_a_server_that_stops_reading_before_the_dot_took_nothing() -> None:
    """Below the limit on messages the buffers of both sides can hold all of it; this one is larger."""
    ann = parse("to", "ann@example.net")
    letter = Letter(ann, ann, content=b"a line of this long message\r\n" * 400_000, needs_smtputf8=False)
    async with post_office({"body": [Hang()]}) as (channel, server):
        connection = await connect(channel._server, Deadline(5.0))
        with pytest.raises(Broken) as broken:
            await converse(connection, letter, Deadline(0.5))
        connection.hang_up()
        assert broken.value.outcome == Retry("body: the server stopped reading")
        assert server.accepted == []


async def test_a_drop_while_the_message_travels_is_never_taken_for_an_answer() -> None:
    """A short message has left, dot included, before the loss is noticed; then nobody knows."""
    async with post_office({"body": [Drop()]}) as (channel, server):
        assert isinstance(await channel.send(email(), context()), Retry | Uncertain)
        assert server.accepted == []


async def test_nobody_listens() -> None:
    channel = Smtp("127.0.0.1", 1, sender="renewals@example.com", tls="none")
    assert word(await channel.send(email(), context())) == "Retry"


async def test_a_server_that_knows_no_ehlo_is_greeted_with_helo() -> None:
    async with post_office({"EHLO": [Say("502 what?")]}) as (channel, server):
        assert word(await channel.send(email(), context())) == "Accepted"
        assert [line.split()[0] for line in server.commands][:3] == ["EHLO", "HELO", "MAIL"]


async def test_another_type_of_message_is_rejected() -> None:
    channel = Smtp(sender="renewals@example.com", tls="none")
    assert word(await channel.send(webhook(), context())) == "Rejected"


async def test_h39_accepted_but_the_reply_is_lost() -> None:
    """freescout#5457: one copy and "unknown", not three copies and "failed"."""
    async with post_office({"dot": [Hang(take=True)]}) as (channel, server):
        first = await channel.send(email(), context(deadline_seconds=SHORT))
        assert isinstance(first, Uncertain)
        assert len(server.accepted) == 1
        await channel.send(email(), context(number=2))
        assert server.accepted[0].content == server.accepted[1].content


async def test_h40_the_final_reply_is_given_the_whole_attempt() -> None:
    """PHPMailer#1072: no time limit shorter than the attempt's own applies after the dot."""

    async def late(phase: Phase, mail: Mail) -> SmtpStep:
        if phase == "dot":
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.Event().wait(), 0.3)
        return server.step(phase, mail)

    async with SmtpDouble(late) as server:
        settings: dict[str, Any] = {"sender": "renewals@example.com", "tls": "none"}
        channel = Smtp("127.0.0.1", server.port, command_seconds=0.1, connect_seconds=0.1, **settings)
        assert channel.policy.send_seconds == 600
        assert word(await channel.send(email(), context(deadline_seconds=5))) == "Accepted"
        assert len(server.accepted) == 1
        await channel.close()


async def test_h42_a_late_reply_never_answers_the_next_message() -> None:
    """symfony#65352."""
    async with post_office({"dot": [Hang(take=True)], "RCPT": [Say("250 ok")]}) as (channel, server):
        first = await channel.send(email(), context("one", deadline_seconds=SHORT))
        second = await channel.send(email(subject="Second"), context("two"))
        assert isinstance(first, Uncertain)
        assert second == Accepted("Q2")
        assert server.connections == 2


async def test_an_unasked_reply_is_not_taken_for_the_next_message() -> None:
    stray = "250 2.0.0 Ok: queued as Q1\r\n550 5.1.1 no such user"
    async with post_office({"dot": [Say(stray, take=True)]}) as (channel, server):
        assert await channel.send(email(), context("one")) == Accepted("Q1")
        assert await channel.send(email(), context("two")) == Accepted("Q2")
        assert server.connections == 2


async def test_h43_the_one_recipient_decides() -> None:
    async with post_office({"RCPT": [Say("250 ok"), Say("550 5.1.1 gone")]}) as (channel, server):
        assert word(await channel.send(email(to="good@example.net"), context("one"))) == "Accepted"
        gone = await channel.send(email(to="gone@example.net"), context("two"))
        assert isinstance(gone, Rejected)
        assert "550 5.1.1 gone" in gone.reason
        assert [mail.recipients for mail in server.accepted] == [("good@example.net",)]


async def test_h47_throttling_after_the_dot_loses_nobody() -> None:
    """listmonk#2273: every second message of a hundred is throttled once; all are sent, each exactly once."""
    script: list[SmtpStep] = [Say("454 Throttling failure: Maximum sending rate exceeded.")]
    replies = [Say("250 ok", take=True), *script] * 100
    async with post_office({"dot": list(replies)}) as (channel, server):
        waiting, throttled = [f"user{number}" for number in range(100)], 0
        while waiting:
            user = waiting.pop(0)
            outcome = await channel.send(email(to=f"{user}@example.net"), context(user))
            if isinstance(outcome, Throttled):
                throttled += 1
                waiting.append(user)
            else:
                assert isinstance(outcome, Accepted)
        assert throttled > 40
        assert len(server.accepted) == len({mail.recipients[0] for mail in server.accepted}) == 100
        assert server.connections == 2


async def test_h69_addresses_outside_ascii() -> None:
    """flask-mail#28: (a) a domain becomes punycode, (b) a local part needs SMTPUTF8, (c) others go on."""
    async with post_office() as (channel, server):
        assert word(await channel.send(email(to="post@bücher.example"), context("a"))) == "Accepted"
        refused = await channel.send(email(to="jürgen@bücher.example"), context("b"))
        assert isinstance(refused, Rejected)
        assert "SMTPUTF8" in refused.reason
        assert word(await channel.send(email(), context("c"))) == "Accepted"
        assert [mail.recipients[0] for mail in server.accepted] == ["post@xn--bcher-kva.example", "ann@example.net"]


async def test_a_local_part_outside_ascii_goes_to_a_server_with_smtputf8() -> None:
    async with post_office(extensions=("8BITMIME", "SMTPUTF8")) as (channel, server):
        assert word(await channel.send(email(to="jürgen@bücher.example"), context())) == "Accepted"
        assert server.accepted[0].recipients == ("jürgen@xn--bcher-kva.example",)
        assert any(re.fullmatch(r"MAIL FROM:<.*> BODY=8BITMIME SMTPUTF8", line) for line in server.commands)
        assert "To: <jürgen@xn--bcher-kva.example>".encode() in server.accepted[0].content


@pytest.mark.parametrize("to", ["a..b@example.net", "a@nodot", "a@-x.example", f"{'a' * 65}@example.net", "a@x.test"])
async def test_a_malformed_address_is_rejected_before_connecting(to: str) -> None:
    async with post_office() as (channel, server):
        assert word(await channel.send(email(to=to), context())) == "Rejected"
        assert server.connections == 0


async def test_intranet_takes_names_without_a_public_domain() -> None:
    async with post_office(intranet=True) as (channel, server):
        for to in ("ann@mailhost", "ann@corp.local"):
            assert word(await channel.send(email(to=to), context(to))) == "Accepted"
        assert len(server.accepted) == 2


async def test_a_message_over_the_servers_size_is_rejected_without_sending_it() -> None:
    async with post_office(extensions=("SIZE 1000",)) as (channel, server):
        outcome = await channel.send(email(text="x" * 2_000), context("big"))
        assert isinstance(outcome, Rejected)
        assert word(await channel.send(email(), context("small"))) == "Accepted"
        assert any(" SIZE=" in line for line in server.commands)


async def test_lines_that_begin_with_a_dot_arrive_as_they_are() -> None:
    async with post_office() as (channel, server):
        await channel.send(email(text=".\n..\n.hidden\nend\n"), context())
        assert server.accepted[0].content.endswith(b"\r\n\r\n..\r\n...\r\n..hidden\r\nend\r\n")


class TestConnections:
    async def test_one_connection_serves_message_after_message(self) -> None:
        async with post_office() as (channel, server):
            for number in range(5):
                assert word(await channel.send(email(), context(str(number)))) == "Accepted"
            assert server.connections == 1
            assert server.commands.count("RSET") == 4

    async def test_it_is_closed_after_its_number_of_messages(self) -> None:
        async with post_office(messages_per_connection=2) as (channel, server):
            for number in range(4):
                await channel.send(email(), context(str(number)))
            assert server.connections == 2

    async def test_it_is_closed_when_idle(self) -> None:
        async with post_office(idle_seconds=0) as (channel, server):
            await channel.send(email(), context("one"))
            await server.until(lambda: not server.open_connections)
            assert "QUIT" in server.commands
            await channel.send(email(), context("two"))
            assert server.connections == 2

    async def test_concurrent_messages_have_a_connection_each(self) -> None:
        async with post_office(concurrency=3) as (channel, server):
            outcomes = await asyncio.gather(*[channel.send(email(), context(str(number))) for number in range(3)])
            assert {word(outcome) for outcome in outcomes} == {"Accepted"}
            assert server.connections == 3

    @pytest.mark.parametrize(
        "script",
        [
            {"RSET": [Drop()]},
            {"RSET": [Say("421 idle too long")]},
            {"RSET": [Say("550 no")]},
            {"RSET": [Say("garbage")]},
            {"MAIL": [Say("250 ok"), Drop()]},
            {"MAIL": [Say("250 ok"), Say("421 4.7.0 enough messages on this connection")]},
            {"RCPT": [Say("250 ok"), Drop()]},
        ],
    )
    async def test_a_stale_one_is_replaced_within_the_attempt(self, script: Script) -> None:
        async with post_office(script) as (channel, server):
            assert word(await channel.send(email(), context("one"))) == "Accepted"
            assert word(await channel.send(email(), context("two"))) == "Accepted"
            assert (server.connections, len(server.accepted)) == (2, 2)

    async def test_a_refusal_leaves_the_connection_usable(self) -> None:
        async with post_office({"RCPT": [Say("550 5.1.1 gone")]}) as (channel, server):
            assert word(await channel.send(email(), context("one"))) == "Rejected"
            assert word(await channel.send(email(), context("two"))) == "Accepted"
            assert server.connections == 1

    @pytest.mark.parametrize("phase", ["EHLO", "RCPT", "DATA", "dot"])
    async def test_a_cancelled_attempt_closes_its_connection(self, phase: Phase) -> None:
        async with post_office({phase: [Hang()]}) as (channel, server):
            sending = asyncio.create_task(channel.send(email(), context("one")))
            await server.until(lambda: server.reached[phase])
            sending.cancel()
            with pytest.raises(asyncio.CancelledError):
                await sending
            await server.until(lambda: not server.open_connections)
            assert word(await channel.send(email(), context("two"))) == "Accepted"
            assert server.connections == 2

    async def test_a_cancellation_that_meets_a_reply_still_counts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """python/cpython#86296: before Python 3.12 wait_for swallows it, and the message would be sent."""
        receive = SMTPProtocol.data_received

        def receive_and_cancel(protocol: SMTPProtocol, data: bytes) -> None:
            receive(protocol, data)
            if data.startswith(b"354"):
                sending.cancel()

        monkeypatch.setattr(SMTPProtocol, "data_received", receive_and_cancel)
        async with post_office() as (channel, server):
            sending = asyncio.create_task(channel.send(email(), context()))
            with pytest.raises(asyncio.CancelledError):
                await sending
            assert server.accepted == []

    async def test_closing_the_channel_says_goodbye(self) -> None:
        async with post_office() as (channel, server):
            await channel.send(email(), context())
            await channel.close()
            await server.until(lambda: not server.open_connections)
            assert server.commands[-1] == "QUIT"


@pytest.mark.parametrize(
    ("reply", "name"),
    [
        ("2.0.0 Ok: queued as 4B1C32", "4B1C32"),
        ("OK id=1q2w3e-0004Xx-5T", "1q2w3e-0004Xx-5T"),
        ("2.0.0 x5E1 Message accepted for delivery", "x5E1"),
        ("Ok 0102018f3b2a-9c1d-000000", "0102018f3b2a-9c1d-000000"),
        ("2.0.0 OK  1718000000 ab12.34 - gsmtp", "1718000000 ab12.34"),
        ("2.6.0 <a@b> [InternalId=123, Hostname=x] Queued mail for delivery", "123"),
        ("Great success", None),
    ],
)
async def test_the_servers_name_for_the_message_is_kept(reply: str, name: str | None) -> None:
    async with post_office({"dot": [Say(f"250 {reply}", take=True)]}) as (channel, _):
        assert await channel.send(email(), context()) == Accepted(name)
