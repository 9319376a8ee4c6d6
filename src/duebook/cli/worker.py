"""A worker as a process: it says what it serves, and stops gracefully."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from typing import Annotated, Any

import typer

from ..app.book import Duebook
from ..domain.policy import ChannelPolicy, Kind
from ..errors import InvalidInput
from .failing import masked
from .output import ANSWERED, Reply, plain
from .program import command
from .session import Session
from .wording import count, span

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


@command(
    "Operators",
    "duebook worker app.notify:book",
    "duebook worker app.notify:book --channel email --stop-seconds 60",
    ready=False,
)
async def worker(
    session: Session,
    book_name: Annotated[
        str | None,
        typer.Argument(metavar="MODULE:BOOK", help="The application's book; by default --app or $DUEBOOK_APP."),
    ] = None,
    channel: Annotated[
        list[str] | None, typer.Option("--channel", help="Serve only this channel; may be repeated.")
    ] = None,
    stop_seconds: Annotated[
        float, typer.Option("--stop-seconds", min=0, max=3600, help="How long to wait for what is on the wire.")
    ] = 30.0,
) -> Reply:
    """Send what is due, until told to stop.

    SIGTERM or Ctrl-C: what has not begun goes back at once, what is on the wire is settled, then it ends. A second
    signal ends it at once; what is on the wire is then uncertain. With --json the document comes when it has started.
    """
    session.use(book_name)
    if not session.knows_app:
        raise InvalidInput("app", "a worker needs your handlers: duebook worker module:book")
    book = session.book
    if not book.registry.handlers:
        raise InvalidInput("app", "its book serves no kind: register handlers with @book.kind(…)")
    await session.prepare()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    stopping = _Stopping(session, stop_seconds)
    async with book.worker(channels=channel, stop_seconds=stop_seconds):
        session.screen.answer(_serving(book, channel))
        await stopping.asked.wait()
    session.screen.note("Stopped.")
    return ANSWERED


class _Stopping:
    """Hears the signals: the first asks the worker to stop, the second leaves at once."""

    def __init__(self, session: Session, stop_seconds: float) -> None:
        self.asked = asyncio.Event()
        self._session = session
        self._seconds = stop_seconds
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            try:
                loop.add_signal_handler(number, self._hear, number)
            except NotImplementedError:
                signal.signal(number, lambda heard, _frame: loop.call_soon_threadsafe(self._hear, heard))

    def _hear(self, number: int) -> None:
        if self.asked.is_set():
            os._exit(128 + number)
        self._session.screen.note(
            f"Stopping: handing back what has not begun, settling what is on the wire, {self._seconds:g} s at most. "
            "Once more to leave at once."
        )
        self.asked.set()


def _serving(book: Duebook, channels: list[str] | None) -> Reply:
    """Say in plain words what this process does."""
    registry = book.registry
    wanted = set(channels or registry.channels)
    served = [kind for kind in registry.served().values() if kind.channel in wanted]
    idle = [kind.name for kind in registry.kinds.values() if kind.name not in registry.handlers]
    policies = {name: channel.policy for name, channel in registry.channels.items() if name in wanted}
    lines = [
        f"Serving {count(len(served), 'kind')} over {count(len(policies), 'channel')}; "
        f"database {masked(book.url)}, namespace {book.namespace}, process {os.getpid()}."
    ]
    lines += [f"  channel {_channel(policy)}" for policy in policies.values()]
    lines += [f"  kind {_kind(kind)}" for kind in served]
    if idle:
        lines.append(f"  not served, for want of a handler here: {', '.join(idle)}")
    document: dict[str, Any] = {
        "pid": os.getpid(),
        "database": masked(book.url),
        "namespace": book.namespace,
        "kinds": [plain(kind) for kind in served],
        "channels": [plain(policy) for policy in policies.values()],
        "not_served": idle,
    }
    return Reply(document, [*lines, "Ctrl-C or SIGTERM stops it gracefully."])


def _channel(policy: ChannelPolicy) -> str:
    rate = f", {policy.rate:g} a second" if policy.rate else ""
    keys = f"repeats are noticed for {span(policy.key_window)}" if policy.key_window else "repeats are not noticed"
    return f"{policy.name}: {policy.concurrency} at once{rate}, at most {policy.send_seconds:g} s each, {keys}"


def _kind(kind: Kind) -> str:
    late = f", worth nothing {span(kind.max_lateness)} late" if kind.max_lateness else ""
    return (
        f"{kind.name}: over {kind.channel}, {kind.priority.name.lower()}, {count(kind.retry.attempts, 'attempt')}, "
        f"when uncertain: {kind.on_uncertain.replace('_', ' ')}{late}"
    )
