"""What another program has sent, put on record, so that moving in reminds nobody twice."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from ..domain.draft import Draft
from ..domain.lifecycle import Event, State
from ..domain.notification import Move, move
from ..domain.ownership import Scheduled
from ..domain.story import IdentityRecord
from ..ports import Plan
from .context import Context

CHUNK = 1_000
REASON = "sent before duebook took over (import)"


class _Born(NamedTuple):
    """A notification in the transaction that makes it: nobody else has seen it."""

    id: int
    version: int = 1
    state: State = State.SCHEDULED
    doubt: int = 0


def record_sent(context: Context, drafts: Sequence[Draft], reason: str, now: datetime) -> Plan[list[Scheduled]]:
    """Make each notification and close it as accepted, on the caller's word; what exists stays as it is."""
    answers: list[Scheduled] = []
    for start in range(0, len(drafts), CHUNK):
        answers += yield from _record(context, drafts[start : start + CHUNK], reason, now)
    return answers


def _record(context: Context, drafts: Sequence[Draft], reason: str, now: datetime) -> Plan[list[Scheduled]]:
    names = [(one.kind, one.key) for one in drafts]
    unique = dict(reversed(list(zip(names, drafts, strict=True))))
    made: set[tuple[str, str]] = set()
    known: dict[tuple[str, str], IdentityRecord] = {}
    # Once, unless the memory of one ends between the two statements; then it can be made.
    while missing := sorted(unique.keys() - known.keys()):
        born = yield from context.store.schedule([unique[name] for name in missing])
        yield from context.store.apply([_closed(id, reason, now, context.by) for id in born.values()])
        made |= born.keys()
        known |= yield from context.store.read_identities(missing)
    answers = []
    for name in names:
        found = known[name]
        answers.append(Scheduled(found.notification_id, *name, name in made, found.state, found.due_at))
        made.discard(name)
    return answers


def _closed(id: int, reason: str, now: datetime, by: str) -> Move:
    return move(_Born(id), Event.CONFIRM, now, by, reason=reason, basis="ruled")
