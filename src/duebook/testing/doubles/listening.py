"""A server on loopback that a test opens, watches and closes."""

from __future__ import annotations

import asyncio
import socket
import ssl
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

RECEIVE_BUFFER_BYTES = 4_096
"""Small, so that a client feels it when a double stops reading."""

LONGEST_BYTES = 4 * 1_048_576
"""Of one message; duebook stores none of more than a quarter of it."""


class Listener(ABC):
    """Serves on 127.0.0.1, on a port that the system chooses, for as long as it is entered: `async with …`. Entered
    again, it is there again.

    `port`: where it listens. `connections`: how many it has had so far. `open_connections`: how many it has now.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.port = 0
        self.connections = 0
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._change = asyncio.Event()

    @property
    def open_connections(self) -> int:
        return len(self._tasks)

    async def until(self, happened: Callable[[], object]) -> None:
        """Wait until `happened()` is true; it is asked again whenever something happens at this double."""
        while not happened():
            await self._change.wait()

    async def __aenter__(self) -> Self:
        listener = socket.create_server(("127.0.0.1", self.port))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        self._server = await asyncio.start_server(self._connected, sock=listener, ssl=self._tls, limit=LONGEST_BYTES)
        self.port = listener.getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @abstractmethod
    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Lead one connection to its end; it is closed afterwards."""

    def _tell(self) -> None:
        """Let everybody who waits look again."""
        self._change.set()
        self._change = asyncio.Event()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        try:
            await self._serve(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:
            # The double is closed; asyncio would log a cancelled handler as an error.
            pass
        finally:
            self._tasks.discard(task)
            writer.close()
            self._tell()
