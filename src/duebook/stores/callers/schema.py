"""Whether a caller's database has the tables this release needs; asked once per database and process."""

from __future__ import annotations

from collections.abc import Generator, Hashable
from weakref import WeakSet

from ...errors import SchemaMismatch
from ...ports import Rows, Statement
from .. import catalog

_MANY = 1000
_named: set[Hashable] = set()
_objects: WeakSet[Hashable] = WeakSet()


def known(database: Hashable) -> bool:
    """Tell whether this database has passed the check before."""
    return database in (_named if isinstance(database, tuple) else _objects)


def remember(database: Hashable) -> None:
    """Keep that this database has passed: a tuple by its value, an object as long as it lives, None not at all."""
    if isinstance(database, tuple):
        if len(_named) >= _MANY:
            _named.clear()
        _named.add(database)
    elif database is not None:
        _objects.add(database)


def check(dialect: catalog.Dialect) -> Generator[str, Rows, None]:
    """Raise SchemaMismatch unless the schema is the one of this release; yields SQL texts and receives their rows."""
    if dialect == "postgres":
        # Reading a missing table would abort the caller's transaction; this does not.
        found = yield "select to_regclass('duebook.migrations') is not null"
        if not found[0][0]:
            raise missing()
    rows = yield catalog.prepare(dialect, "named", Statement("read_schema", {})).text
    version, newest = rows[0][0] or 0, catalog.newest(dialect)
    if version != newest:
        raise SchemaMismatch.between(version, newest)


def missing() -> SchemaMismatch:
    return SchemaMismatch(
        "this database lacks tables or columns of duebook: run `duebook migrate` on it, "
        "or give a connection to the database where it was run"
    )


def forget() -> None:
    """Have every database checked again."""
    _named.clear()
    _objects.clear()
