"""The least that a drain can cost: three set-based statements and nothing else.

Claim, begin and settle in batches of 200 on one connection (asyncpg, sqlite3), each in its own commit, on duebook's own
tables with their triggers, checks and indexes. What it leaves out: the handler, the channel, freezing and hashing a
message of each its own (all rows get the same one), the fence of each row, pauses, fairness, and the ledger's insert.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime, timedelta

import asyncpg

from duebook.stores.sqlite.database import wal_is_safe

from .subject import CHANNEL, settle_down, sqlite_path

BATCH = 200
LEASE = timedelta(seconds=15)
MESSAGE = '{"body": "Number 1, as you asked.", "channel": null, "data": {}, "title": "Your return is due", "to": "you"}'

CLAIM = """
update duebook.notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = now(), wake_at = null,
    lease_until = now() + interval '15 seconds', holder = 'raw'
where id = any (array(
    select id from duebook.notifications
    where channel = $1 and priority = 1 and not alone and wake_at <= now()
    order by wake_at limit $2 for update skip locked))
returning id
"""

BEGIN = """
update duebook.notifications set
    state = 'sending', event = 'begin', version = version + 1, moved_at = now(), number = number + 1, begun_at = now(),
    first_begun_at = now(), message = $2, rendered_at = now()
where id = any ($1::bigint[])
"""

SETTLE = """
update duebook.notifications set
    state = 'accepted', event = 'accept', version = version + 1, moved_at = now(), lease_until = null, holder = null,
    closed_at = now(), basis = 'reported'
where id = any ($1::bigint[])
"""

SQLITE_CLAIM = """
update duebook_notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = :now, wake_at = null, lease_until = :until,
    holder = 'raw'
where id in (
    select id from duebook_notifications
    where channel = :channel and priority = 1 and not alone and wake_at <= :now
    order by wake_at limit :limit)
returning id
"""

SQLITE_BEGIN = """
update duebook_notifications set
    state = 'sending', event = 'begin', version = version + 1, moved_at = :now, number = number + 1, begun_at = :now,
    first_begun_at = :now, message = :message, rendered_at = :now
where id in (select value from json_each(:ids))
"""

SQLITE_SETTLE = """
update duebook_notifications set
    state = 'accepted', event = 'accept', version = version + 1, moved_at = :now, lease_until = null, holder = null,
    closed_at = :now, basis = 'reported'
where id in (select value from json_each(:ids))
"""


def drain_raw(url: str) -> tuple[int, float]:
    """Move everything due to accepted; answers how many and the seconds."""
    settle_down(url)
    return _drain_sqlite(url) if url.startswith("sqlite") else asyncio.run(_drain_postgres(url))


async def _drain_postgres(url: str) -> tuple[int, float]:
    connection = await asyncpg.connect(url)
    claim, begin, settle = [await connection.prepare(text) for text in (CLAIM, BEGIN, SETTLE)]
    count, started = 0, time.perf_counter()
    while found := await claim.fetch(CHANNEL, BATCH):
        ids = [row[0] for row in found]
        await begin.fetch(ids, MESSAGE)
        await settle.fetch(ids)
        count += len(ids)
    seconds = time.perf_counter() - started
    await connection.close()
    return count, seconds


def _drain_sqlite(url: str) -> tuple[int, float]:
    with closing(open_as_duebook(sqlite_path(url))) as connection:
        count, started = 0, time.perf_counter()
        while True:
            now = datetime.now(UTC)
            values = {"channel": CHANNEL, "limit": BATCH, "now": _text(now), "until": _text(now + LEASE)}
            ids = [row[0] for row in connection.execute(SQLITE_CLAIM, values).fetchall()]
            if not ids:
                return count, time.perf_counter() - started
            values = {"ids": json.dumps(ids), "now": _text(now), "message": MESSAGE}
            connection.execute(SQLITE_BEGIN, values)
            connection.execute(SQLITE_SETTLE, values)
            count += len(ids)


def open_as_duebook(path: str) -> sqlite3.Connection:
    """Open an SQLite file with the pragmas duebook sets."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute(f"pragma journal_mode = {'wal' if wal_is_safe(sqlite3.sqlite_version_info) else 'truncate'}")
    connection.execute("pragma synchronous = full")
    return connection


def _text(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")[:-6] + "Z"
