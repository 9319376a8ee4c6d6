"""Many items of digests at once, from a CSV file."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InvalidInput
from ..features.digests import Item, new_item
from . import loading, reading
from .digests import digests, need_app
from .loading import Loaded, Manner
from .options import CsvFile, DryRun, KindOption, RowsZone, Strict
from .output import Reply
from .session import Session
from .sheet import Cells, Form, Row

KNOWN = ("kind", "recipient", "item", "ready_at", "score", "zone", "tenant", "data")
NEEDED = ("recipient", "item")


@digests(
    "duebook digests import news.csv --kind news --dry-run --app app.notify:book",
    "duebook digests import news.csv --kind news --strict",
    name="import",
)
async def import_items(
    session: Session,
    file: CsvFile,
    kind: KindOption = None,
    zone: RowsZone = None,
    strict: Strict = False,
    dry_run: DryRun = False,
) -> Reply:
    """Add an item for every row of a CSV file; running it again changes nothing.

    Columns: kind (or --kind), recipient, item, ready_at (with an offset, or in zone), score, zone (or --zone), tenant,
    and data (a JSON object). Every other column goes into data. Bad rows are reported with their line; good ones are
    stored.
    """
    need_app(session)
    if kind is not None:
        await session.kind(kind)
    manner = Manner(strict, dry_run)
    work = _Adding(session, dry_run)
    loaded = await loading.load(session, file, _form(kind, zone), work, manner)
    return loading.reply(file, loaded, manner, work.counts, work.told(loaded))


def _form(kind: str | None, zone: str | None) -> Form[Item]:
    """Return the form of a file of items; `kind` and `zone` are for rows that name none."""

    def read(cells: Cells) -> Item:
        recipient, item = (cells.need(column) for column in NEEDED)
        own = cells.get("zone") or zone
        return Item(
            kind=cells.kind(kind), recipient=recipient, item=item, zone=own, tenant=cells.get("tenant"),
            ready_at=reading.instant("ready_at", cells.get("ready_at"), own), score=_score(cells), data=cells.data(),
        )  # fmt: skip

    return Form(KNOWN, NEEDED, kind, read)


def _score(cells: Cells) -> float:
    text = cells.get("score") or "0"
    try:
        return float(text)
    except ValueError:
        raise InvalidInput("score", f"{text!r} is not a number") from None


class _Adding:
    """Adds the items of the rows, and counts those that are new; on a dry run only checks them."""

    def __init__(self, session: Session, dry_run: bool) -> None:
        self.session = session
        self.dry_run = dry_run
        self.seen = 0
        self.written = 0

    @property
    def counts(self) -> dict[str, int]:
        return {"good": self.seen} if self.dry_run else {"created": self.written, "existing": self.seen - self.written}

    async def check(self, row: Row[Item]) -> Item:
        new_item(row.new, self.session.context, self.session.book.wired.clock.now())
        return row.new

    async def store(self, ready: Sequence[Item]) -> None:
        self.seen += len(ready)
        if not self.dry_run:
            self.written += sum(one.created for one in await self.session.verbs.digests.add_many(ready))

    def told(self, loaded: Loaded) -> list[str]:
        bad = loading.bad_rows(loaded)
        if self.dry_run:
            return [f"{self.seen:,} can be added; those that are known already stay as they are{bad}."]
        return [f"Added {self.written:,}; {self.seen - self.written:,} existed already{bad}."]
