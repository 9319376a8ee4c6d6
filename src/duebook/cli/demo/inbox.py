"""A mail server on this machine that keeps what it accepts, one file each, and misbehaves where it is told to."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from email import policy
from email.parser import BytesHeaderParser
from enum import Enum
from pathlib import Path
from typing import Any


class Fault(Enum):
    """What the server does after the final dot, instead of taking the mail and saying so."""

    BUSY = "refuses a mail for now"
    SILENT = "takes a mail and never answers"
    CUT = "takes a mail and hangs up"
    CRASH = "loses a mail and hangs up"


class Inbox:
    """Keeps mails in `folder`, as .eml files."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._faults: dict[str, list[Fault]] = {}
        self._say: Callable[[str], None] = _nobody
        self._held: list[str] = []
        self._wanted = 0
        self._server: asyncio.Server | None = None
        self.full = asyncio.Event()

    async def open(self) -> int:
        """Listen on loopback, on a port that the system chooses; answers the port."""
        from aiosmtpd.smtp import SMTP

        # It logs a traceback for each client that goes away, which is what this demo is about.
        logging.getLogger("mail.log").setLevel(logging.CRITICAL)
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: SMTP(self, hostname="inbox.example", loop=loop), "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        if self._server is not None:
            self._server.close()

    def misbehave(self, faults: Mapping[str, Sequence[Fault]], say: Callable[[str], None]) -> None:
        """From now on do wrong: `faults` are what happens to each Message-ID the first time, the second time, …"""
        self._faults = {name: list(several) for name, several in faults.items()}
        self._say = say

    def hold(self, number: int) -> None:
        """Answer nobody until `number` mails wait for an answer; every second of them is kept. Then `full` is set."""
        self._wanted, self._held = number, []
        self.full.clear()

    def release(self) -> None:
        """Answer again. Those who waited are gone by now."""
        self._wanted = 0

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        """The hook of aiosmtpd for a mail whose final dot has arrived."""
        name = str(BytesHeaderParser().parsebytes(envelope.content)["Message-ID"])
        if self._wanted:
            self._held.append(name)
            if len(self._held) % 2:
                self._keep(envelope)
            if len(self._held) >= self._wanted:
                self.full.set()
            return await _nothing()
        faults = self._faults.get(name)
        fault = faults.pop(0) if faults else None
        if fault is not None:
            self._say(f"the inbox {fault.value}: {envelope.rcpt_tos[0]}")
        if fault is Fault.BUSY:
            return "451 4.3.0 not now, please try again"
        number = 0 if fault is Fault.CRASH else self._keep(envelope)
        if fault in (Fault.CUT, Fault.CRASH):
            server.transport.abort()
        if fault is not None:
            return await _nothing()
        return f"250 2.0.0 Ok: queued as {number:04}"

    def _keep(self, envelope: Any) -> int:
        number = sum(1 for _ in self._folder.iterdir()) + 1
        recipient = "".join(c if c.isalnum() or c in ".-" else "_" for c in envelope.rcpt_tos[0].partition("@")[0])
        (self._folder / f"{number:04}-{recipient}.eml").write_bytes(envelope.content)
        return number


def _nobody(text: str) -> None:
    """Nobody has asked to be told."""


async def _nothing() -> str:
    """Wait until the other side has gone away: the server then cancels the hook."""
    await asyncio.Event().wait()
    raise AssertionError


def accepted(folder: Path) -> Counter[str]:
    """Return how often each Message-ID is in an inbox, read from its files."""
    return Counter(name for name, _ in _letters(folder))


def subjects(folder: Path) -> Mapping[str, str]:
    """Return the subject of each Message-ID in an inbox."""
    return dict(_letters(folder))


def _letters(folder: Path) -> Iterator[tuple[str, str]]:
    parser = BytesHeaderParser(policy=policy.default)
    for file in folder.glob("*.eml"):
        letter = parser.parsebytes(file.read_bytes())
        yield str(letter["Message-ID"]), str(letter["Subject"])
