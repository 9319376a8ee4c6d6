"""Connections to one SMTP server: opened, kept for a while, and closed without fail."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, cast

from ...domain.outcome import Retry
from ...domain.text import clean
from ..deadline import Deadline
from .conversation import Broken
from .replies import setup_refusal

if TYPE_CHECKING:
    from aiosmtplib import SMTP
    from aiosmtplib.protocol import SMTPProtocol

Tls = Literal["starttls", "implicit", "opportunistic", "none"]


@dataclass(frozen=True, slots=True)
class Server:
    """Where to connect and how. The password is no part of its text."""

    host: str
    port: int
    tls: Tls
    tls_context: ssl.SSLContext | None = field(repr=False)
    username: str | None = field(repr=False)
    password: str | None = field(repr=False)
    helo_name: str | None
    connect_seconds: float
    command_seconds: float

    @property
    def is_local(self) -> bool:
        return self.host in ("localhost", "::1") or self.host.startswith("127.")


class Connection:
    """An open connection that has said EHLO and logged in."""

    def __init__(self, client: SMTP, server: Server) -> None:
        if client.protocol is None or client.transport is None:
            raise Broken(Retry(f"connect: {server.host} closed the connection"), early=True)
        self.client = client
        self.host = server.host
        self.command_seconds = server.command_seconds
        self.served = 0
        self.protocol: SMTPProtocol = client.protocol
        # The library has no drain of its own; its protocol carries the hooks that StreamWriter asks for. One
        # writer for the connection's whole life, because a writer that is collected closes its transport.
        transport = cast(asyncio.WriteTransport, client.transport)
        self.writer = asyncio.StreamWriter(transport, self.protocol, None, asyncio.get_running_loop())

    @property
    def is_open(self) -> bool:
        return self.client.is_connected

    def hang_up(self) -> None:
        hang_up(self.client)

    def part(self) -> None:
        """Close politely, without waiting for the reply to QUIT."""
        if self.is_open:
            self.protocol.write(b"QUIT\r\n")
            self.client.close()


def hang_up(client: SMTP) -> None:
    """Close at once: what is still in the buffer must not leave, and no late reply may be read."""
    transport = client.transport
    client.close()
    if transport is not None:
        cast(asyncio.WriteTransport, transport).abort()


async def connect(server: Server, deadline: Deadline) -> Connection:
    """Return an open connection; raises Broken, always with an outcome that is provably not accepted."""
    from aiosmtplib import SMTP

    client = SMTP(
        hostname=server.host,
        port=server.port,
        timeout=server.connect_seconds,
        use_tls=server.tls == "implicit",
        start_tls=False,
        tls_context=server.tls_context,
        local_hostname=server.helo_name or "localhost",
    )
    try:
        async with asyncio.timeout_at(deadline.soon(server.connect_seconds)):
            with _setting_up("connect"):
                await client.connect()
            await _secure(client, server)
            if server.username is not None:
                with _setting_up("login"):
                    await client.login(server.username, server.password or "")
        return Connection(client, server)
    except TimeoutError:
        hang_up(client)
        raise Broken(Retry(f"connect: {server.host} was not ready in time"), early=True) from None
    except BaseException:
        hang_up(client)
        raise


async def _secure(client: SMTP, server: Server) -> None:
    """Say EHLO, and again after STARTTLS: what was heard in the clear proves nothing (RFC 3207 §4.2)."""
    await _ehlo(client, server)
    offered = client.supports_extension("starttls")
    if server.tls == "starttls" or (server.tls == "opportunistic" and offered):
        with _setting_up("STARTTLS"):
            await client.starttls()
        await _ehlo(client, server)
    elif server.tls == "opportunistic" and server.username is not None and not server.is_local:
        raise Broken(Retry(f"login: {server.host} offers no STARTTLS; a password is not sent in the clear"))


async def _ehlo(client: SMTP, server: Server) -> None:
    from aiosmtplib import SMTPHeloError

    with _setting_up("EHLO"):
        if server.helo_name is None:
            client.local_hostname = _literal(client)
        try:
            await client.ehlo()
        except SMTPHeloError as error:
            if not (500 <= error.code <= 599 and client.is_connected):
                raise
            await client.helo()


def _literal(client: SMTP) -> str:
    """Return our address as RFC 5321 §4.1.3 writes it; a look-up of our own name can hang for seconds."""
    host = str(client.get_transport_info("sockname")[0]).partition("%")[0]
    return f"[IPv6:{host}]" if ":" in host else f"[{host}]"


@contextmanager
def _setting_up(phase: str) -> Iterator[None]:
    """Turn every failure before a message was mentioned into its outcome."""
    from aiosmtplib import SMTPException, SMTPResponseException

    try:
        yield
    except SMTPResponseException as error:
        raise Broken(setup_refusal(phase, error.code, error.message), early=True) from None
    except (SMTPException, OSError, ValueError) as error:
        raise Broken(Retry(clean(f"{phase}: {error}")), early=True) from None


class Pool:
    """Idle connections, the one used last first, so that the others grow old and close.

    At most `size` are kept, each for `idle_seconds` and `messages` messages. A connection in use belongs to
    its attempt alone; the lane bounds how many there are.
    """

    def __init__(self, size: int, idle_seconds: float, messages: int) -> None:
        self._size = size
        self._idle_seconds = idle_seconds
        self._messages = messages
        self._idle: list[tuple[Connection, asyncio.TimerHandle]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._idle)

    def take(self) -> Connection | None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            # A connection cannot move to another event loop, and the old one may be gone.
            self._loop, self._idle = loop, []
        while self._idle:
            connection, timer = self._idle.pop()
            timer.cancel()
            if connection.is_open:
                return connection
        return None

    def give(self, connection: Connection) -> None:
        if not connection.is_open:
            return
        if connection.served >= self._messages or len(self._idle) >= self._size:
            connection.part()
            return
        loop = asyncio.get_running_loop()
        self._idle.append((connection, loop.call_later(self._idle_seconds, self._expire, connection)))

    def close(self) -> None:
        while (connection := self.take()) is not None:
            connection.part()

    def _expire(self, connection: Connection) -> None:
        self._idle = [entry for entry in self._idle if entry[0] is not connection]
        connection.part()
