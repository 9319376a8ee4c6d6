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
    calendar: Timelapse | None = None
    line = await asyncio.to_thread(sys.stdin.readline)
    if line:
        calendar = Timelapse(book, datetime.fromisoformat(line.strip()))
        async with book.worker():
            while line:
                calendar.jump(datetime.fromisoformat(line.strip()))
                await calendar.quiet()
                sys.stdout.write(line)
                sys.stdout.flush()
                line = await asyncio.to_thread(sys.stdin.readline)
    await book.close()


if __name__ == "__main__":
    asyncio.run(serve())
