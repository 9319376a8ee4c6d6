"""Digests: what they told, what waits for the next one, and what an item became."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

import typer

from ..domain.digests import DigestRecord, ItemRecord, Selection
from ..domain.lifecycle import State
from . import paging, reading, subject
from .exits import Exit
from .options import Data, KindName, KindOption, Recipient, Tenant
from .output import Reply, Table, plain
from .program import group
from .session import FARTHEST, Session
from .wording import first_line, instant

END = datetime(9999, 1, 1, tzinfo=UTC)

digests = group("digests", "Owners", "Tell many things at once: what digests held, and what waits for the next one.")

Reader = Annotated[str, typer.Argument(metavar="RECIPIENT", help="Whose digest, by your own name for them.")]
ItemName = Annotated[str, typer.Argument(metavar="ITEM", help="The item, by your own name for it.")]


def need_app(session: Session) -> None:
    session.need_app("when a kind's periods end")


@digests("duebook digests find --recipient ann", "duebook digests find --kind news --json")
async def find(session: Session, kind: KindOption = None, recipient: Recipient = None) -> Reply:
    """List the digests on record, the newest first."""

    async def read(before: int) -> Sequence[DigestRecord]:
        return await session.verbs.digests.search(kind=kind, recipient=recipient, before=before, limit=paging.PAGE)

    found = paging.pages(read, FARTHEST, lambda one: one.notification_id)
    return await paging.told(session.screen, "digests", found, plain, table)


def table(page: Sequence[DigestRecord]) -> Table:
    rows = [
        [
            one.kind, one.recipient, one.label, instant(one.cutoff_at), f"{one.selected:,} of {one.total:,}",
            f"{one.late:,}", _became(one), one.outcome or "",
        ]
        for one in page
    ]  # fmt: skip
    return Table(["kind", "recipient", "label", "cutoff", "items", "late", "it is", "its items"], rows)


def _became(one: DigestRecord) -> str:
    return one.state.value if one.state else "no longer on record"


@digests("duebook digests show news ann 2027-01-14")
async def show(
    session: Session,
    kind: KindName,
    recipient: Reader,
    label: Annotated[str, typer.Argument(metavar="LABEL", help="Its period, as `duebook digests find` lists it.")],
) -> Reply:
    """Show what a digest held, in its order, and what became of it."""
    one = await session.verbs.digests.find(kind, recipient, label)
    if one is None:
        document = {"kind": kind, "recipient": recipient, "label": label, "result": "not_found"}
        return Reply(document, [f"There is no digest {label} of {kind} for {recipient}."], Exit.REFUSED)
    held = await session.verbs.digests.selection(one.notification_id)
    items = held.items if held else ()
    document = {"digest": plain(one), "items": plain(list(items))}
    return Reply(document, [*_described(one), *_held(one, held)])


def _described(one: DigestRecord) -> list[str]:
    lines = [f"{one.kind} for {one.recipient}: {_became(one)}", *subject.digest(one)]
    unsent = one.state not in (None, State.ACCEPTED)
    return [*lines, f"Reason: {first_line(one.reason)}"] if unsent and one.reason else lines


def _held(one: DigestRecord, held: Selection | None) -> list[str | Table]:
    if held is None or not held.items:
        return [] if one.outcome == "released" else ["Its items are no longer on record."]
    rows = [
        [str(place), item.item, instant(item.ready_at), f"{item.score:g}", "read since" if item.read else ""]
        for place, item in enumerate(held.items, 1)
    ]
    return ["", Table(["", "item", "ready", "score", ""], rows)]


@digests("duebook digests waiting news ann --app app.notify:book")
async def waiting(
    session: Session,
    kind: KindName,
    recipient: Reader,
    limit: Annotated[int, typer.Option("--limit", min=1, max=9_999, help="At most this many.")] = 50,
) -> Reply:
    """List what waits for the next digest of somebody, in the order it would be taken."""
    need_app(session)
    room = session.verbs.digests
    found = await room.waiting(kind, recipient, limit=limit + 1)
    due = await room.due(END, kind=kind, recipient=recipient, limit=1)
    shown, more = found[:limit], len(found) > limit
    closes_at = due[0].next_close_at if due else None
    document = {"closes_at": closes_at, "items": plain(shown), "more": more}
    if not shown:
        return Reply(document, ["Nothing waits."])
    rows = [[one.item, instant(one.ready_at), f"{one.score:g}"] for one in shown]
    lines: list[str | Table] = [Table(["item", "ready", "score"], rows)]
    if more:
        lines.append(f"There are more; these are the first {limit} (--limit).")
    return Reply(document, [*lines, *_closing(closes_at, session.book.wired.clock.now())])


def _closing(closes_at: datetime | None, now: datetime) -> list[str]:
    if closes_at is None:
        return []
    if closes_at > now:
        return [f"The period ends {instant(closes_at)}."]
    return [f"The period ended {instant(closes_at)}, and no worker has closed it yet."]


@digests("duebook digests item news ann post-7")
async def item(session: Session, kind: KindName, recipient: Reader, name: ItemName) -> Reply:
    """Tell which digest holds an item, or why none does."""
    one = await session.verbs.digests.item(kind, recipient, name)
    if one is None:
        document = {"kind": kind, "recipient": recipient, "item": name, "result": "not_found"}
        return Reply(document, [f"Nothing is on record about {name} of {kind} for {recipient}."], Exit.REFUSED)
    lines = [f"Item {name} of {kind} for {recipient}: ready {instant(one.ready_at)}, score {one.score:g}."]
    return Reply(plain(one), [*lines, _fate(one)])


def _fate(one: ItemRecord) -> str:
    if one.label is not None:
        lost = ", which was never delivered" if one.outcome == "undelivered" else ""
        return f"It is in digest {one.label}{lost}: duebook digests show {one.kind} {one.recipient} {one.label}"
    return _FATES[one.outcome]


_FATES = {
    None: "It waits for the next digest.",
    "dropped": "It is in none: there was no room, and its kind drops what does not fit.",
    "expired": "It is in none: it had waited too long, or its period was given up after an outage.",
    "read": "It is in none: it had been read when its turn came.",
}


@digests(
    "duebook digests add news ann post-7 --score 3 --app app.notify:book",
    'duebook digests add news ann post-8 --zone America/New_York --data \'{"title": "New rates"}\'',
)
async def add(
    session: Session,
    kind: KindName,
    recipient: Reader,
    name: ItemName,
    ready_at: Annotated[
        str | None,
        typer.Option("--ready-at", help="Since when it may be told: an ISO time with offset; now, if unsaid."),
    ] = None,
    score: Annotated[float, typer.Option("--score", help="The higher, the sooner in.")] = 0.0,
    zone: Annotated[str | None, typer.Option("--zone", help="The recipient's, where the kind goes by it.")] = None,
    data: Data = None,
    tenant: Tenant = None,
) -> Reply:
    """Add something to the next digest of somebody; the same item again changes nothing, also after it was told."""
    need_app(session)
    answer = await session.verbs.digests.add(
        kind, recipient, name, ready_at=reading.instant("ready_at", ready_at, zone), score=score,
        data=reading.mapping("data", data), zone=zone, tenant=tenant,
    )  # fmt: skip
    if answer.existing:
        return Reply(plain(answer), [f"{name} is known already; nothing was changed."])
    return Reply(plain(answer), [f"{name} is added; the period ends {instant(answer.close_at)}."])
