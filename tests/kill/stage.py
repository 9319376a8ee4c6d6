"""A database, the receivers and the workers of a kill test, and what is judged after it."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from duebook import Duebook, New
from duebook.cli.auditing import violations
from duebook.domain.notification import Notification
from tests.kill.oracles import Record, judged
from tests.kill.served import CONCURRENCY, book, settings

HERE = Path(__file__).parent
LONGEST_LINE_BYTES = 1 << 24
EVERYTHING = 1_000_000
STOP_SECONDS = 60
ENDINGS = (0, -signal.SIGTERM, -signal.SIGKILL)

Left = dict[str, Any]


@dataclass
class Process:
    """A program that says lines of JSON."""

    process: asyncio.subprocess.Process

    async def hear(self) -> Any:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        assert line, "the process ended before it said what is waited for"
        return json.loads(line)

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()


@dataclass
class Receivers(Process):
    """See receivers.py for the commands."""

    async def ask(self, *words: object) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{' '.join(map(str, words))}\n".encode())
        return await self.hear()


@dataclass
class Worker(Process):
    """See served.py for what it says."""

    left: Left = field(default_factory=dict)

    async def until(self, reached: Callable[[Left], bool]) -> None:
        while not (self.left and reached(self.left)):
            self.left = await self.hear()


def at_rest(left: Left) -> bool:
    """Nothing waits or is under way, and no hook is in doubt. Mails may be: only a person can end that."""
    return not left["open"] and not left["hooks_uncertain"]


def without_doubt(left: Left) -> bool:
    return at_rest(left) and not left["uncertain"]


@asynccontextmanager
async def program(name: str, *words: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a program of this folder; in the end it is asked to stop, or killed if something went wrong."""
    env = {**os.environ, "PYTHONPATH": f"{HERE.parents[1] / 'src'}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, HERE / name, *map(str, words),
        env=env, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LONGEST_LINE_BYTES,
    )  # fmt: skip
    try:
        yield process
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), STOP_SECONDS)
        assert process.returncode in ENDINGS, f"{name} ended with {process.returncode}"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


@dataclass
class Stage:
    """A run on one database. `promised`: the keys, by kind."""

    url: str
    receivers: Receivers
    ports: tuple[int, int]
    lease_seconds: float
    book: Duebook
    promised: dict[str, frozenset[str]]

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[Worker]:
        async with program("served.py", self.url, *self.ports, self.lease_seconds) as process:
            yield Worker(process)

    async def ledger(self, kind: str) -> list[Notification]:
        return await self.book.search(kind=kind, limit=EVERYTHING)

    async def judged(self, disruptions: int) -> str:
        """Check what is on record against what the receivers took; answers the figures in words.

        `disruptions`: how often sends under way may have lost their worker.
        """
        told = await self.receivers.ask("tell")
        records = [await self._record(kind, told[kind], disruptions) for kind in self.promised]
        wrong = [said for record in records for said in judged(record)]
        wrong += map(str, await violations(self.url, settings=settings(self.lease_seconds)))
        assert not wrong, "\n".join(wrong)
        return "; ".join(map(str, records))

    async def _record(self, kind: str, told: dict[str, Any], disruptions: int) -> Record:
        return Record(
            channel=f"{kind}s",
            keyed=kind == "hook",
            promised=self.promised[kind],
            states={n.key: n.state for n in await self.ledger(kind)},
            taken=Counter(told["accepted"]),
            uncertain_at_most=disruptions * CONCURRENCY + told["silenced"],
        )


@asynccontextmanager
async def stage(
    url: str, count: int, *, lease_seconds: float, answer_seconds: float = 0.0, silent_every: int = 0
) -> AsyncIterator[Stage]:
    """Promise `count` hooks and as many mails, due at once, on an empty database."""
    async with program("receivers.py", answer_seconds, silent_every) as process:
        receivers = Receivers(process)
        http_port, smtp_port = await receivers.hear()
        made = book(url, http_port, smtp_port, lease_seconds)
        await made.migrate()
        promised = {kind: frozenset(f"{kind}-{number}" for number in range(count)) for kind in ("hook", "mail")}
        await made.schedule_many(
            [
                New(kind=kind, key=key, recipient=key, after=timedelta(0))
                for kind, keys in promised.items()
                for key in sorted(keys)
            ]
        )
        try:
            yield Stage(url, receivers, (http_port, smtp_port), lease_seconds, made, promised)
        finally:
            await made.close()
