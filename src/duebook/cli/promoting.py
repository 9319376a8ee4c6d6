"""Telling the broker, from a cron or beside the workers."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from ..errors import InvalidInput
from .output import Reply
from .program import command
from .session import Session
from .wording import count


@command(
    "Operators",
    "duebook promote --once --max-seconds 900",
    "DUEBOOK_QUEUE=redis://broker duebook promote --database postgresql://app@db/app",
)
async def promote(
    session: Session,
    once: Annotated[bool, typer.Option("--once", help="End when the broker knows of all that is due soon.")] = False,
    max_seconds: Annotated[
        float, typer.Option("--max-seconds", min=1, max=86_400, help="End after this long in any case.")
    ] = 86_400.0,
) -> Reply:
    """Tell the broker in $DUEBOOK_QUEUE of what is due within its reach.

    Every worker does so anyway; this is for hosts where nothing runs all the time. It can be stopped at any point and
    run as often as you like: at worst the broker carries a message twice. Exit 5 if the broker cannot be reached.
    """
    wired = session.book.wired
    if wired.queue is None:
        raise InvalidInput("queue", "no broker given: set DUEBOOK_QUEUE, or name an app whose book has a queue")
    await wired.check_queue()
    promoter = wired.promoter(wired.queue)
    clock = wired.clock
    until = clock.monotonic() + max_seconds
    with session.screen.progress("messages published", None) as show:
        while clock.monotonic() < until:
            more = await promoter.step()
            show(promoter.published)
            if not more:
                if once:
                    break
                await asyncio.sleep(promoter.pace_seconds)
    return Reply({"published": promoter.published}, [f"{count(promoter.published, 'message')} published."])
