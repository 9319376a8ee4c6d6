"""Plans: what a verb of the store asks of a database, one statement after the other, without any I/O."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

R = TypeVar("R")


class Statement(NamedTuple):
    """A verb of the SQL folder and its parameters. Instants are text, many rows are one JSON text."""

    verb: str
    parameters: Mapping[str, str | int | None]


Rows = Sequence[Sequence[Any]]
Plan = Generator[Statement, Rows, R]
