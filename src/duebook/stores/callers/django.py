"""The transaction of a Django database: the atomic() block around the call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from ...errors import InvalidInput, NotInTransaction
from ...ports import Rows
from ..catalog import Compiled, Dialect
from .drive import SyncDriver

_DIALECTS: dict[str, Dialect] = {"postgresql": "postgres", "sqlite": "sqlite"}


class DjangoCaller(SyncDriver):
    """Runs plans in the transaction of a Django database connection."""

    def __init__(self, connection: Any, find: Callable[[], Any] | None = None) -> None:
        """Join `connection`, or each time the one that `find` returns: Django keeps one per alias and thread."""
        if connection.vendor not in _DIALECTS:
            raise InvalidInput(
                "connection",
                f"Django database {connection.alias!r} is {connection.vendor}; duebook lives in PostgreSQL and SQLite",
            )
        self.dialect = _DIALECTS[connection.vendor]
        self.style = "pyformat" if self.dialect == "postgres" else "named"
        self._find = find or (lambda: connection)

    def after_commit(self, callback: Callable[[], object]) -> bool:
        connection = self._find()
        if not connection.in_atomic_block:
            return False  # Django has no hook for transactions that are managed by hand
        connection.on_commit(callback)
        return True

    def _join(self) -> None:
        connection = self._find()
        if not connection.in_atomic_block and connection.get_autocommit():
            raise NotInTransaction(
                f"the Django database {connection.alias!r} is in autocommit: write "
                f"`with transaction.atomic(using={connection.alias!r}):` around it, or set ATOMIC_REQUESTS"
            )

    def _database(self) -> Hashable:
        settings = self._find().settings_dict
        name = str(settings["NAME"])
        return None if ":memory:" in name else ("django", settings["HOST"], settings["PORT"], name)

    def _query(self, compiled: Compiled, parameters: Mapping[str, Any]) -> Rows:
        text = compiled.text
        if self.dialect == "sqlite":
            text = text.replace("%", "%%")  # Django's cursor formats the text; named parameters pass through it
        with self._find().cursor() as cursor:
            if self.dialect == "postgres":
                _keep_zones(cursor.cursor)
            cursor.execute(text, parameters)
            return cursor.fetchall() if cursor.description else []


def of_alias(alias: str) -> DjangoCaller:
    """Return the caller for a database alias of Django's settings."""
    if "django.db" not in sys.modules:
        raise InvalidInput("connection", f"{alias!r} is taken for a Django database alias, and Django is not loaded")
    from django.core.exceptions import ImproperlyConfigured
    from django.db import connections
    from django.utils.connection import ConnectionDoesNotExist

    def find() -> Any:
        return connections[alias]

    try:
        return DjangoCaller(find(), find)
    except ImproperlyConfigured as error:
        problem = f"{alias!r} is taken for a Django database alias, and Django has no settings here"
        raise InvalidInput("connection", problem) from error
    except ConnectionDoesNotExist as error:
        raise InvalidInput(
            "connection", f"Django has no database {alias!r}; its DATABASES are {', '.join(map(repr, connections))}"
        ) from error


def of_proxy(proxy: Any) -> DjangoCaller:
    """Return the caller for `django.db.connection`, which stands for the default database."""
    return of_alias(proxy.alias)


def _keep_zones(cursor: Any) -> None:
    """Have a cursor of this one statement answer aware instants: without USE_TZ, Django cuts off their zone."""
    if hasattr(cursor, "adapters"):  # psycopg 3
        from psycopg.types.datetime import TimestamptzLoader

        cursor.adapters.register_loader("timestamptz", TimestamptzLoader)
    else:  # psycopg2
        from datetime import timezone

        cursor.tzinfo_factory = timezone
