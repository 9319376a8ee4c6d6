"""How a command answers: one JSON document for machines; text and tables for people, plain where nobody watches."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from typing import Any

from .exits import Exit

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_GUTTER = "  "


@dataclass(frozen=True, slots=True)
class Table:
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a command has to say: `document` with --json, `body` otherwise."""

    document: Any
    body: Sequence[str | Table] = field(default_factory=list)
    code: Exit = Exit.DONE


ANSWERED = Reply(None)
"""The reply of a command that has answered already."""


def plain(value: Any) -> Any:
    """Return a value as JSON has it: instants as ISO 8601 in UTC, lengths of time in seconds, records as objects."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    match value:
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return value.total_seconds()
        case IntEnum():
            return value.name.lower()
        case Enum():
            return value.value
        case dict():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    return value


def printable(text: str) -> str:
    """Return text that cannot steer a terminal: it holds other people's words."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text).encode("utf-8", "replace").decode()


class Screen:
    """Standard output and standard error of one command."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json

    def answer(self, reply: Reply) -> None:
        if reply is ANSWERED:
            return
        if self.as_json:
            self._write(sys.stdout, json.dumps(plain(reply.document), ensure_ascii=False, indent=2))
        else:
            for part in reply.body:
                self._table(part) if isinstance(part, Table) else self._write(sys.stdout, part)

    async def stream(self, name: str, pages: AsyncIterator[tuple[Sequence[Any], Table]]) -> int:
        """Answer with a list that is too long to hold: page by page, as documents or as rows. Says how many they were.

        With --json it is one document that holds the list under its name.
        """
        number = 0
        if self.as_json:
            sys.stdout.write(f"{{{json.dumps(name)}: [")
        async for documents, table in pages:
            if self.as_json:
                for document in documents:
                    sys.stdout.write(",\n" if number else "\n")
                    sys.stdout.write(printable(json.dumps(plain(document), ensure_ascii=False)))
                    number += 1
            else:
                self._table(table)
                number += len(documents)
        if self.as_json:
            self._write(sys.stdout, "\n]}")
        return number

    def fail(self, document: Any, text: str) -> None:
        self._write(sys.stderr, json.dumps(document, ensure_ascii=False) if self.as_json else f"Error: {text}")

    def note(self, text: str) -> None:
        """Say something beside the answer. A machine that asked for JSON is not bothered with it."""
        if not self.as_json:
            self._write(sys.stderr, text)

    @contextmanager
    def progress(self, what: str, total: float | None) -> Iterator[Callable[[float], None]]:
        """Show how far a long work is, on a terminal only; yields what to call with the amount done since last time."""
        if self.as_json or not sys.stderr.isatty():
            yield lambda amount: None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda amount: bar.advance(task, amount)

    def _table(self, table: Table) -> None:
        if not sys.stdout.isatty():
            for line in aligned(table):
                self._write(sys.stdout, line)
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        last = len(table.headers) - 1
        for position, header in enumerate(table.headers):
            shown.add_column(header, overflow="fold", no_wrap=0 < position < last)
        for row in table.rows:
            shown.add_row(*(Text(printable(cell)) for cell in row))
        Console().print(shown)

    def _write(self, stream: Any, text: str) -> None:
        stream.write(printable(text) + "\n")
        stream.flush()


def aligned(table: Table) -> list[str]:
    """Return a table as lines of text: columns in line, no frame, no colour, nothing cut off."""
    rows = [list(table.headers), *([" ".join(cell.split()) for cell in row] for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.headers))]
    return [_GUTTER.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
