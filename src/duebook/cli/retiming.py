"""Newer zone rules, applied to what is still to come."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..app.retiming import Retimings, retime
from ..domain import zones
from ..domain.retiming import Retimed
from .output import Reply, Table
from .program import command
from .session import Session
from .wording import count, instant


@command("Operators", "duebook retime --dry-run", "duebook retime", name="retime")
async def retime_all(
    session: Session,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would move; change nothing.")] = False,
) -> Reply:
    """Resolve local promises anew under the zone rules in use: what was promised for nine o'clock stays at nine.

    Run it after tzdata was upgraded. It moves what nobody has begun, batch by batch, and may be stopped and repeated;
    a second run finds nothing.
    """
    store, now = session.book.wired.store, session.book.wired.clock.now()
    total = await session.ask(store.count_retimable(zones.version(), now))
    with session.screen.progress("comparing", total or None) as advance:
        done = await retime(session.context, session.book.wired.runner, dry_run=dry_run, watch=advance)
    document = {
        "dry_run": dry_run, "tzdata": zones.version(), "looked_at": done.looked_at,
        "notifications": [_document(one) for one in done.notifications],
        "schedules": [{"name": name, "before": was, "after": at} for name, was, at in done.schedules],
    }  # fmt: skip
    return Reply(document, _told(done, dry_run))


def _document(one: Retimed) -> dict[str, Any]:
    return {
        "kind": one.kind, "key": one.key, "wall": one.wall, "zone": one.zone, "before": one.was, "after": one.due_at,
    }  # fmt: skip


def _told(done: Retimings, dry_run: bool) -> list[str | Table]:
    body: list[str | Table] = []
    if done.notifications:
        rows = [
            [f"{one.kind}/{one.key}", one.wall, one.zone, instant(one.was), instant(one.due_at)]
            for one in done.notifications
        ]
        body.append(Table(["identity", "wall time", "zone", "before", "after"], rows))
    if done.schedules:
        rows = [
            [name, instant(was) if was else "", instant(at) if at else "has ended"] for name, was, at in done.schedules
        ]
        body.append(Table(["schedule", "next before", "next after"], rows))
    looked = f"Looked at {done.looked_at:,} under the rules of tzdata {zones.version()}."
    moved = len(done.notifications)
    if not moved and not done.schedules:
        return [f"{looked} Nothing moves."]
    verb = "would move" if dry_run else "moved"
    schedules = count(len(done.schedules), "schedule")
    return [*body, f"{looked} {count(moved, 'notification')} and {schedules} {verb}."]
