"""Closing the periods of digests by hand, or looking at what would be closed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import typer

from ..domain.digests import DigestRecord, Preview
from ..errors import InvalidInput
from ..features.digests import policy_of
from . import paging, reading
from .digests import digests, need_app, table
from .options import KindOption
from .output import Reply, Table, plain
from .session import FARTHEST, Session
from .wording import count, instant


@digests(
    "duebook digests prepare --dry-run --until 24h --app app.notify:book",
    "duebook digests prepare --kind news",
)
async def prepare(
    session: Session,
    kind: KindOption = None,
    until: Annotated[
        str | None,
        typer.Option("--until", help="With --dry-run: an ISO time with its offset, or a length such as 24h."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be closed; close nothing.")] = False,
    limit: Annotated[int, typer.Option("--limit", min=1, max=9_999, help="Show at most this many.")] = 50,
) -> Reply:
    """Close the periods that have ended, as a worker does by itself: their digests are frozen, and sent by a worker.

    With --dry-run tell what would be closed, now or until a later time, and how much is in it.
    """
    need_app(session)
    if kind is not None:
        policy_of(session.context, kind)
    now = session.book.wired.clock.now()
    if dry_run:
        return await _foreseen(session, kind, now if until is None else reading.horizon("until", until, now), limit)
    if until is not None:
        raise InvalidInput("until", "belongs to --dry-run: a period is closed when it has ended")
    return await _closed(session, kind, limit)


async def _foreseen(session: Session, kind: str | None, until: datetime, limit: int) -> Reply:
    found = await session.verbs.digests.preview(until, kind=kind, limit=limit + 1)
    shown, more = found[:limit], len(found) > limit
    document = {"dry_run": True, "until": until, "digests": plain(shown), "more": more}
    if not shown:
        return Reply(document, [f"Nothing is to be closed until {instant(until)}."])
    return Reply(document, [_previews(shown), *_more(more, limit)])


def _previews(shown: Sequence[Preview]) -> Table:
    rows = [
        [one.kind, one.recipient, one.label, instant(one.cutoff_at), f"{one.selected:,} of {one.total:,}", _run(one)]
        for one in shown
    ]
    return Table(["kind", "recipient", "label", "cutoff", "items", ""], rows)


def _run(one: Preview) -> str:
    return f"for {count(one.periods, 'period')} from {one.first_label} on" if one.periods > 1 else ""


async def _closed(session: Session, kind: str | None, limit: int) -> Reply:
    newest = await session.verbs.digests.search(limit=1)
    await session.book.wired.close_digests(kind)
    found = await _later(session, kind, newest[0].notification_id if newest else 0)
    shown, more = found[:limit], len(found) > limit
    document = {"dry_run": False, "closed": len(found), "digests": plain(shown), "more": more}
    if not shown:
        return Reply(document, ["Nothing was to be closed."])
    return Reply(document, [f"{count(len(found), 'digest')} closed.", table(shown), *_more(more, limit)])


async def _later(session: Session, kind: str | None, last: int) -> list[DigestRecord]:
    """Return the digests that are newer than one, the newest first."""

    async def read(before: int) -> Sequence[DigestRecord]:
        return await session.verbs.digests.search(kind=kind, before=before, limit=paging.PAGE)

    found: list[DigestRecord] = []
    async for page in paging.pages(read, FARTHEST, lambda one: one.notification_id):
        later = [one for one in page if one.notification_id > last]
        found += later
        if len(later) < len(page):
            break
    return found


def _more(more: bool, limit: int) -> list[str]:
    return [f"There are more; these are {limit} (--limit)."] if more else []
