"""The SMTP double does what it is told at each phase, and records exactly what it accepted."""

from __future__ import annotations

import asyncio
from email.message import EmailMessage

import aiosmtplib
import pytest

from duebook.testing.doubles import Drop, Hang, Mail, Phase, Say, SmtpDouble, SmtpStep


def mail(subject: str = "Renewal") -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "shop@example.com", "ann@example.net", subject
    made.set_content("Your plan renews.\n.\n")
    return made


async def send(server: SmtpDouble, message: EmailMessage | None = None) -> str:
    _, said = await aiosmtplib.send(
        message or mail(), hostname="127.0.0.1", port=server.port, start_tls=False, timeout=5, local_hostname="test"
    )
    return said


async def test_it_accepts_a_mail_and_names_it() -> None:
    async with SmtpDouble() as server:
        assert await send(server) == "2.0.0 Ok: queued as Q1"
        (taken,) = server.accepted
        assert (taken.sender, taken.recipients) == ("shop@example.com", ("ann@example.net",))
        assert taken.message["Subject"] == "Renewal"
        assert server.commands[-1] == "QUIT"


@pytest.mark.parametrize("phase", ["greeting", "MAIL", "RCPT", "DATA", "dot"])
@pytest.mark.parametrize("code", [421, 451, 550])
async def test_it_refuses_at_any_phase(phase: Phase, code: int) -> None:
    async with SmtpDouble() as server:
        server.next(phase, Say(f"{code} no"))
        with pytest.raises(aiosmtplib.SMTPException):
            await send(server)
        assert server.accepted == []
        await send(server)
        assert len(server.accepted) == 1


@pytest.mark.parametrize("phase", ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "body", "dot"])
async def test_it_drops_the_connection_at_any_phase(phase: Phase) -> None:
    async with SmtpDouble() as server:
        server.next(phase, Drop())
        with pytest.raises((aiosmtplib.SMTPException, ConnectionError)):
            await send(server)
        assert (server.reached[phase], server.accepted) == (1, [])


async def send_by_hand(server: SmtpDouble) -> None:
    """A library would say QUIT and wait once more when it is cancelled."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    try:
        for line in ("EHLO test", "MAIL FROM:<a@example.com>", "RCPT TO:<b@example.net>", "DATA", "Subject: x\r\n."):
            await reader.readline()
            writer.write(f"{line}\r\n".encode())
        await reader.readline()
    finally:
        writer.close()


@pytest.mark.parametrize("take", [True, False])
@pytest.mark.parametrize("phase", ["greeting", "EHLO", "MAIL", "RCPT", "DATA", "body", "dot"])
async def test_it_hangs_at_any_phase(phase: Phase, take: bool) -> None:
    async with SmtpDouble() as server:
        server.next(phase, Hang(take=take))
        waiting = asyncio.create_task(send_by_hand(server))
        await server.until(lambda: server.reached[phase])
        assert (server.open_connections, waiting.done()) == (1, False)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert len(server.accepted) == take


@pytest.mark.parametrize("step", [Drop(take=True), Say("451 not now", take=True), Say("garbage", take=True)])
async def test_it_accepts_and_says_something_else(step: SmtpStep) -> None:
    async with SmtpDouble() as server:
        server.next("dot", step)
        with pytest.raises((aiosmtplib.SMTPException, ConnectionError)):
            await send(server)
        assert len(server.accepted) == 1


async def test_a_function_decides_by_phase_and_mail() -> None:
    released = asyncio.Event()

    async def no_spam(phase: Phase, mail: Mail) -> SmtpStep:
        if phase == "dot" and mail.message["Subject"] == "spam":
            await released.wait()
            return Say("550 5.7.1 spam")
        return server.step(phase, mail)

    async with SmtpDouble(no_spam) as server:
        refused = asyncio.create_task(send(server, mail("spam")))
        await server.until(lambda: server.reached["dot"])
        await send(server, mail("Renewal"))
        assert not refused.done()
        released.set()
        with pytest.raises(aiosmtplib.SMTPDataError):
            await refused
        assert [taken.message["Subject"] for taken in server.accepted] == ["Renewal"]


async def test_ehlo_offers_what_it_is_told() -> None:
    async with SmtpDouble(extensions=("8BITMIME", "SIZE 1000")) as server:
        client = aiosmtplib.SMTP(hostname="127.0.0.1", port=server.port, start_tls=False, local_hostname="test")
        await client.connect()
        await client.ehlo()
        assert client.esmtp_extensions == {"8bitmime": "", "size": "1000"}
        client.close()
