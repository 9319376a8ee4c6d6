"""Fills duebook's own tables with rows as `schedule` would have written them, by SQL inside the database.

Scheduling five million notifications through the API would measure nothing and take minutes. The rows are the same:
identity and notification, data, instants. For many rows on PostgreSQL the indexes besides the primary keys are set
aside and built again afterwards, the trigger that only checks new rows is passed over, and two connections share the
work. Afterwards the tables are analyzed, as autovacuum would have done.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
from psycopg import sql

from .subject import CHANNEL, KIND, sqlite_path

MANY = 100_000

_ROWS = """
select n, 'note-' || n as key, 'person-' || n %% 50000 as recipient,
    %(first)s::timestamptz + (n - %(start)s) * %(step)s::interval as due
from generate_series(%(start)s::bigint, %(end)s::bigint) as n
"""

_IDENTITIES = f"""
insert into duebook.identities (kind, key, notification_id, recipient, due_at, created_at)
select %(kind)s, key, n, recipient, due, %(now)s from ({_ROWS}) as wanted
"""

_NOTIFICATIONS = f"""
insert into duebook.notifications (
    id, kind, key, recipient, namespace, channel, priority, data, due_at, state, event, version, wake_at, age_from,
    created_at, moved_at)
select n, %(kind)s, key, recipient, 'default', %(channel)s, 1, jsonb_build_object('n', n), due, 'scheduled', 'schedule',
    1, due, due, %(now)s, %(now)s
from ({_ROWS}) as wanted
"""

_SQLITE = """
with recursive wanted (n) as (select :start union all select n + 1 from wanted where n < :end)
insert into duebook_notifications (
    id, kind, key, recipient, namespace, channel, priority, data, due_at, state, event, version, wake_at, age_from,
    created_at, moved_at)
select n, :kind, 'note-' || n, 'person-' || n % 50000, 'default', :channel, 1, '{"n":' || n || '}', due, 'scheduled',
    'schedule', 1, due, due, :now, :now
from (select n, strftime('%Y-%m-%dT%H:%M:%f', :first, '+' || ((n - :start) * :step) || ' seconds') || '000Z' as due
    from wanted)
"""


def fill_due(url: str, count: int, start: int = 1) -> None:
    """Add notifications that have been due for an hour, a millisecond apart, oldest first."""
    _fill(url, count, start, datetime.now(UTC) - timedelta(hours=1), timedelta(milliseconds=1))


def fill_future(url: str, count: int, start: int) -> None:
    """Add notifications that are due from tomorrow on, spread over a year."""
    _fill(url, count, start, datetime.now(UTC) + timedelta(days=1), timedelta(days=365) / count)


def _fill(url: str, count: int, start: int, first: datetime, step: timedelta) -> None:
    if url.startswith("sqlite"):
        _fill_sqlite(url, count, start, first, step)
    else:
        _fill_postgres(url, count, start, first, step)


def _fill_sqlite(url: str, count: int, start: int, first: datetime, step: timedelta) -> None:
    with closing(sqlite3.connect(sqlite_path(url), isolation_level=None)) as connection:
        # The rows are there before anything is measured; only how they got there is faster.
        connection.execute("pragma synchronous = off")
        values = {
            "start": start, "end": start + count - 1, "kind": KIND, "channel": CHANNEL, "now": _text(datetime.now(UTC)),
            "first": first.replace(tzinfo=None).isoformat(" ", "milliseconds"), "step": step.total_seconds(),
        }  # fmt: skip
        connection.execute(_SQLITE, values)
        connection.execute("analyze")


def _text(at: datetime) -> str:
    return at.isoformat(timespec="microseconds")[:-6] + "Z"


def _fill_postgres(url: str, count: int, start: int, first: datetime, step: timedelta) -> None:
    many = count >= MANY
    with psycopg.connect(url, autocommit=True) as connection:
        with _without_indexes(connection) if many else _as_it_is():
            parts = 2 if many else 1
            edges = [start + count * part // parts for part in range(parts + 1)]
            with ThreadPoolExecutor(parts) as pool:
                shares = [
                    pool.submit(_insert, url, low, high - 1, first + (low - start) * step, step)
                    for low, high in pairwise(edges)
                ]
            for share in shares:
                share.result()
        connection.execute("select setval('duebook.notifications_id_seq', max(id)) from duebook.notifications")
        for table in ("notifications", "identities"):
            connection.execute(sql.SQL("analyze duebook.{}").format(sql.Identifier(table)))


def _insert(url: str, start: int, end: int, first: datetime, step: timedelta) -> None:
    values = {
        "start": start, "end": end, "first": first, "step": step, "kind": KIND, "channel": CHANNEL,
        "now": datetime.now(UTC),
    }  # fmt: skip
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("set session_replication_role = replica")
        connection.execute(_IDENTITIES.encode(), values)
        connection.execute(_NOTIFICATIONS.encode(), values)


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@contextmanager
def _without_indexes(connection: psycopg.Connection) -> Iterator[None]:
    """Set aside the indexes that are no constraints, and build them again."""
    found = connection.execute(
        "select i.indexrelid::regclass::text, pg_get_indexdef(i.indexrelid) from pg_index i "
        "where i.indrelid in ('duebook.notifications'::regclass, 'duebook.identities'::regclass) and not i.indisprimary"
    ).fetchall()
    for name, _ in found:
        connection.execute(f"drop index {name}".encode())
    yield
    connection.execute("set maintenance_work_mem = '512MB'")
    for _, definition in found:
        connection.execute(definition.encode())
