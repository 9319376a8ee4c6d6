"""Many deadlines at once, from a CSV file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ..errors import InvalidInput
from ..features.deadlines import Deadlines, NewDeadline
from . import loading, reading
from .deadlines import deadlines, need_app
from .loading import Loaded, Manner
from .options import CsvFile, DryRun, KindOption, RowsZone, Strict
from .output import Reply
from .session import Session
from .sheet import Cells, Form, Row
from .wording import count

KNOWN = ("kind", "key", "recipient", "on", "zone", "tenant", "data")
NEEDED = ("key", "recipient", "on")
RESULTS = ("created", "moved", "changed", "unchanged")
FORESEEN = ("created", "existing")


@deadlines(
    "duebook deadlines import contracts.csv --kind contract --zone Europe/Berlin --dry-run --app app.notify:book",
    "duebook deadlines import contracts.csv --kind contract --strict",
    name="import",
)
async def import_deadlines(
    session: Session,
    file: CsvFile,
    kind: KindOption = None,
    zone: RowsZone = None,
    strict: Strict = False,
    dry_run: DryRun = False,
) -> Reply:
    """Set a deadline for every row of a CSV file; running it again changes nothing.

    Columns: kind (or --kind), key, recipient, on (a date or a wall time), zone (or --zone), tenant, and data (a JSON
    object). Every other column goes into data, "data.plan" as "plan". Bad rows are reported with their line; good ones
    are stored.
    """
    need_app(session)
    if kind is not None:
        await session.kind(kind)
    manner = Manner(strict, dry_run)
    work = _Setting(session, dry_run)
    loaded = await loading.load(session, file, _form(kind, zone), work, manner)
    return loading.reply(file, loaded, manner, work.counts, work.told(loaded))


def _form(kind: str | None, zone: str | None) -> Form[NewDeadline]:
    """Return the form of a file of deadlines; `kind` and `zone` are for rows that name none."""

    def read(cells: Cells) -> NewDeadline:
        key, recipient, on = (cells.need(column) for column in NEEDED)
        return NewDeadline(
            kind=cells.kind(kind), key=key, recipient=recipient, on=reading.day("on", on),
            zone=cells.get("zone") or zone, tenant=cells.get("tenant"), data=cells.data(),
        )  # fmt: skip

    return Form(KNOWN, NEEDED, kind, read)


class _Setting:
    """Sets the deadlines of the rows, and counts what became of them; on a dry run, which there are already."""

    def __init__(self, session: Session, dry_run: bool) -> None:
        self.session = session
        self.dry_run = dry_run
        self.room = Deadlines(session.context)
        self.counted: Counter[str] = Counter()
        self._lines: dict[tuple[str, str], int] = {}

    @property
    def written(self) -> int:
        return self.counted.total() - self.counted["unchanged"]

    @property
    def counts(self) -> dict[str, int]:
        return {name: self.counted[name] for name in (FORESEEN if self.dry_run else RESULTS)}

    async def check(self, row: Row[NewDeadline]) -> NewDeadline:
        new = row.new
        # The verb checks everything when it is called, and does nothing until it is carried out.
        self.room.set(
            new.kind, new.key, recipient=new.recipient, on=new.on, zone=new.zone, tenant=new.tenant, data=new.data
        )
        before = self._lines.setdefault((new.kind, new.key), row.line)
        if before != row.line:
            raise InvalidInput("key", f"{new.key!r} stands in line {before} too; keep one of them")
        return new

    async def store(self, ready: Sequence[NewDeadline]) -> None:
        if self.dry_run:
            store = self.session.book.wired.store
            known = await self.session.ask(store.read_deadlines([(new.kind, new.key) for new in ready]))
            self.counted.update(created=len(ready) - len(known), existing=len(known))
        else:
            answers = await self.session.verbs.deadlines.set_many(ready)
            self.counted.update(answer.result for answer in answers)

    def told(self, loaded: Loaded) -> list[str]:
        counted, bad = self.counted, loading.bad_rows(loaded)
        if self.dry_run:
            existing = count(counted["existing"], "exists and would be", "exist and would be")
            return [f"Would create {counted['created']:,}; {existing} what the file says{bad}."]
        found = ", ".join(f"{counted[name]:,} {name}" for name in RESULTS)
        return [f"Deadlines: {found}{bad}."]
