"""Withdrawing what belongs together: every open notification of some groups, in one transaction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..domain import ownership
from ..domain.lifecycle import State
from ..domain.notification import Move
from ..ports import Plan
from .context import Context

MOST = 100_000


@dataclass(frozen=True, slots=True)
class GroupAnswer:
    """What became of a group: how many were cancelled, and which were already on the wire or in doubt."""

    cancelled: int
    too_late: int


def cancel_groups(context: Context, reasons: Mapping[str, str]) -> Plan[dict[str, GroupAnswer]]:
    """Cancel what is open in each group, for its reason; a wish that comes too late is kept for every way back."""
    now = context.clock.now()
    found = yield from context.store.lock_groups(reasons, MOST)
    verdicts = [ownership.cancel(n, reasons[n.group or ""], now, context.by) for n in found]
    moves = [verdict for verdict in verdicts if isinstance(verdict, Move)]
    applied = (yield from context.store.apply(moves)) if moves else {}
    late = {n.id for n in found if applied.get(n.id) is not State.CANCELLED}
    if late:
        yield from context.store.request_cancel({n.id: reasons[n.group or ""] for n in found if n.id in late})
    answers = {group: [0, 0] for group in reasons}
    for n in found:
        answers[n.group or ""][n.id in late] += 1
    return {group: GroupAnswer(*counts) for group, counts in answers.items()}
