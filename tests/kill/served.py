"""The program that is killed: a worker that sends webhooks to a provider that knows keys, and mails without any.

Run as `python served.py URL HTTP_PORT SMTP_PORT LEASE_SECONDS`; stops gracefully on SIGTERM. Whenever it changes, it
says as a line of JSON what is left to do. It ends with 1 if it logged an error: a lost database is none.
"""

import asyncio
import json
import logging
import signal
import sys
from contextlib import suppress
from datetime import timedelta
from typing import Any, TextIO

from duebook import Due, Duebook, Email, EngineSettings, Webhook
from duebook.channels.smtp import Smtp
from duebook.channels.webhook import WebhookChannel
from duebook.domain.retry import Backoff
from duebook.errors import DuebookError

CONCURRENCY = 16
LOOK_SECONDS = 0.2
MAIL_SECONDS = 30.0
# A notification that meets a kill at every attempt must not run out of them.
STUBBORN = Backoff(attempts=100)


def settings(lease_seconds: float) -> EngineSettings:
    """Return the settings of a lease, in the proportions of the default ones."""
    third = lease_seconds / 3
    return EngineSettings(lease_seconds, grace_seconds=third, poll_seconds=min(1.0, third))


def book(url: str, http_port: int, smtp_port: int, lease_seconds: float) -> Duebook:
    made = Duebook(url, namespace="kill", settings=settings(lease_seconds))
    hooks = WebhookChannel(
        f"http://127.0.0.1:{http_port}/hooks",
        allow_private=True,
        key_window=timedelta(hours=24),
        concurrency=CONCURRENCY,
        send_seconds=lease_seconds,
        connect_seconds=lease_seconds,
    )
    mails = Smtp(
        "127.0.0.1",
        smtp_port,
        sender="shop@example.com",
        tls="none",
        concurrency=CONCURRENCY,
        send_seconds=MAIL_SECONDS,
    )
    made.add_channel("hooks", hooks)
    made.add_channel("mails", mails)

    @made.kind("hook", channel="hooks", on_uncertain="resend", retry=STUBBORN)
    async def hook(due: Due) -> Webhook:
        return Webhook(body={"key": due.key})

    @made.kind("mail", channel="mails", retry=STUBBORN)
    async def mail(due: Due) -> Email:
        return Email(to="ann@example.net", subject=due.key, text="Your plan renews.")

    return made


class Errors(logging.StreamHandler[TextIO]):
    """Prints errors, and counts them."""

    count = 0

    def emit(self, record: logging.LogRecord) -> None:
        self.count += 1
        super().emit(record)


async def left(made: Duebook) -> dict[str, Any]:
    """Return whether something waits or is under way, whether a hook is in doubt, and how many are in all.

    A hook may come into doubt, or be sent again, between two looks. So they are looked for before and after.
    """
    before = await _uncertain_hook(made)
    backlog = await made.backlog()
    return {
        "open": bool(backlog.due or backlog.in_flight or backlog.next_wake_at),
        "hooks_uncertain": before or await _uncertain_hook(made),
        "uncertain": backlog.uncertain,
    }


async def _uncertain_hook(made: Duebook) -> bool:
    return bool(await made.search(kind="hook", state="uncertain", limit=1))


async def main(url: str, http_port: str, smtp_port: str, lease_seconds: str) -> int:
    errors = Errors()
    errors.setLevel(logging.ERROR)
    logging.getLogger().addHandler(errors)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    made = book(url, int(http_port), int(smtp_port), float(lease_seconds))
    said: dict[str, Any] = {}
    async with made.worker():
        while not stop.is_set():
            with suppress(DuebookError):
                if (found := await left(made)) != said:
                    said = found
                    print(json.dumps(said), flush=True)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), LOOK_SECONDS)
    await made.close()
    return min(errors.count, 1)


if __name__ == "__main__":
    sys.exit(asyncio.run(main(*sys.argv[1:])))
