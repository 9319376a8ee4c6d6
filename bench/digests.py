"""How long the digests of a hundred thousand recipients take to be prepared, and how much memory.

Each has 37 items ready, of which a digest holds 20. Another process closes the hour, with the digester of a worker and
its settings, and tells its seconds and the most memory it had resident: `python -m bench.digests URL`.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta

import psycopg

from duebook import DigestPolicy, Due, Duebook, Message

from .figures import Target
from .run import Run
from .subject import CHANNEL, database, nothing, settle_down
from .worker_process import most_memory

TARGET = Target(20.0, most=True)
MEMORY_TARGET = Target(200, most=True)
ITEMS = 37
SELECTED = 20

_ITEMS = f"""
insert into duebook.digest_items (kind, recipient, item, ready_at, score, data, added_at)
select 'news', 'person-' || who, 'item-' || what, %(at)s::timestamptz + what * interval '1 s', what %% 7,
    jsonb_build_object('n', what), %(at)s
from generate_series(1, %(recipients)s::int) as who, generate_series(1, {ITEMS}) as what"""

_CURSORS = """
insert into duebook.digest_cursors (kind, recipient, namespace, zone, open_from, next_close_at)
select 'news', 'person-' || who, 'default', 'UTC', %(at)s, %(closes)s
from generate_series(1, %(recipients)s::int) as who"""


def measure(run: Run) -> None:
    recipients = run.scale.digests
    with database("PostgreSQL", run.server) as url:
        _lay(url, recipients)
        settle_down(url)
        command = [sys.executable, "-m", "bench.digests", url]
        told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        _check(url, recipients)
    what = f"PostgreSQL: {recipients:,} digests of {SELECTED} items out of {ITEMS} are prepared"
    run.found(what, told["seconds"], "s", target=TARGET)
    run.found("PostgreSQL: most memory meanwhile", told["most_mb"], "MB", target=MEMORY_TARGET)


def _lay(url: str, recipients: int) -> None:
    """Have items ready in the hour before this one, as `add` would have written them."""
    closes = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    values = {"recipients": recipients, "at": closes - timedelta(minutes=30), "closes": closes}
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (_ITEMS, _CURSORS):
            connection.execute(statement.encode(), values)
        for table in ("digest_items", "digest_cursors"):
            connection.execute(f"vacuum analyze duebook.{table}".encode())


def _check(url: str, recipients: int) -> None:
    """Raise RuntimeError unless every recipient has one digest of the right size."""
    with psycopg.connect(url) as connection:
        query = "select count(*), min(selected), max(selected), min(total), max(total) from duebook.digests"
        found = connection.execute(query).fetchone()
    if found != (recipients, SELECTED, SELECTED, ITEMS, ITEMS):
        raise RuntimeError(f"{recipients:,} recipients should have a digest of {SELECTED} out of {ITEMS}, not {found}")


def _make_book(url: str) -> Duebook:
    book = Duebook(url)
    book.channel(CHANNEL)(nothing)

    @book.kind("news", channel=CHANNEL, digest=DigestPolicy(limit=SELECTED))
    async def handler(due: Due) -> Message:
        raise AssertionError("nothing is sent here")

    return book


async def _prepare(url: str) -> None:
    book = _make_book(url)
    (digester,) = [agent for agent in book.wired.worker(None, "bench.invalid", 1.0).agents if agent.name == "digester"]
    started = time.perf_counter()
    while await digester.step():
        pass
    seconds = time.perf_counter() - started
    await book.close()
    print(json.dumps({"seconds": seconds, "most_mb": most_memory()}))


if __name__ == "__main__":
    asyncio.run(_prepare(sys.argv[1]))
