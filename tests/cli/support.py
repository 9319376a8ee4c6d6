"""Running the command in this process, and a small shop whose channel does what a key says."""

import asyncio
import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any

from duebook import Accepted, Due, Duebook, Email, Outcome, Rejected, SendContext
from duebook.cli import main

SHOP = """
from duebook import Accepted, Due, Duebook, Email, Retention
from datetime import timedelta

book = Duebook()


@book.channel("email", concurrency=2, send_seconds=60)
async def email(message, context):
    print("sent", context.key, flush=True)
    return Accepted("provider-" + context.key)


@book.kind("renewal", channel="email", max_lateness=timedelta(days=2), retention=Retention(bodies=timedelta(days=1)))
def renewal(due: Due):
    return Email(to="ann@example.com", subject="Renewal", text="Due")
"""

CALENDAR = """
from datetime import time, timedelta

from duebook import DeadlinePolicy, Due, Duebook, Email

book = Duebook()


@book.channel("email")
async def email(message, context):
    raise AssertionError("nothing is sent here")


@book.kind("contract", channel="email", deadline=DeadlinePolicy(days=(30, 14, 7, -1), at=time(9)))
def contract(due: Due):
    return Email(to="ann@example.com", subject="Contract", text="It ends")


@book.kind("digest", channel="email", spread=timedelta(hours=2))
def digest(due: Due):
    return Email(to="ann@example.com", subject="Digest", text="News")
"""

NEWSROOM = """
from datetime import timedelta

from duebook import DigestPolicy, Due, Duebook, Email, UnreadPolicy

book = Duebook()


@book.channel("email")
async def email(message, context):
    raise AssertionError("nothing is sent here")


@book.kind("chat", channel="email", unread=UnreadPolicy(after=timedelta(minutes=15)))
def chat(due: Due):
    return Email(to="ann@example.com", subject="Unread", text="Look")


@book.kind("news", channel="email", digest=DigestPolicy(limit=2, expire_after=timedelta(days=2)))
def news(due: Due):
    return Email(to="ann@example.com", subject="News", text="Read")


@book.kind("alone", channel="email")
def alone(due: Due):
    return Email(to="ann@example.com", subject="Alone", text="Read")
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def failure(self) -> Any:
        return json.loads(self.err)


def duebook(*arguments: str) -> Result:
    out, err = io.StringIO(), io.StringIO()
    code: object = None
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as ended:
            code = ended.code
    assert isinstance(code, int)
    return Result(code, out.getvalue(), err.getvalue())


def shop(url: str) -> tuple[Duebook, asyncio.Queue[str]]:
    """A book whose channel accepts, refuses, or breaks off, as the key says; the queue tells what was tried."""
    book = Duebook(url)
    tried: asyncio.Queue[str] = asyncio.Queue()

    @book.channel("email")
    async def email(message: Email, context: SendContext) -> Outcome:
        tried.put_nowait(context.key)
        if context.key.startswith("lost"):
            raise ConnectionError("the line went dead")
        if context.key.startswith("refused"):
            return Rejected("550 no such mailbox")
        return Accepted(f"provider-{context.key}")

    @book.kind("renewal", channel="email")
    async def renewal(due: Due) -> Email:
        return Email(to=f"{due.recipient}@example.com", subject="Your renewal", text="It is due.")

    return book, tried


def deliver(url: str, attempts: int) -> None:
    """Run a worker until so many attempts were made, and stop it gracefully: they are settled then."""

    async def go() -> None:
        book, tried = shop(url)
        async with book.worker():
            for _ in range(attempts):
                await tried.get()
        await book.close()

    asyncio.run(go())


def register(url: str) -> None:
    """Have a worker serve the shop's kind once, so that the database knows it."""
    deliver(url, 0)
