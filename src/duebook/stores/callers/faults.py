"""What an error of a caller's driver means to duebook. All others belong to the caller, and reach it unchanged."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...errors import Busy, DuebookError
from ..catalog import Dialect
from . import schema

_UNDEFINED = {"42P01", "42703", "3F000"}  # table, column, schema
_SQLITE_ERROR, _SQLITE_BUSY, _SQLITE_LOCKED = 1, 5, 6
_LACKS = re.compile(r"no such table: (\w+\.)?duebook_|no such column|has no column named")


def explain(dialect: Dialect, error: Exception) -> None:
    """Raise SchemaMismatch or Busy from an error that means it.

    Serialization failures and deadlocks of PostgreSQL belong to the caller, whose retry loop knows its driver's own.
    """
    meaning = _of_sqlite if dialect == "sqlite" else _of_postgres
    for cause in _causes(error):
        if (told := meaning(cause)) is not None:
            raise told from error


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and those it was raised from: the driver's own is below the ones of SQLAlchemy and Django."""
    found: BaseException | None = error
    while found is not None:
        yield found
        found = found.__cause__


def _of_postgres(error: BaseException) -> DuebookError | None:
    code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return schema.missing() if code in _UNDEFINED else None


def _of_sqlite(error: BaseException) -> DuebookError | None:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return None
    if code & 0xFF in (_SQLITE_BUSY, _SQLITE_LOCKED):
        return Busy(
            f"{error}: another connection is writing. Roll back and repeat the whole transaction; "
            "one that starts with BEGIN IMMEDIATE waits for its turn instead"
        )
    return schema.missing() if code == _SQLITE_ERROR and _LACKS.search(str(error)) else None
