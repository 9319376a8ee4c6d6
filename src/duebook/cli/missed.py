"""What got no notification of its own, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..domain.missed import Missed, Source
from ..errors import InvalidInput
from .options import Recipient
from .output import Reply, Table, plain
from .program import command
from .session import Session
from .wording import instant


@command(
    "Owners",
    "duebook missed --recipient acct-1842",
    "duebook missed --schedule digest/acct-1842",
    "duebook missed --deadline contract/acct-1842",
)
async def missed(
    session: Session,
    recipient: Recipient = None,
    schedule: Annotated[str | None, typer.Option("--schedule", help="The periods of this schedule.")] = None,
    deadline: Annotated[str | None, typer.Option("--deadline", help="The steps of this deadline: KIND/KEY.")] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=9_999, help="At most this many.")] = 50,
) -> Reply:
    """Tell which periods of schedules and steps of deadlines got no notification of their own, and why.

    The newest comes first.
    """
    if sum(item is not None for item in (recipient, schedule, deadline)) > 1:
        raise InvalidInput("recipient", "say whose: one of --recipient, --schedule and --deadline")
    if deadline is not None:
        found = await _of_deadline(session, deadline, limit + 1)
    else:
        source: Source | None = None if schedule is None else "schedule"
        page = await session.verbs.schedules.missed(
            recipient=recipient, source=source, name=schedule, limit=limit + 1
        )  # fmt: skip
        found = [one for _, one in page]
    shown, more = found[:limit], len(found) > limit
    document = {"missed": plain(shown), "more": more}
    if not shown:
        return Reply(document, ["None found."])
    ending = [f"There are more; these are the newest {limit} (--limit)."] if more else []
    return Reply(document, [_table(shown), *ending])


async def _of_deadline(session: Session, deadline: str, limit: int) -> list[Missed]:
    """Read term by term, the newest first: what is on record about a step names its term."""
    kind, slash, key = deadline.partition("/")
    if not slash or not key:
        raise InvalidInput("deadline", f"{deadline!r} is not KIND/KEY, such as contract/acct-1842")
    one = await session.verbs.deadlines.find(kind, key)
    found: list[Missed] = []
    for term in range(one.term if one else 0, 0, -1):
        page = await session.verbs.schedules.missed(source="deadline", name=f"{key}/{term}", limit=limit)
        found += [each for _, each in page if each.kind == kind]
        if len(found) >= limit:
            break
    return found[:limit]


def _table(shown: Sequence[Missed]) -> Table:
    rows = [
        [f"{one.source} {one.name}", one.recipient, _periods(one), instant(one.first_at), _fate(one)] for one in shown
    ]
    return Table(["of", "recipient", "missed", "due from", "why"], rows)


def _periods(one: Missed) -> str:
    return one.first_label if one.periods == 1 else f"{one.first_label} to {one.last_label} ({one.periods:,})"


def _fate(one: Missed) -> str:
    return f"combined into {one.combined_into}: {one.reason}" if one.combined_into else one.reason
