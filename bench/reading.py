"""How long a reading takes that withdraws a reminder, with a million other notifications pending: one statement."""

from __future__ import annotations

import asyncio
import statistics
import time

from duebook import Duebook, UnreadPolicy

from .filling import fill_future
from .run import Run
from .subject import DIALECTS, database, settle_down

BETWEEN = 1_000


def measure(run: Run) -> None:
    for dialect in DIALECTS:
        for others in (0, run.scale.pending):
            with database(dialect, run.server) as url:
                if others:
                    fill_future(url, others, 1)
                settle_down(url)
                seconds = asyncio.run(_readings(url))
            what = f"{dialect}: a reading that withdraws a reminder, {others:,} others pending"
            run.found(what, statistics.median(seconds) * 1_000, "ms", note=f"{BETWEEN:,} readings, one statement each")


async def _readings(url: str) -> list[float]:
    book = Duebook(url)
    book.declare("chat", channel="post", unread=UnreadPolicy())
    conversations = [f"room-{number}" for number in range(BETWEEN)]
    for conversation in conversations:
        await book.unread.posted("chat", conversation, "m1", author="bob", recipients=["ann"])
    seconds = []
    for conversation in conversations:
        began = time.perf_counter()
        answer = await book.unread.mark_read("chat", conversation, "ann")
        seconds.append(time.perf_counter() - began)
        if not answer.moved:
            raise RuntimeError(f"{conversation} was not read")
    await book.close()
    return seconds
