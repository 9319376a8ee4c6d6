"""Many notifications at once, from a CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Literal

import typer

from ..domain.lifecycle import CLOSED, State
from ..domain.ownership import Scheduled
from ..domain.policy import Kind
from ..errors import InvalidInput
from ..features.drafting import New, draft
from . import loading, reading
from .loading import CHUNK, Loaded, Manner
from .options import CsvFile, DryRun, KindOption, RowsZone, Strict
from .output import Reply
from .owning import NO_APP, PANEL
from .program import command
from .session import Session
from .sheet import Cells, Form, Row

KNOWN = ("kind", "key", "recipient", "at", "zone", "group", "tenant", "expires_at", "data")
NEEDED = ("key", "recipient", "at")

IfExists = Literal["keep", "reschedule", "rearm", "raise"]
Ready = tuple[New, datetime]


@dataclass(slots=True)
class Tally:
    """`differing`: they exist with another time than the file says, and were left as they are. `open`: they exist, and
    are not closed."""

    created: int = 0
    existing: int = 0
    changed: int = 0
    differing: int = 0
    open: int = 0


@command(
    PANEL,
    "duebook import deadlines.csv --kind renewal --dry-run",
    "duebook import deadlines.csv --kind renewal --strict --if-exists reschedule",
    "duebook import sent-last-year.csv --kind renewal --already-sent",
    name="import",
)
async def import_file(
    session: Session,
    file: CsvFile,
    kind: KindOption = None,
    zone: RowsZone = None,
    strict: Strict = False,
    dry_run: DryRun = False,
    if_exists: Annotated[IfExists, typer.Option("--if-exists", help="What to do with one that exists.")] = "keep",
    already_sent: Annotated[
        bool, typer.Option("--already-sent", help="Put on record what another program has sent; send nothing.")
    ] = False,
) -> Reply:
    """Schedule every row of a CSV file; running it again changes nothing.

    Columns: kind (or --kind), key, recipient, at, zone (or an offset in at), group, tenant, expires_at, and data (a
    JSON object). Every other column goes into data. Bad rows are reported with their line; good ones are stored. With
    --already-sent each row is closed as sent, so that nobody is told again what the program before has told them.
    """
    if if_exists == "raise" and not strict:
        raise InvalidInput("if_exists", "'raise' needs --strict: it stores all or none")
    if already_sent and if_exists != "keep":
        raise InvalidInput("if_exists", "has no meaning with --already-sent: what exists stays as it is")
    if kind is not None:
        await session.kind(kind)
    manner = Manner(strict, dry_run)
    work = (_Sent if already_sent else _Import)(session, dry_run, if_exists)
    loaded = await loading.load(session, file, form(kind, zone), work, manner)
    if work.unlimited and not (dry_run or already_sent):
        session.screen.note(NO_APP)
    return loading.reply(file, loaded, manner, work.counts, work.told(loaded))


def form(kind: str | None, zone: str | None) -> Form[New]:
    """Return the form of a file of notifications; `kind` and `zone` are for rows that name none."""

    def read(cells: Cells) -> New:
        key, recipient, at = (cells.need(column) for column in NEEDED)
        named = cells.get("zone") or (zone if reading.is_naive(at) else None)
        return New(
            kind=cells.kind(kind), key=key, recipient=recipient, at=reading.moment("at", at, named), data=cells.data(),
            group=cells.get("group"), tenant=cells.get("tenant"),
            expires_at=reading.instant("expires_at", cells.get("expires_at"), named),
        )  # fmt: skip

    return Form(KNOWN, NEEDED, kind, read)


class _Import:
    """Schedules the rows. `unlimited`: some of them never expire by themselves, as far as is known here."""

    def __init__(self, session: Session, dry_run: bool, if_exists: IfExists) -> None:
        self.session = session
        self.dry_run = dry_run
        self.if_exists = if_exists
        self.tally = Tally()
        self.unlimited = False
        self._kinds: dict[str, Kind | InvalidInput] = {}
        self._seen: set[tuple[str, str]] = set()

    @property
    def written(self) -> int:
        return self.tally.created + self.tally.changed

    @property
    def counts(self) -> dict[str, int]:
        return asdict(self.tally)

    async def check(self, row: Row[New]) -> Ready:
        book, new = self.session.book, row.new
        kind = await self._kind(new)
        due_at = draft(new, kind, book.namespace, book.wired.clock.now()).promise.due_at
        self.unlimited |= not (self.session.knows_app or new.expires_at or kind.max_lateness is not None)
        return new, due_at

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

    async def store(self, ready: Sequence[Ready]) -> None:
        if self.dry_run:
            return await self._look(ready)
        answers = await self._put([new for new, _ in ready])
        for answer, (_, due_at) in zip(answers, ready, strict=True):
            self._count(answer.created, answer.changed, answer.due_at == due_at, answer.state)
        return None

    async def _put(self, news: Sequence[New]) -> Sequence[Scheduled]:
        return await self.session.verbs.schedule_many(news, if_exists=self.if_exists)

    async def _look(self, ready: Sequence[Ready]) -> None:
        """Count what storing would do, as the database is now."""
        store = self.session.book.wired.store
        for start in range(0, len(ready), CHUNK):
            part = [((new.kind, new.key), due_at) for new, due_at in ready[start : start + CHUNK]]
            known = await self.session.ask(store.read_identities(sorted({name for name, _ in part})))
            for name, due_at in part:
                found = known.get(name)
                created, same = found is None and name not in self._seen, found is None or found.due_at == due_at
                self._count(created, False, same, found.state if found else None)
                self._seen.add(name)

    def _count(self, created: bool, changed: bool, same: bool, state: State | None) -> None:
        self.tally.created += created
        self.tally.open += not created and state is not None and state not in CLOSED
        self.tally.existing += not created
        self.tally.changed += changed
        self.tally.differing += not (created or changed or same)

    def told(self, loaded: Loaded) -> list[str]:
        tally = self.tally
        verb = "Would create" if self.dry_run else "Created"
        changed = f", of which {tally.changed:,} changed" if tally.changed else ""
        lines = [f"{verb} {tally.created:,}; {tally.existing:,} existed already{changed}{loading.bad_rows(loaded)}."]
        if tally.differing:
            advice = "see --if-exists reschedule"
            lines.append(f"{tally.differing:,} exist with another time and stay as they are ({advice}).")
        return lines


class _Sent(_Import):
    """Puts the rows on record as sent elsewhere."""

    @property
    def counts(self) -> dict[str, int]:
        return {"recorded": self.tally.created, "existing": self.tally.existing, "open": self.tally.open}

    async def _put(self, news: Sequence[New]) -> Sequence[Scheduled]:
        return await self.session.verbs.record_sent(news)

    def told(self, loaded: Loaded) -> list[str]:
        verb = "Would put on record" if self.dry_run else "Put on record"
        existing = f"{self.tally.existing:,} existed already"
        lines = [f"{verb} as sent: {self.tally.created:,}; {existing}{loading.bad_rows(loaded)}."]
        if self.tally.open:
            ending = "of those that existed are open and will be sent; cancel what should not be."
            lines.append(f"{self.tally.open:,} {ending}")
        return lines
