"""A scriptable SMTP server on loopback: it can answer anything at any phase, hang, or drop the connection.

It speaks raw sockets on purpose. A server library would refuse to be as wrong as real servers are.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Say:
    """Answer with this text. `take`: the message counts as accepted, whatever the text says."""

    text: str
    take: bool = False


@dataclass(frozen=True)
class Drop:
    """Close the connection without an answer."""

    take: bool = False


@dataclass(frozen=True)
class Hang:
    """Never answer, and read nothing more."""

    take: bool = False


@dataclass(frozen=True)
class Late:
    """Answer, and take the message, after so many seconds."""

    text: str
    seconds: float
    take: bool = True


Step = Say | Drop | Hang | Late


@dataclass
class Taken:
    """A message the server took responsibility for."""

    sender: str
    recipients: list[str]
    content: bytes


_GOOD = {
    "greeting": Say("220 mail.example ready"),
    "RSET": Say("250 2.0.0 Ok"),
    "MAIL": Say("250 2.1.0 Ok"),
    "RCPT": Say("250 2.1.5 Ok"),
    "DATA": Say("354 go ahead"),
    "HELO": Say("250 mail.example"),
    "AUTH": Say("235 2.7.0 welcome"),
    "STARTTLS": Say("220 go ahead"),
    "QUIT": Say("221 bye"),
}


@dataclass
class ScriptedSmtp:
    """Follows `script`: phase → the steps of its first, second, … time; afterwards it behaves well.

    Phases are greeting, EHLO, HELO, STARTTLS, AUTH, RSET, MAIL, RCPT, DATA, body (before any of it is read)
    and dot.
    """

    script: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    extensions: Sequence[str] = ()
    port: int = 0
    taken: list[Taken] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    connections: int = 0
    left: asyncio.Event = field(default_factory=asyncio.Event)
    reached: defaultdict[str, asyncio.Event] = field(default_factory=lambda: defaultdict(asyncio.Event))

    def __post_init__(self) -> None:
        self._steps = {phase: list(steps) for phase, steps in self.script.items()}
        self._tasks: set[asyncio.Task[None]] = set()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[ScriptedSmtp]:
        listener = socket.create_server(("127.0.0.1", 0))
        # Small, so that a server that stops reading is felt by the client.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        server = await asyncio.start_server(self._serve, sock=listener)
        self.port = listener.getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await _Session(self, reader, writer).run()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            # The test is over; asyncio would log a cancelled handler as an error.
            pass
        finally:
            self._tasks.discard(task)
            writer.transport.abort()
            self.left.set()

    def step(self, phase: str, good: Step) -> Step:
        self.reached[phase].set()
        steps = self._steps.get(phase)
        return steps.pop(0) if steps else good


class _Session:
    def __init__(self, server: ScriptedSmtp, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.server, self.reader, self.writer = server, reader, writer
        self.sender, self.recipients = "", list[str]()

    async def run(self) -> None:
        going = await self._do("greeting", _GOOD["greeting"])
        while going and (line := await self.reader.readline()):
            command = line.decode().rstrip("\r\n")
            self.server.commands.append(command)
            verb = command.split(" ")[0].upper()
            if verb == "MAIL":
                self.sender, self.recipients = _path(command), []
            elif verb == "RCPT":
                self.recipients.append(_path(command))
            if verb == "EHLO":
                lines = ["mail.example", *self.server.extensions]
                reply = "\r\n".join(f"250-{line}" for line in lines[:-1]) + f"\r\n250 {lines[-1]}"
                going = await self._do("EHLO", Say(reply.lstrip("\r\n")))
            else:
                going = await self._do(verb, _GOOD.get(verb, Say("500 what?")))
            if verb == "QUIT":
                return

    async def _do(self, phase: str, good: Step) -> bool:
        """Take the step for a phase; say whether the conversation goes on."""
        step = self.server.step(phase, good)
        if step.take:
            self.server.taken.append(Taken(self.sender, self.recipients, self.content))
        match step:
            case Drop():
                return False
            case Hang():
                await self.reader.read()
                return False
            case Late(text, seconds):
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(asyncio.Event().wait(), seconds)
                self.writer.write(f"{text}\r\n".encode())
                return True
            case Say(text):
                self.writer.write(f"{text}\r\n".encode())
                await self.writer.drain()
                if phase == "DATA" and text.startswith("354"):
                    return await self._content()
                return not text.startswith("421")

    async def _content(self) -> bool:
        match self.server.step("body", Say("")):
            case Drop():
                # Reading nothing and closing resets the connection.
                return False
            case Hang():
                await self._hang_without_reading()
        self.content = (await self.reader.readuntil(b"\r\n.\r\n"))[:-3]
        number = len(self.server.taken) + 1
        return await self._do("dot", Say(f"250 2.0.0 Ok: queued as Q{number}", take=True))

    async def _hang_without_reading(self) -> None:
        self.writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.Event().wait()

    content = b""


def _path(command: str) -> str:
    return command.partition("<")[2].partition(">")[0]
