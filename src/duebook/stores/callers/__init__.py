"""Plans inside the caller's own open transaction, whoever made the connection.

A connection is known by the names of its class and of that class's bases, so nothing is imported here that the caller
has not imported already. No caller ever commits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import InvalidInput
from . import asyncpg, django, psycopg, sqlalchemy, sqlite3
from .drive import AsyncCaller, SyncCaller

_KNOWN: dict[str, Callable[[Any], SyncCaller | AsyncCaller]] = {
    "sqlalchemy.orm.session.Session": sqlalchemy.SessionCaller,
    "sqlalchemy.orm.scoping.scoped_session": lambda scoped: sqlalchemy.SessionCaller(scoped()),
    "sqlalchemy.engine.base.Connection": sqlalchemy.ConnectionCaller,
    "sqlalchemy.ext.asyncio.session.AsyncSession": sqlalchemy.AsyncSessionCaller,
    "sqlalchemy.ext.asyncio.scoping.async_scoped_session": lambda scoped: sqlalchemy.AsyncSessionCaller(scoped()),
    "sqlalchemy.ext.asyncio.engine.AsyncConnection": sqlalchemy.AsyncConnectionCaller,
    "psycopg.Connection": psycopg.PsycopgCaller,
    "psycopg.AsyncConnection": psycopg.AsyncPsycopgCaller,
    "asyncpg.connection.Connection": asyncpg.AsyncpgCaller,
    "asyncpg.pool.PoolConnectionProxy": asyncpg.AsyncpgCaller,
    "sqlite3.Connection": sqlite3.SqliteCaller,
    "builtins.str": django.of_alias,
    "django.utils.connection.ConnectionProxy": django.of_proxy,
    "django.db.backends.base.base.BaseDatabaseWrapper": django.DjangoCaller,
}

_ACCEPTED = (
    "give the open transaction itself: an SQLAlchemy Session, AsyncSession, Connection or AsyncConnection, "
    "a psycopg or asyncpg connection, an sqlite3.Connection, or a Django database alias"
)


def caller(connection: object) -> SyncCaller | AsyncCaller:
    """Return what runs plans in the transaction of this connection; nothing is sent to the database yet."""
    for base in type(connection).__mro__:
        known = _KNOWN.get(f"{base.__module__}.{base.__qualname__}")
        if known is not None:
            return known(connection)
    made_of = f"{type(connection).__module__}.{type(connection).__qualname__}"
    raise InvalidInput("connection", f"{made_of} is none that duebook can join; {_ACCEPTED}")


__all__ = ["AsyncCaller", "SyncCaller", "caller"]
