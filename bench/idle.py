"""What an idle worker costs: statements a second, and CPU time a minute, with ten thousand waiting for the future.

A worker in a process of its own, watched after it has settled down. PostgreSQL's own counter of transactions is read
from another database, so that the reading does not count; statements outside of transactions are one each, also those
the driver adds. A PostgreSQL backend that has nothing to do reports its last transactions within ten seconds, which is
waited for. SQLite has no counter, so the worker counts what it puts to it.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from urllib.parse import urlsplit

import psycopg

from .audit import audit
from .figures import Target
from .filling import fill_future
from .outside import worker_process
from .run import Run
from .subject import DIALECTS, Dialect, database

STATEMENTS = Target(1.0, most=True)
PENDING = 10_000
CALM_SECONDS = 11.0

COUNTER = "select xact_commit + xact_rollback from pg_stat_database where datname = %s"


def measure(run: Run) -> None:
    with ExitStack() as stack:
        urls = {dialect: stack.enter_context(database(dialect, run.server)) for dialect in DIALECTS}
        for url in urls.values():
            fill_future(url, PENDING, 1)
        workers = {dialect: stack.enter_context(worker_process(url)) for dialect, url in urls.items()}
        for worker in workers.values():
            worker.hear()
        time.sleep(CALM_SECONDS)
        told = {dialect: worker.ask() for dialect, worker in workers.items()}
        before, started = _transactions(run.server, urls["PostgreSQL"]), time.perf_counter()
        time.sleep(run.scale.idle_seconds)
        seconds = time.perf_counter() - started
        transactions = _transactions(run.server, urls["PostgreSQL"]) - before
        for dialect, worker in workers.items():
            now = worker.ask()
            said = now["statements"] - told[dialect]["statements"]
            cpu = 60 * (now["cpu_seconds"] - told[dialect]["cpu_seconds"]) / seconds
            _found(run, dialect, transactions if dialect == "PostgreSQL" else said, cpu, seconds)
        for url in urls.values():
            audit(run, url)


def _found(run: Run, dialect: Dialect, statements: int, cpu: float, seconds: float) -> None:
    note = f"{statements} in {seconds:.0f} s, {PENDING:,} pending"
    run.found(f"{dialect}: statements of an idle worker", statements / seconds, "/s", target=STATEMENTS, note=note)
    run.found(f"{dialect}: CPU of an idle worker in a minute", 1000 * cpu, "ms")


def _transactions(server: str, url: str) -> int:
    with psycopg.connect(server, autocommit=True) as connection:
        row = connection.execute(COUNTER, [urlsplit(url).path.removeprefix("/")]).fetchone()
    assert row is not None
    return int(row[0])
