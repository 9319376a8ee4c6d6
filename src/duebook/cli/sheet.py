"""A CSV file: its header checked once, each row turned into what it asks for or into what is wrong with it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, BinaryIO, Generic, TypeVar

from ..errors import InvalidInput
from . import reading

T = TypeVar("T")

DATA = "data."
_DELIMITERS = ",;\t"
_NOT_UTF8 = re.compile(r"[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Row(Generic[T]):
    line: int
    new: T


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that cannot be stored: its line, the column, and what to do about it."""

    line: int
    field: str
    problem: str


@dataclass(frozen=True, slots=True)
class Cells:
    """One row, by the names of its columns. `known`: those that do not go into data."""

    named: Mapping[str, str]
    known: Sequence[str]

    def get(self, column: str) -> str | None:
        """Return what a cell says, or None if it is empty or not there."""
        return self.named.get(column, "").strip() or None

    def need(self, column: str) -> str:
        text = self.get(column)
        if text is None:
            raise InvalidInput(column, "is empty")
        return text

    def kind(self, common: str | None) -> str:
        """Return the row's kind, or the one that is common to all rows."""
        kind = self.get("kind") or common
        if kind is None:
            raise InvalidInput("kind", "is empty, and no --kind was given")
        return kind

    def data(self) -> Mapping[str, Any]:
        """Return the JSON object of the column `data`, with every column that means nothing else."""
        data = dict(reading.mapping("data", self.named.get("data")))
        for column, value in self.named.items():
            if column not in self.known:
                name = column.removeprefix(DATA)
                if name in data:
                    raise InvalidInput("data", f"holds {name!r}, and so does the column of that name; drop one of them")
                data[name] = value.strip()
        return data


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """What a file must look like: the columns that mean something, those it must have, and what a row becomes.

    `kind`: for rows that name none. `read` raises InvalidInput naming a column.
    """

    known: Sequence[str]
    needed: Sequence[str]
    kind: str | None
    read: Callable[[Cells], T]


class Sheet(Generic[T]):
    """Iterating gives a Row or a Bad for each row."""

    def __init__(self, file: BinaryIO, form: Form[T]) -> None:
        self._file = file
        self._form = form
        # A byte that is no UTF-8 spoils its own row, not the file: it is carried along and found in its cell.
        self._text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline="")
        first = self._text.readline()
        self._delimiter = max(_DELIMITERS, key=first.count)
        self.columns = _header(next(csv.reader([first], delimiter=self._delimiter), []), form.known, form.needed)
        if form.kind is None and "kind" not in self.columns:
            raise InvalidInput("kind", "the file has no column 'kind'; add one, or give --kind")

    @property
    def position(self) -> int:
        """How many bytes have been read, a buffer ahead of the rows."""
        return self._file.tell() if self._file.seekable() else 0

    def __iter__(self) -> Iterator[Row[T] | Bad]:
        reader = csv.reader(self._text, delimiter=self._delimiter, strict=True)
        line = 2
        try:
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield self._row(line, cells)
                line = reader.line_num + 2
        except csv.Error as error:
            yield Bad(line, "row", f"{error}; is a quote left open? Nothing after it was read")

    def _row(self, line: int, cells: Sequence[str]) -> Row[T] | Bad:
        if len(cells) != len(self.columns):
            problem = f"has {len(cells)} cells, the header has {len(self.columns)}; quote cells that hold commas"
            return Bad(line, "row", problem)
        named = dict(zip(self.columns, cells, strict=True))
        for column, cell in named.items():
            if _NOT_UTF8.search(cell):
                return Bad(line, column, "is not UTF-8; save the file as UTF-8")
        try:
            return Row(line, self._form.read(Cells(named, self._form.known)))
        except InvalidInput as error:
            return Bad(line, error.field, error.problem)


def _header(cells: Sequence[str], known: Sequence[str], needed: Sequence[str]) -> list[str]:
    columns = [name.strip() for name in cells]
    columns = [name.lower() if name.lower() in known else name for name in columns]
    if not any(columns):
        raise InvalidInput("file", f"is empty; its first line must name the columns, such as {','.join(needed)},zone")
    for number, name in enumerate(columns, 1):
        if not name:
            raise InvalidInput("file", f"column {number} has no name in the first line")
        if columns.count(name) > 1:
            raise InvalidInput("file", f"the first line names the column {name!r} twice")
        if _NOT_UTF8.search(name):
            raise InvalidInput("file", "is not UTF-8; save it as UTF-8")
    for name in needed:
        if name not in columns:
            near = get_close_matches(name, columns, n=1, cutoff=0.6)
            hint = f" Is it {near[0]!r}?" if near else ""
            raise InvalidInput(name, f"the file has no column {name!r}.{hint} It has: {', '.join(columns)}")
    return columns
