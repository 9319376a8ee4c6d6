"""The SQL folders: one file per verb, one folder per dialect, with named parameters.

`{notification}`, `{schedule}` and `{deadline}` in a file stand for the columns of one in the order of its fields, and
another name in braces for the file of that name in `parts`, which several verbs share. A compiled statement casts each
parameter to text or bigint, so that every driver sends the same types.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple

from ..domain.deadlines import Deadline
from ..domain.notification import Notification
from ..domain.schedules import Schedule
from ..ports import Statement

Dialect = Literal["sqlite", "postgres"]
Style = Literal["named", "numeric", "pyformat", "colon"]
"""How a driver writes parameters: `:n`, `$1::text`, `%(n)s::text`, or `cast(:n as text)`."""

_PART = re.compile(r"\{([a-z_]+)\}")
_PARAMETER = re.compile(r"(?<![:\w]):([a-z_]+)")
_COLUMN = {"group": "group_key", "max_lateness": "max_lateness_seconds"}
_JSON = frozenset({"data", "recurrence"})
_RECORDS: Mapping[str, Sequence[str]] = {
    "notification": Notification._fields,
    "schedule": [item.name for item in fields(Schedule)],
    "deadline": [item.name for item in fields(Deadline)],
}


class Compiled(NamedTuple):
    text: str
    names: Sequence[str]

    def positional(self, parameters: Mapping[str, Any]) -> list[Any]:
        return [parameters[name] for name in self.names]


def folder(dialect: Dialect, *path: str) -> Any:
    return resources.files(__package__).joinpath(dialect, *path)


@cache
def text(dialect: Dialect, verb: str) -> str:
    """Return the SQL of a verb, with named parameters."""
    source: str = folder(dialect, "sql", f"{verb}.sql").read_text(encoding="utf-8")
    return _PART.sub(lambda found: _part(dialect, found[1]), source)


def _part(dialect: Dialect, name: str) -> str:
    if name in _RECORDS:
        return _columns(dialect, name)
    shared: str = folder(dialect, "parts", f"{name}.sql").read_text(encoding="utf-8")
    return _without_comments(shared)


def _columns(dialect: Dialect, record: str) -> str:
    names = (_COLUMN.get(name, name) for name in _RECORDS[record])
    # The drivers differ in what they make of jsonb; all of them agree on text.
    return ", ".join(f"{name}::text" if dialect == "postgres" and name in _JSON else name for name in names)


_compiled: dict[tuple[Dialect, Style, str], Compiled] = {}


def prepare(dialect: Dialect, style: Style, statement: Statement) -> Compiled:
    """Return the statement in a driver's parameter style."""
    known = _compiled.get((dialect, style, statement.verb))
    if known is None:
        known = _compile(text(dialect, statement.verb), style, statement.parameters)
        _compiled[dialect, style, statement.verb] = known
    return known


def _compile(source: str, style: Style, parameters: Mapping[str, Any]) -> Compiled:
    names: list[str] = []

    def placeholder(found: re.Match[str]) -> str:
        name = found[1]
        if name not in names:
            names.append(name)
        kind = "bigint" if isinstance(parameters[name], int) else "text"
        match style:
            case "named":
                return f":{name}"
            case "numeric":
                return f"${names.index(name) + 1}::{kind}"
            case "pyformat":
                return f"%({name})s::{kind}"
            case "colon":
                return f"cast(:{name} as {kind})"

    if style == "pyformat":
        source = source.replace("%", "%%")
    return Compiled(_PARAMETER.sub(placeholder, _without_comments(source)), names)


def _without_comments(source: str) -> str:
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith("--"))


def migrations(dialect: Dialect) -> list[tuple[int, str, str]]:
    """Return the numbered migrations as (version, name, text), in order."""
    found = []
    for file in folder(dialect, "migrations").iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append((int(number), name.replace("_", " "), file.read_text(encoding="utf-8")))
    return sorted(found)


def newest(dialect: Dialect) -> int:
    """Return the schema version this release needs."""
    return migrations(dialect)[-1][0]
