"""A CSV file of notifications: its header checked once, each row turned into one to schedule or into what is wrong."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, BinaryIO

from ..errors import InvalidInput
from ..features.drafting import New
from . import reading

KNOWN = ("kind", "key", "recipient", "at", "zone", "group", "tenant", "expires_at", "data")
_NEEDED = ("key", "recipient", "at")
_DELIMITERS = ",;\t"
_NOT_UTF8 = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row:
    line: int
    new: New


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that cannot be scheduled: its line, the column, and what to do about it."""

    line: int
    field: str
    problem: str


class Sheet:
    """Iterating gives a Row or a Bad for each row. `kind` and `zone` are for rows that name none."""

    def __init__(self, file: BinaryIO, kind: str | None, zone: str | None) -> None:
        self._file = file
        self._kind = kind
        self._zone = zone
        # A byte that is no UTF-8 spoils its own row, not the file: it is carried along and found in its cell.
        self._text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
        first = self._text.readline()
        self._delimiter = max(_DELIMITERS, key=first.count)
        self.columns = _header(next(csv.reader([first], delimiter=self._delimiter), []))
        if kind is None and "kind" not in self.columns:
            raise InvalidInput("kind", "the file has no column 'kind'; add one, or give --kind")

    @property
    def position(self) -> int:
        """How many bytes have been read, a buffer ahead of the rows."""
        return self._file.tell() if self._file.seekable() else 0

    def __iter__(self) -> Iterator[Row | Bad]:
        reader = csv.reader(self._text, delimiter=self._delimiter, strict=True)
        line = 2
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield self._row(line, cells)
                line = reader.line_num + 2
        except csv.Error as error:
            yield Bad(line, "row", f"{error}; is a quote left open? Nothing after it was read")

    def _row(self, line: int, cells: Sequence[str]) -> Row | Bad:
        if len(cells) != len(self.columns):
            problem = f"has {len(cells)} cells, the header has {len(self.columns)}; quote cells that hold commas"
            return Bad(line, "row", problem)
        named = dict(zip(self.columns, cells, strict=True))
        for column, cell in named.items():
            if _NOT_UTF8.search(cell):
                return Bad(line, column, "is not UTF-8; save the file as UTF-8")
        try:
            return Row(line, self._new(named))
        except InvalidInput as error:
            return Bad(line, error.field, error.problem)

    def _new(self, cells: Mapping[str, str]) -> New:
        def cell(name: str) -> str | None:
            return cells.get(name, "").strip() or None

        for name in _NEEDED:
            if cell(name) is None:
                raise InvalidInput(name, "is empty")
        kind = cell("kind") or self._kind
        if kind is None:
            raise InvalidInput("kind", "is empty, and no --kind was given")
        at = cell("at") or ""
        zone = cell("zone") or (self._zone if reading.is_naive(at) else None)
        return New(
            kind=kind, key=cell("key") or "", recipient=cell("recipient") or "", at=reading.moment("at", at, zone),
            data=_data(cells), group=cell("group"), tenant=cell("tenant"),
            expires_at=reading.instant("expires_at", cell("expires_at"), zone),
        )  # fmt: skip


def _header(cells: Sequence[str]) -> list[str]:
    columns = [name.strip() for name in cells]
    columns = [name.lower() if name.lower() in KNOWN else name for name in columns]
    if not any(columns):
        raise InvalidInput("file", "is empty; its first line must name the columns, such as key,recipient,at,zone")
    for number, name in enumerate(columns, 1):
        if not name:
            raise InvalidInput("file", f"column {number} has no name in the first line")
        if columns.count(name) > 1:
            raise InvalidInput("file", f"the first line names the column {name!r} twice")
        if _NOT_UTF8.search(name):
            raise InvalidInput("file", "is not UTF-8; save it as UTF-8")
    for name in _NEEDED:
        if name not in columns:
            near = get_close_matches(name, columns, n=1, cutoff=0.6)
            hint = f" Is it {near[0]!r}?" if near else ""
            raise InvalidInput(name, f"the file has no column {name!r}.{hint} It has: {', '.join(columns)}")
    return columns


def _data(cells: Mapping[str, str]) -> Mapping[str, Any]:
    data = dict(reading.mapping("data", cells.get("data")))
    for column, value in cells.items():
        if column not in KNOWN:
            if column in data:
                raise InvalidInput("data", f"holds {column!r}, and so does the column of that name; drop one of them")
            data[column] = value.strip()
    return data
