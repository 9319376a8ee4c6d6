"""The e-mail channel."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args
from urllib.parse import parse_qsl, unquote, urlsplit

from ...domain.identity import short_key
from ...domain.message import Email, Message
from ...domain.outcome import Outcome, Rejected
from ...domain.policy import ChannelPolicy, checked_choice, checked_name
from ...domain.text import KEY_CHARACTERS, checked, clean
from ...errors import InvalidInput, InvalidMessage
from ...ports import SendContext
from ..attachments import Source, fetched
from ..capabilities import Capabilities
from ..deadline import Deadline
from .address import parse
from .connection import Connection, Pool, Server, Tls, connect
from .conversation import Broken, converse
from .headers import refuse_control
from .mime import Letter, Mailbox, letter

_PORTS: dict[Tls, int] = {"starttls": 587, "implicit": 465, "opportunistic": 25, "none": 25}


class Smtp:
    """Sends an Email to its one recipient through an SMTP server.

    What an attempt answers depends on where it ended:

    * before the final dot was written: Retry, as no server may take a message without it (RFC 5321 §4.1.1.4);
    * a reply of 4xx: Retry, or Throttled if its words say that we send too much; 5xx: Rejected;
    * the server refuses us rather than the message (a log-in, no STARTTLS, a certificate): Retry with the
      reason. It is provably not accepted, and right again as soon as the settings are;
    * the dot was written and no readable reply came: Uncertain, and the connection is never used again.

    `sender`, `sender_name`: used where a message names none. `tls`: `starttls` and `implicit` insist on it,
    `opportunistic` takes STARTTLS where it is offered, `none` never; certificates are always checked, and a
    password goes in the clear only to this machine. `send_seconds`: the longest attempt; ten minutes, because
    RFC 5321 §4.5.3.2.6 has the client wait that long for the last reply. `connect_seconds` bounds connecting
    with TLS and log-in, `command_seconds` each command before the message. `concurrency`: connections per
    process; `rate`: messages per second over all workers; `pause`: how long a throttle holds them.
    `idle_seconds`, `messages_per_connection`: how long a connection is used again. `key_window`, `key_header`:
    for a relay that drops a repeated idempotency key, how long it does and in which header it wants the key.
    `intranet`: also take addresses without a public domain. `attachments`: from where attached files are fetched,
    by the name that an Attachment calls its source.

    Raises InvalidInput for settings that cannot work.
    """

    capabilities = Capabilities(server_errors="a reply of 5xx is Rejected", attachments=True)

    def __init__(
        self,
        host: str = "localhost",
        port: int | None = None,
        *,
        sender: str,
        sender_name: str | None = None,
        name: str = "email",
        username: str | None = None,
        password: str | None = None,
        tls: Tls = "starttls",
        tls_context: ssl.SSLContext | None = None,
        helo_name: str | None = None,
        send_seconds: float = 600.0,
        connect_seconds: float = 20.0,
        command_seconds: float = 30.0,
        concurrency: int = 10,
        rate: float | None = None,
        pause: timedelta = timedelta(seconds=30),
        idle_seconds: float = 30.0,
        messages_per_connection: int = 100,
        key_window: timedelta | None = None,
        key_header: str | None = None,
        intranet: bool = False,
        attachments: Mapping[str, Source] | None = None,
    ) -> None:
        checked_choice("tls", tls, get_args(Tls))
        self.policy = ChannelPolicy(name, key_window, concurrency, rate, send_seconds, pause)
        self._server = Server(
            host=checked("host", host, KEY_CHARACTERS),
            port=_PORTS[tls] if port is None else port,
            tls=tls,
            tls_context=tls_context,
            username=username,
            password=password,
            helo_name=helo_name,
            connect_seconds=connect_seconds,
            command_seconds=command_seconds,
        )
        _check(self._server, idle_seconds, messages_per_connection)
        if sender_name is not None:
            checked("sender_name", sender_name, KEY_CHARACTERS)
        if key_header is not None:
            refuse_control(key_header, "")
        self._sender = Mailbox(parse("sender", sender, intranet=intranet), sender_name)
        self._key_header = key_header
        self._intranet = intranet
        self._sources = {checked_name("attachments", name): source for name, source in (attachments or {}).items()}
        self._pool = Pool(concurrency, idle_seconds, messages_per_connection)

    @classmethod
    def from_url(cls, url: str, **settings: Any) -> Smtp:
        """Build from `smtp://user:password@host:587?tls=none`; `smtps://` means `tls="implicit"`.

        The URL is no part of any error: it holds the password.
        """
        try:
            parts = urlsplit(url)
            port, query = parts.port, dict(parse_qsl(parts.query, strict_parsing=bool(parts.query)))
        except ValueError:
            raise InvalidInput("url", "is not a URL such as smtp://user:password@host:587") from None
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname or set(query) - {"tls"}:
            raise InvalidInput("url", "must be smtp:// or smtps:// with a host and at most ?tls=…")
        settings.setdefault("tls", query.get("tls", "implicit" if parts.scheme == "smtps" else "starttls"))
        for name in ("username", "password"):
            if (value := getattr(parts, name)) is not None:
                settings.setdefault(name, unquote(value))
        return cls(parts.hostname, port, **settings)

    async def send(self, message: Message, context: SendContext) -> Outcome:
        deadline = Deadline(context.deadline_seconds)
        if not isinstance(message, Email):
            return Rejected(f"the channel {self.policy.name} takes Email, not {type(message).__name__}")
        files = await fetched(message.attachments, self._sources, deadline)
        if not isinstance(files, list):
            return files
        try:
            ready = self._letter(message, files, context)
        except InvalidMessage as error:
            return Rejected(clean(str(error)))
        if (kept := self._pool.take()) is not None:
            try:
                return await self._deliver(kept, ready, deadline)
            except Broken as broken:
                # Servers drop idle connections; that must not cost the message an attempt.
                if not broken.early:
                    return broken.outcome
        try:
            return await self._deliver(await connect(self._server, deadline), ready, deadline)
        except Broken as broken:
            return broken.outcome

    async def close(self) -> None:
        self._pool.close()
        # Lets the loop write the farewells.
        await asyncio.sleep(0)

    def _letter(self, message: Email, files: list[bytes], context: SendContext) -> Letter:
        sender, reply_to = self._sender, None
        if message.sender is not None:
            sender = Mailbox(parse("sender", message.sender, intranet=self._intranet), message.sender_name)
        elif message.sender_name is not None:
            sender = Mailbox(sender.address, message.sender_name)
        if message.reply_to is not None:
            reply_to = parse("reply_to", message.reply_to, intranet=self._intranet)
        return letter(
            message,
            sender=sender,
            recipient=Mailbox(parse("to", message.to, intranet=self._intranet), message.to_name),
            reply_to=reply_to,
            message_id=context.message_id,
            rendered_at=context.rendered_at,
            extra={self._key_header: short_key(context.idempotency_key)} if self._key_header else {},
            files=files,
        )

    async def _deliver(self, connection: Connection, ready: Letter, deadline: Deadline) -> Outcome:
        try:
            outcome = await converse(connection, ready, deadline)
        except BaseException:
            # A late reply on this connection would be taken for the answer to the next message
            # (symfony/symfony#65352). A cancelled attempt leaves one behind as surely as a timeout.
            connection.hang_up()
            raise
        self._pool.give(connection)
        return outcome

    def __repr__(self) -> str:
        server = self._server
        return f"Smtp({server.host!r}, {server.port}, name={self.policy.name!r}, tls={server.tls!r})"


def _check(server: Server, idle_seconds: float, messages: int) -> None:
    if not 1 <= server.port <= 65_535:
        raise InvalidInput("port", "must be between 1 and 65535")
    for field in ("connect_seconds", "command_seconds"):
        if not 0 < getattr(server, field) <= 300:
            raise InvalidInput(field, "must be between 0 and 300 seconds")
    if not 0 <= idle_seconds <= 3_600:
        raise InvalidInput("idle_seconds", "must be between 0 and 3600 seconds")
    if messages < 1:
        raise InvalidInput("messages_per_connection", "must be at least 1")
    if (server.username is None) != (server.password is None):
        raise InvalidInput("password", "give both username and password, or neither")
    if server.tls == "none" and server.password is not None and not server.is_local:
        raise InvalidInput("tls", "'none' would send the password in the clear; use 'starttls' or 'implicit'")
