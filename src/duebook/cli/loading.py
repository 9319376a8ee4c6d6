"""Reading a CSV file into the database: checked row by row, stored batch by batch, bad rows told with their line."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeVar

from ..errors import Busy, InvalidInput, StoreUnavailable
from .exits import Exit
from .output import Reply
from .session import Session
from .sheet import Bad, Form, Row, Sheet
from .wording import count

CHUNK = 1_000
SHOWN = 50

T = TypeVar("T")
R = TypeVar("R")


class Target(Protocol[T, R]):
    """What the rows of a file become."""

    @property
    def written(self) -> int:
        """How many rows have made or changed something."""
        ...

    async def check(self, row: Row[T]) -> R:
        """Return a row made ready to be stored, or raise InvalidInput naming the column."""
        ...

    async def store(self, ready: Sequence[R]) -> None:
        """Store a batch, all or none; on a dry run, count what storing would do."""
        ...


@dataclass(slots=True)
class Loaded:
    """What was read of a file. `stored`: something was handed to the database."""

    rows: int = 0
    stored: bool = False
    bad: list[Bad] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a file is read. `strict`: all or none, at the end and together. `dry_run`: nothing is stored."""

    strict: bool
    dry_run: bool


async def load(session: Session, file: str, form: Form[T], target: Target[T, R], manner: Manner) -> Loaded:
    """Read a whole file into a target. A database that goes away says how far it came; so does a person who stops."""
    with _opened(file) as (source, size):
        sheet = Sheet(source, form)
        with session.screen.progress("checking" if manner.dry_run else "importing", size) as advance:
            try:
                return await _run(sheet, target, manner, advance)
            except asyncio.CancelledError:
                session.screen.note(f"Stopped: {_so_far(target)}.")
                raise
            except (Busy, StoreUnavailable) as error:
                raise type(error)(f"{error} ({_so_far(target)})") from error


def _so_far(target: Target[Any, Any]) -> str:
    return f"{count(target.written, 'row was', 'rows were')} stored; import it again, that repeats nothing"


async def _run(sheet: Sheet[T], target: Target[T, R], manner: Manner, advance: Callable[[float], None]) -> Loaded:
    loaded = Loaded()
    waiting: list[R] = []
    done = 0
    for item in sheet:
        loaded.rows += 1
        checked = await _checked(item, target)
        if isinstance(checked, Bad):
            loaded.bad.append(checked)
        else:
            waiting.append(checked)
        if len(waiting) >= CHUNK and not manner.strict:
            await target.store(waiting)
            loaded.stored, waiting = not manner.dry_run, []
        if loaded.rows % CHUNK == 0:
            advance(sheet.position - done)
            done = sheet.position
    if waiting and not (manner.strict and loaded.bad):
        await target.store(waiting)
        loaded.stored = not manner.dry_run
    return loaded


async def _checked(item: Row[T] | Bad, target: Target[T, R]) -> R | Bad:
    if isinstance(item, Bad):
        return item
    try:
        return await target.check(item)
    except InvalidInput as error:
        return Bad(item.line, error.field, error.problem)


@contextmanager
def _opened(file: str) -> Iterator[tuple[BinaryIO, int | None]]:
    if file == "-":
        yield sys.stdin.buffer, None
        return
    try:
        source = Path(file).open("rb")  # noqa: SIM115  closed below
    except OSError as error:
        raise InvalidInput("file", f"cannot open {file}: {error.strerror}") from None
    with source:
        yield source, os.fstat(source.fileno()).st_size


def reply(file: str, loaded: Loaded, manner: Manner, counts: dict[str, int], told: Sequence[str]) -> Reply:
    """Tell what became of a file: `told` where something was stored or would be, and every bad row."""
    bad = loaded.bad
    document = {
        "file": file, "dry_run": manner.dry_run, "stored": loaded.stored, "rows": loaded.rows, **counts,
        "bad": [{"line": one.line, "field": one.field, "problem": one.problem} for one in bad],
    }  # fmt: skip
    lines = [f"{file}, line {one.line}: {one.field}: {one.problem}" for one in bad[:SHOWN]]
    if len(bad) > SHOWN:
        lines.append(f"… and {len(bad) - SHOWN:,} more bad rows; --json lists all of them.")
    if manner.strict and bad:
        lines.append(f"Nothing was stored: {count(len(bad), 'row')} of {loaded.rows:,} cannot be (--strict).")
        return Reply(document, lines, Exit.USAGE)
    return Reply(document, [*lines, *told], Exit.REFUSED if bad else Exit.DONE)


def bad_rows(loaded: Loaded) -> str:
    """Return how many rows were bad, as the end of a sentence."""
    return f", {count(len(loaded.bad), 'bad row')}" if loaded.bad else ""
