"""What a broker adds: how late its ids come, what it costs in calls and statements, and what parking a million costs.

Each broker runs for itself on this machine, beside PostgreSQL, and one worker serves two hundred a second. Brokers take
whole seconds, so an id that is due between two comes a little early and waits in the lane. The promoter is measured on
a table in which a million wait for tomorrow or later.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from duebook import Duebook, New
from duebook.ports import Plan, Queue, Statement
from duebook.testing.contracts.queue import HostileQueue

from .arrivals import Arrivals
from .audit import audit
from .brokers import BROKERS, Connect, Missing
from .figures import percentile
from .filling import fill_due, fill_future
from .run import Run
from .subject import KIND, database, make_book, settle_down

PER_SECOND = 200
PLAYED_PER_SECOND = 20
"""What the double of SQS can carry: it answers some forty requests a second, each about ten messages at most."""
LEAD_SECONDS = 3.0
PROMOTED = 10_000


class CountingQueue:
    """Counts the calls to a broker."""

    def __init__(self, inner: Queue) -> None:
        self.inner = inner
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        if name in ("publish", "receive", "ack"):
            self.calls[name] += 1
        return getattr(self.inner, name)


def measure(run: Run) -> None:
    _lags(run, "table", None, PER_SECOND)
    for name, started in BROKERS.items():
        try:
            with started() as connect:
                _lags(run, name, connect, PLAYED_PER_SECOND if name.startswith("sqs") else PER_SECOND)
                if name == "redis":
                    _hostile(run, connect)
        except Missing as missing:
            run.say(f"{name} was not measured: {missing}")
    _parked(run)


def _lags(run: Run, name: str, connect: Connect | None, rate: int) -> None:
    with database("PostgreSQL", run.server) as target:
        for ahead in (True, False):
            _lag(run, name, target, connect, rate, ahead)
        audit(run, target)


def _hostile(run: Run, connect: Connect) -> None:
    """How late the latest is if three in ten messages are lost, three in ten doubled, and three in ten delayed."""
    count = PER_SECOND * run.scale.lateness_seconds
    with database("PostgreSQL", run.server) as target:
        late, _, _ = asyncio.run(_serve(target, lambda: HostileQueue(connect(), 1), PER_SECOND, count, ahead=True))
        audit(run, target)
    run.found("by a hostile transport: longest lateness", max(late), "s", note="the sweep comes every 10 s")


def _lag(run: Run, name: str, target: str, connect: Connect | None, rate: int, ahead: bool) -> None:
    count = rate * run.scale.lateness_seconds
    late, calls, statements = asyncio.run(_serve(target, connect, rate, count, ahead))
    p50, p99 = (1000 * percentile(late, percent) for percent in (50, 99))
    what = "scheduled ahead" if ahead else "due at once"
    told = ", ".join(f"{calls[verb] / count:.2f} {verb}" for verb in ("publish", "receive", "ack")) if calls else "none"
    note = f"median {p50:.0f} ms; for each: {statements / count:.2f} statements, broker calls: {told}"
    run.found(f"{name}: {what}, {rate} a second, lateness p99", p99, "ms", note=note)


async def _serve(
    target: str, connect: Connect | None, rate: int, count: int, ahead: bool
) -> tuple[list[float], Counter[str], int]:
    arrivals = Arrivals(count)
    counting = CountingQueue(connect()) if connect else None
    book = make_book(target, arrivals.send, queue=counting)
    await book.wired.database.ask(book.wired.store.index_unpublished())
    settle_down(target)
    statements = _count_statements(book)
    keys = [f"{'ahead' if ahead else 'now'}-{number}" for number in range(count)]
    if ahead:
        await arrivals.promise(book, keys, LEAD_SECONDS, rate)
    scheduled = statements[0]
    async with book.worker(), asyncio.timeout(count / rate + 60):
        if not ahead:
            scheduled += await _schedule_now(book, keys, arrivals.dues, rate)
        await arrivals.done.wait()
    await book.close()
    return arrivals.late, counting.calls if counting else Counter(), statements[0] - scheduled


async def _schedule_now(book: Duebook, keys: Sequence[str], dues: dict[str, datetime], rate: int) -> int:
    """Schedule some at a time, twenty times a second; answers how many statements that was."""
    spoken = 0
    at_once = rate // 20
    for start in range(0, len(keys), at_once):
        began = time.perf_counter()
        some = keys[start : start + at_once]
        dues.update((key, datetime.now(UTC)) for key in some)
        await book.schedule_many([New(kind=KIND, key=key, recipient="you", after=timedelta(0)) for key in some])
        spoken += 2
        await asyncio.sleep(max(0.0, at_once / rate - (time.perf_counter() - began)))
    return spoken


def _count_statements(book: Duebook) -> list[int]:
    """Count what is put to the database from now on."""
    spoken = [0]
    inner: Any = book.wired.database

    def counted(plan: Plan[Any]) -> Plan[Any]:
        try:
            statement: Statement = next(plan)
            while True:
                spoken[0] += 1
                statement = plan.send((yield statement))
        except StopIteration as end:
            return end.value

    run, ask = inner.run, inner.ask
    inner.run = lambda plan: run(counted(plan))
    inner.ask = lambda plan: ask(counted(plan))
    return spoken


def _parked(run: Run) -> None:
    """Promote what is due among a million parked; how many index entries were read for each."""
    with database("PostgreSQL", run.server) as url:
        fill_future(url, run.scale.pending, 1)
        fill_due(url, PROMOTED, run.scale.pending + 1)
        queue = _Swallowing()
        seconds = asyncio.run(_promote(url, queue))
        with psycopg.connect(url) as connection:
            row = connection.execute(
                "select idx_tup_read from pg_stat_user_indexes where indexrelname = 'notifications_unpublished'"
            ).fetchone()
    assert row is not None
    assert queue.taken == PROMOTED
    note = f"{row[0] / PROMOTED:.2f} index entries read for each, {run.scale.pending:,} parked"
    run.found("promoted a second, without a broker's part", PROMOTED / seconds, "/s", note=note)


async def _promote(url: str, queue: _Swallowing) -> float:
    book = make_book(url, queue=queue)
    await book.wired.database.ask(book.wired.store.index_unpublished())
    settle_down(url)
    promoter = book.wired.promoter(queue)
    started = time.perf_counter()
    while await promoter.step():
        pass
    seconds = time.perf_counter() - started
    await book.close()
    # A server process tells its counts when it ends.
    await asyncio.sleep(1.0)
    return seconds


class _Swallowing:
    """A broker that takes everything at once."""

    max_delay: timedelta | None = None

    def __init__(self) -> None:
        self.taken = 0

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        self.taken += len(ids)

    async def close(self) -> None: ...

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(name)
