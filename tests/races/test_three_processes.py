"""A message is posted in one process, read in another, and fires in a third. Only the third knows how to send."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.support.worlds import World

pytestmark = pytest.mark.parametrize("world", ["postgres"], indirect=True)

BOOK = """
import asyncio, json, sys
from datetime import timedelta
from duebook import Accepted, Duebook, Email, UnreadPolicy

book = Duebook(sys.argv[1], namespace="test")
CHAT = ("chat", "room")
kind = {"channel": "mail", "unread": UnreadPolicy(after=timedelta(0))}
"""
DECLARED = """
book.declare("chat", **kind)

async def main():
    await act()
    await book.close()
    heavy = ("duebook.engine.lane", "duebook.worker", "duebook.channels.smtp", "duebook.channels.webhook")
    print(json.dumps([name for name in heavy if name in sys.modules]))

asyncio.run(main())
"""
POSTS = """
async def act():
    for message in ("m1", "m2", "m3"):
        await book.unread.posted(*CHAT, message, author="bob", recipients=["ann", "cid"])
"""
READS = """
async def act():
    await book.unread.mark_read(*CHAT, "ann", up_to="m2")
    await book.unread.mark_read(*CHAT, "cid")
"""
FIRES = """
async def main():
    sent, done = [], asyncio.Event()

    @book.channel("mail")
    async def mail(message, context):
        sent.append([context.key, message.subject])
        done.set()
        return Accepted("p-1")

    @book.kind("chat", **kind)
    async def chat(due):
        return Email(to="ann@example.org", subject=f"{due.unread.total} unread, {due.unread.new} new", text="…")

    async with book.worker():
        await asyncio.wait_for(done.wait(), 30)
    print(json.dumps(sent))
    await book.close()

asyncio.run(main())
"""


def run(world: World, *parts: str) -> Any:
    program = "\n".join([BOOK, *parts])
    done = subprocess.run(
        [sys.executable, "-c", program, world.address], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_posted_in_one_read_in_another_and_fired_in_a_third(world: World) -> None:
    assert run(world, POSTS, DECLARED) == []
    assert run(world, READS, DECLARED) == []
    assert run(world, FIRES) == [["room/m3/ann", "1 unread, 1 new"]]
    assert world.tally() == {"accepted": 1, "cancelled": 5}
