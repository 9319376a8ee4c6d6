"""The worker process of the demo: an ordinary worker that is told the date over its standard input.

Each line is an instant. When everything due by then is done, it answers with the same line. At the end of the input it
stops as a worker does: it hands back what has not begun and settles what is on the wire.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from datetime import datetime

from .stage import load_application
from .timelapse import Timelapse

SEND_SECONDS = 2.0
"""How long this worker waits for the inbox. A worker in earnest waits ten minutes, as RFC 5321 §4.5.3.2.6 asks."""


async def serve() -> None:
    book = load_application().book
    channel = book.registry.channels["email"]
    channel.policy = replace(channel.policy, send_seconds=SEND_SECONDS)
    if (instant := await asyncio.to_thread(_told)) is None:
        return
    calendar = Timelapse(book, instant)
    async with book.worker():
        while instant is not None:
            calendar.jump(instant)
            await calendar.quiet()
            print(instant.isoformat(), flush=True)
            instant = await asyncio.to_thread(_told)
    await book.close()


def _told() -> datetime | None:
    """Return the instant of the next line, or None at the end of the input."""
    line = sys.stdin.readline()
    return datetime.fromisoformat(line.strip()) if line else None


if __name__ == "__main__":
    asyncio.run(serve())
