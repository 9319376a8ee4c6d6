"""A scriptable HTTP server on loopback: it can answer anything, hang, or drop the connection at any phase."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field


@dataclass
class Got:
    """A complete request."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class Reply:
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    # Promises more than it sends, then closes.
    cut: bool = False


@dataclass(frozen=True)
class Raw:
    """These bytes, then close."""

    content: bytes


@dataclass(frozen=True)
class Drop:
    """Close without an answer, after the "headers" or the "body" of the request."""

    after: str


@dataclass(frozen=True)
class Hang:
    """Read the request and never answer."""


Step = Reply | Raw | Drop | Hang


@dataclass
class ScriptedHttp:
    """Takes one step for each connection, then answers 200."""

    steps: Sequence[Step] = ()
    tls: ssl.SSLContext | None = None
    port: int = 0
    got: list[Got] = field(default_factory=list)
    connections: int = 0
    reading: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self._left_over = list(self.steps)
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?token=s3cret"

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[ScriptedHttp]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
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
        step = self._left_over.pop(0) if self._left_over else Reply()
        try:
            await self._answer(step, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            with contextlib.suppress(ConnectionError, OSError):
                writer.close()
            self.left.set()

    async def _answer(self, step: Step, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        if step == Drop("headers"):
            writer.transport.abort()
            return
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        self.got.append(Got(head[0], headers, await reader.readexactly(int(headers.get("content-length", "0")))))
        self.reading.set()
        match step:
            case Drop():
                return
            case Hang():
                await reader.read()
            case Raw(content):
                writer.write(content)
            case Reply(status, extra, body, cut):
                length = len(body) + (100 if cut else 0)
                lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {length}"]
                lines += [f"{name}: {value}" for name, value in extra]
                writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
