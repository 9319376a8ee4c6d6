"""Many at once, from a CSV file."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

import typer

from ..domain.policy import Kind
from ..errors import Busy, InvalidInput, StoreUnavailable
from ..features.drafting import New, draft
from .exits import Exit
from .options import KindOption
from .output import Reply
from .owning import NO_APP, PANEL
from .program import command
from .session import Session
from .sheet import Bad, Row, Sheet
from .wording import count

CHUNK = 1_000
SHOWN = 50

IfExists = Literal["keep", "reschedule", "rearm", "raise"]
Ready = tuple[Row, datetime]


@dataclass(slots=True)
class Tally:
    """`differing`: they exist with another time than the file says, and were left as they are."""

    rows: int = 0
    created: int = 0
    existing: int = 0
    changed: int = 0
    differing: int = 0
    bad: list[Bad] = field(default_factory=list)


@command(
    PANEL,
    "duebook import deadlines.csv --kind renewal --dry-run",
    "duebook import deadlines.csv --kind renewal --strict --if-exists reschedule",
    name="import",
)
async def import_file(
    session: Session,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A CSV file in UTF-8, or - for standard input.")],
    kind: KindOption = None,
    zone: Annotated[str | None, typer.Option("--zone", help="The zone of rows that name none.")] = None,
    strict: Annotated[bool, typer.Option("--strict", help="All or none, in one transaction.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check every row; store nothing.")] = False,
    if_exists: Annotated[IfExists, typer.Option("--if-exists", help="What to do with one that exists.")] = "keep",
) -> Reply:
    """Schedule every row of a CSV file; running it again changes nothing.

    Columns: kind (or --kind), key, recipient, at, zone (or an offset in at), group, tenant, expires_at, and data (a
    JSON object). Every other column goes into data. Bad rows are reported with their line; good ones are stored.
    """
    if if_exists == "raise" and not strict:
        raise InvalidInput("if_exists", "'raise' needs --strict: it stores all or none")
    with _opened(file) as (source, size):
        sheet = Sheet(source, kind, zone)
        work = _Import(session, Tally(), if_exists, strict, dry_run)
        if kind is not None:
            await session.kind(kind)
        with session.screen.progress("checking" if dry_run else "importing", size) as advance:
            try:
                await work.run(sheet, advance)
            except asyncio.CancelledError:
                session.screen.note(f"Stopped: {work.so_far}.")
                raise
    if work.unlimited and not dry_run:
        session.screen.note(NO_APP)
    return _reply(file, work)


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


class _Import:
    """Checks rows one by one and stores them in chunks; with `strict`, at the end and together."""

    def __init__(self, session: Session, tally: Tally, if_exists: IfExists, strict: bool, dry_run: bool) -> None:
        self.session = session
        self.tally = tally
        self.if_exists = if_exists
        self.strict = strict
        self.dry_run = dry_run
        self.stored = False
        self.unlimited = False
        self._kinds: dict[str, Kind | InvalidInput] = {}
        self._seen: set[tuple[str, str]] = set()

    @property
    def so_far(self) -> str:
        return f"{count(self.tally.created, 'row was', 'rows were')} stored; import it again, that repeats nothing"

    async def run(self, sheet: Sheet, advance: Callable[[float], None]) -> None:
        waiting: list[Ready] = []
        done = 0
        for item in sheet:
            self.tally.rows += 1
            checked = await self._checked(item)
            if isinstance(checked, Bad):
                self.tally.bad.append(checked)
            else:
                waiting.append(checked)
            if len(waiting) >= CHUNK and not self.strict:
                await self._store(waiting)
                waiting = []
            if self.tally.rows % CHUNK == 0:
                advance(sheet.position - done)
                done = sheet.position
        if waiting and not (self.strict and self.tally.bad):
            await self._store(waiting)

    async def _checked(self, item: Row | Bad) -> Ready | Bad:
        if isinstance(item, Bad):
            return item
        book = self.session.book
        try:
            kind = await self._kind(item.new)
            due_at = draft(item.new, kind, book.namespace, book.wired.clock.now()).promise.due_at
        except InvalidInput as error:
            return Bad(item.line, error.field, error.problem)
        self.unlimited = self.unlimited or not (
            self.session.knows_app or item.new.expires_at or kind.max_lateness is not None
        )
        return item, due_at

    async def _kind(self, new: New) -> Kind:
        if new.kind not in self._kinds:
            try:
                self._kinds[new.kind] = await self.session.kind(new.kind)
            except InvalidInput as error:
                self._kinds[new.kind] = error
        found = self._kinds[new.kind]
        if isinstance(found, InvalidInput):
            raise found
        return found

    async def _store(self, waiting: list[Ready]) -> None:
        if self.dry_run:
            return await self._look(waiting)
        try:
            answers = await self.session.verbs.schedule_many([row.new for row, _ in waiting], if_exists=self.if_exists)
        except (Busy, StoreUnavailable) as error:
            raise type(error)(f"{error} ({self.so_far})") from error
        self.stored = True
        for answer, (_, due_at) in zip(answers, waiting, strict=True):
            self._count(answer.created, answer.changed, answer.due_at == due_at)
        return None

    async def _look(self, waiting: list[Ready]) -> None:
        """Count what storing would do, as the database is now."""
        names = [(row.new.kind, row.new.key) for row, _ in waiting]
        for start in range(0, len(names), CHUNK):
            part = waiting[start : start + CHUNK]
            store = self.session.book.wired.store
            known = await self.session.ask(store.read_identities(sorted(set(names[start : start + CHUNK]))))
            for name, (_, due_at) in zip(names[start : start + CHUNK], part, strict=True):
                found = known.get(name)
                self._count(found is None and name not in self._seen, False, found is None or found.due_at == due_at)
                self._seen.add(name)

    def _count(self, created: bool, changed: bool, same: bool) -> None:
        self.tally.created += created
        self.tally.existing += not created
        self.tally.changed += changed
        self.tally.differing += not (created or changed or same)


def _reply(file: str, work: _Import) -> Reply:
    tally = work.tally
    document: dict[str, Any] = {"file": file, "dry_run": work.dry_run, "stored": work.stored, **asdict(tally)}
    refused = work.strict and bool(tally.bad)
    lines = [f"{file}, line {bad.line}: {bad.field}: {bad.problem}" for bad in tally.bad[:SHOWN]]
    if len(tally.bad) > SHOWN:
        lines.append(f"… and {len(tally.bad) - SHOWN:,} more bad rows; --json lists all of them.")
    if refused:
        lines.append(f"Nothing was stored: {count(len(tally.bad), 'row')} of {tally.rows:,} cannot be (--strict).")
    else:
        verb = "Would create" if work.dry_run else "Created"
        bad = f", {count(len(tally.bad), 'bad row')}" if tally.bad else ""
        changed = f", of which {tally.changed:,} changed" if tally.changed else ""
        lines.append(f"{verb} {tally.created:,}; {tally.existing:,} existed already{changed}{bad}.")
    if tally.differing:
        lines.append(f"{tally.differing:,} exist with another time and stay as they are (see --if-exists reschedule).")
    if not tally.bad:
        return Reply(document, lines)
    return Reply(document, lines, Exit.USAGE if refused else Exit.REFUSED)
