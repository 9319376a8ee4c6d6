"""The digester: closes the periods that have ended and freezes what belongs to each.

A batch of recipients is one transaction: their cursors are held first, their items are chosen by a later statement, and
the digest, its notification and the cursor's new place are written together. So any number of digesters may run, each
may die at any point, and a period has one digest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain import digests
from ..domain.digests import Closed, Closing, Cursor, Weighed
from ..domain.missed import Missed
from ..domain.policy import DigestPolicy
from ..domain.recurrence import Occurrence
from ..ports import Plan
from .agent import Maker


@dataclass(frozen=True, slots=True)
class _Due:
    """A cursor at its turn: the cutoffs that have come, and the period to close, if there is one."""

    cursor: Cursor
    policy: DigestPolicy
    cutoffs: Sequence[Occurrence]
    closing: Closing | None


class Digester(Maker):
    name = "digester"

    async def step(self) -> bool:
        kinds = [kind for kind in self.registry.served().values() if kind.digest is not None]
        if not kinds:
            return False
        channels, number = await self.database.run(self._close({kind.name for kind in kinds}, self.clock.now()))
        self.tell(channels)
        return number >= self.settings.batch

    def _close(self, kinds: set[str], now: datetime) -> Plan[tuple[set[str], int]]:
        """Close what has come for a batch of recipients; answers the channels with something due, and how many."""
        cursors = yield from self.store.lock_due_cursors(kinds, now, self.settings.batch)
        if not cursors:
            return set(), 0
        due = yield from self._unclosed([self._due(cursor, now) for cursor in cursors], now)
        closings = [one.closing for one in due if one.closing is not None]
        weighed = (yield from self.store.take_items(closings, now)) if closings else {}
        channels = yield from self._put(closings, weighed, now)
        missed: list[Missed] = []
        moved: list[Cursor] = []
        for one in due:
            missed += digests.passed_over(one.cursor, one.policy, one.cutoffs, one.closing, now)
            found = None
            if one.closing is not None:
                found = weighed.get((one.cursor.kind, one.cursor.recipient), digests.NOTHING)
            moved.append(digests.moved_on(one.cursor, one.policy, one.cutoffs, found, now))
        if missed:
            yield from self.store.record_missed(missed)
        yield from self.store.move_cursors(moved)
        return channels, len(cursors)

    def _due(self, cursor: Cursor, now: datetime) -> _Due:
        policy = self.registry.kinds[cursor.kind].digest
        assert policy is not None
        cutoffs = digests.come(cursor, policy, now)
        return _Due(cursor, policy, cutoffs, digests.closing(cursor, policy, cutoffs, now))

    def _unclosed(self, due: Sequence[_Due], now: datetime) -> Plan[list[_Due]]:
        """Leave out what has a digest already, under other rules or another zone: what waits is in the next one."""
        names = {(one.cursor.kind, _key(one.closing)) for one in due if one.closing is not None}
        known = (yield from self.store.read_identities(sorted(names))) if names else {}
        return [
            _Due(one.cursor, one.policy, one.cutoffs, None)
            if one.closing is not None and (one.cursor.kind, _key(one.closing)) in known
            else one
            for one in due
        ]

    def _put(
        self, closings: Sequence[Closing], weighed: Mapping[tuple[str, str], Weighed], now: datetime
    ) -> Plan[set[str]]:
        """Write the digests that hold something, and their notifications; an empty period costs no row."""
        held = [
            (one, found)
            for one in closings
            if (found := weighed.get((one.cursor.kind, one.cursor.recipient), digests.NOTHING)).selected
        ]
        if not held:
            return set()
        drafts = {
            (one.cursor.kind, _key(one)): digests.draft(one, self.registry.kinds[one.cursor.kind], now)
            for one, _ in held
        }
        ids = yield from self.store.schedule([drafts[name] for name in sorted(drafts)])
        closed = [Closed(one, found, ids[one.cursor.kind, _key(one)]) for one, found in held]
        yield from self.store.put_digests(closed, now)
        return {draft.channel for draft in drafts.values() if draft.wake_at <= now}


def _key(closing: Closing) -> str:
    return digests.key(closing.label, closing.cursor.recipient)
