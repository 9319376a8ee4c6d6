"""A mail server on loopback that can be as wrong as real ones are, and records what it accepted."""

from __future__ import annotations

import asyncio
import inspect
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from .faults import Drop, Hang
from .listening import Listener
from .smtp_messages import ORDINARY, PHASES, Mail, Phase, Say, path, several

SmtpStep = Say | Drop | Hang
SmtpBehaviour = Callable[[Phase, Mail], SmtpStep | Awaitable[SmtpStep]]
"""A function of the phase and of the mail so far. What it awaits, the client waits for."""


class SmtpDouble(Listener):
    """Stands in for a mail server: `async with SmtpDouble() as server:`, then connect to 127.0.0.1 at `server.port`.

    By itself it accepts everything and answers the final dot with `250 2.0.0 Ok: queued as Q1`. `behave` puts a
    function in its place; it may answer `server.step(phase, mail)` for what it does not care about. `next` says what
    the server does the next times it comes to a phase. A reply that begins with 421 ends the connection.

    `extensions`: what EHLO offers. STARTTLS and AUTH are answered, and nothing is encrypted or checked.

    `accepted`: the mails it took responsibility for. `commands`: every line it was given outside of mails. `reached`:
    how often it came to each phase.
    """

    def __init__(self, behave: SmtpBehaviour | None = None, *, extensions: Sequence[str] = ()) -> None:
        super().__init__()
        self.extensions = extensions
        self.accepted: list[Mail] = []
        self.commands: list[str] = []
        self.reached: Counter[Phase] = Counter()
        self._behave = behave or self.step
        self._next: dict[Phase, deque[SmtpStep]] = {phase: deque() for phase in PHASES}

    def next(self, phase: Phase, *steps: SmtpStep) -> None:
        """Say what the server does the next times it comes to a phase, one step each."""
        self._next[phase].extend(steps)

    def step(self, phase: Phase, mail: Mail) -> SmtpStep:
        """Return what the double does by itself."""
        match phase:
            case "EHLO":
                return Say(several(["mail.example", *self.extensions]))
            case "body":
                return Say("")
            case "dot":
                return Say(f"250 2.0.0 Ok: queued as Q{len(self.accepted) + 1}", take=True)
            case _:
                return ORDINARY[phase]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _Session(self, reader, writer).run()

    async def _at(self, phase: Phase, mail: Mail) -> SmtpStep:
        self.reached[phase] += 1
        self._tell()
        if scripted := self._next[phase]:
            step = scripted.popleft()
        else:
            answer = self._behave(phase, mail)
            step = await answer if inspect.isawaitable(answer) else answer
        if step.take:
            self.accepted.append(mail)
            self._tell()
        return step


class _Session:
    """One connection."""

    def __init__(self, server: SmtpDouble, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server, self._reader, self._writer = server, reader, writer
        self._mail = Mail()

    async def run(self) -> None:
        going = await self._do("greeting")
        while going and (line := await self._reader.readline()):
            command = line.decode().rstrip("\r\n")
            self._server.commands.append(command)
            going = await self._command(command)

    async def _command(self, command: str) -> bool:
        """Carry out one command; say whether the conversation goes on."""
        verb = command.partition(" ")[0].upper()
        phase = next((phase for phase in PHASES if phase == verb), None)
        if phase == "MAIL":
            self._mail = Mail(path(command))
        elif phase == "RCPT":
            self._mail = replace(self._mail, recipients=(*self._mail.recipients, path(command)))
        if phase is None:
            self._writer.write(b"500 what?\r\n")
            return True
        return await self._do(phase) and phase != "QUIT"

    async def _do(self, phase: Phase) -> bool:
        """Take the step for a phase; say whether the conversation goes on."""
        step = await self._server._at(phase, self._mail)
        if isinstance(step, Hang):
            await self._reader.read()
        if not isinstance(step, Say):
            return False
        self._writer.write(f"{step.text}\r\n".encode())
        await self._writer.drain()
        if phase == "DATA" and step.text.startswith("354"):
            return await self._content()
        return not step.text.startswith("421")

    async def _content(self) -> bool:
        match await self._server._at("body", self._mail):
            case Drop():
                return False
            case Hang():
                await self._hang_without_reading()
        content = (await self._reader.readuntil(b"\r\n.\r\n"))[:-3]
        self._mail = replace(self._mail, content=content)
        return await self._do("dot")

    async def _hang_without_reading(self) -> None:
        self._writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.Event().wait()
