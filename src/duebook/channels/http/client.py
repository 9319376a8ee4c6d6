"""What the calls of one channel have in common. No connection is among it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ...domain.outcome import Retry
from ...domain.text import clean
from ...errors import InvalidInput, MissingExtra
from ..deadline import Deadline
from .address import Unresolved, resolve
from .answer import Answer
from .call import Call, origin
from .exchange import Failure, exchange

if TYPE_CHECKING:
    from httpx2 import URL


class Client:
    """Makes calls with the same certificates and the same patience for connecting.

    Raises InvalidInput for times that cannot work, and MissingExtra, with the name of the `extra`, without httpx2.
    """

    def __init__(
        self, *, extra: str, connect_seconds: float, send_seconds: float, tls_context: ssl.SSLContext | None
    ) -> None:
        if find_spec("httpx2") is None:
            raise MissingExtra("a channel that speaks HTTP", extra)
        if not 0 < connect_seconds <= send_seconds:
            raise InvalidInput("connect_seconds", "must be positive and no longer than send_seconds")
        self._connect_seconds = connect_seconds
        self._tls_context = tls_context

    async def call(
        self, call: Call, deadline: Deadline, find: Callable[[URL], Awaitable[list[str]]] = resolve
    ) -> Answer | Failure:
        """Make a call, to the first address that `find` answers and that can be reached."""
        try:
            async with asyncio.timeout_at(deadline.at):
                addresses = await find(call.url)
                tls = await self._tls()
        except Unresolved as error:
            return Retry(clean(str(error)))
        except TimeoutError:
            return Retry(f"{origin(call.url)}: the name was not resolved in time")
        return await exchange(call, addresses, tls=tls, connect_seconds=self._connect_seconds, deadline=deadline)

    async def _tls(self) -> ssl.SSLContext:
        if self._tls_context is None:
            # Reads the system's certificates from the disk.
            self._tls_context = await asyncio.to_thread(ssl.create_default_context)
        return self._tls_context
