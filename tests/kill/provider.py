"""A provider on loopback that records what it accepted, and can stop answering.

One line in is one message: its idempotency key. One line out is the answer. A keyed provider takes each key once and
answers the same again; a plain one takes whatever comes.
"""

import asyncio
from collections import Counter
from types import TracebackType


class Provider:
    def __init__(self, *, keyed: bool) -> None:
        self.keyed = keyed
        self.accepted: Counter[str] = Counter()
        self.received = 0
        self.hang_after: int | None = None
        self.silent_every: int | None = None
        self.hanging = 0
        self._changed = asyncio.Condition()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Provider":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def until_hanging(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.hanging >= count)

    async def until_received(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.received >= count)

    async def until_accepted(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: len(self.accepted) >= count)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            key = (await reader.readline()).decode().strip()
            if not key:
                return
            async with self._changed:
                self.received += 1
                hangs = self.hang_after is not None and self.received > self.hang_after
                # Of those it never answers, every second one was accepted all the same.
                if not hangs or self.received % 2:
                    self.accepted[key] = 1 if self.keyed else self.accepted[key] + 1
                self.hanging += hangs
                self._changed.notify_all()
            if hangs:
                await reader.read()
            elif self.silent_every is None or self.received % self.silent_every:
                writer.write(b"taken\n")
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()
