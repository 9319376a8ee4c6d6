"""The verbs of the store, for both dialects: which statements, with which parameters, and what their rows mean.

No I/O happens here: every verb is a plan (see ports/). Business rules live in the domain; what this file knows is
which records a move needs beside it, so that no caller can forget one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..domain.draft import Draft
from ..domain.lifecycle import Event, State
from ..domain.notification import Intent, Move, Notification
from ..domain.ownership import honour
from ..domain.policy import Kind
from ..domain.recovery import Evidence
from ..ports import Plan
from . import rows as r
from .attention import RecipientsAttention
from .deadlines import Deadlines
from .digests import Digests
from .people import People
from .publishing import Publishing
from .reading import Reading, do
from .receipts import Receipts
from .retaining import Retaining
from .schedules import Schedules
from .timing import Timing
from .unread import UnreadMessages

_UNSENT = frozenset({State.SKIPPED, State.CANCELLED, State.DROPPED})
"""States in which the items of a digest have not reached anybody, as far as is known."""


@dataclass(frozen=True, slots=True)
class _Applied:
    id: int
    state: State
    version: int
    doubt: int
    cancel_request: str | None


class SqlStore(
    Reading,
    Schedules,
    Deadlines,
    Timing,
    UnreadMessages,
    Digests,
    RecipientsAttention,
    Receipts,
    People,
    Retaining,
    Publishing,
):
    """Implements ports.Store over the SQL folders."""

    def schedule(self, drafts: Sequence[Draft]) -> Plan[dict[tuple[str, str], int]]:
        unique: dict[tuple[str, str], Draft] = {}
        for one in drafts:
            unique.setdefault((one.kind, one.key), one)
        found = yield from do("schedule", rows=r.dumps(map(r.draft_row, unique.values())))
        return {(kind, key): id for id, kind, key in found}

    def claim(
        self,
        channel: str,
        kinds: Collection[str],
        limits: Sequence[int],
        alone: int,
        floor: datetime,
        now: datetime,
        lease_until: datetime,
        holder: str,
    ) -> Plan[list[Notification]]:
        urgent, normal, bulk = limits
        found = yield from do(
            "claim",
            channel=channel,
            kinds=r.dumps(sorted(kinds)),
            urgent=urgent,
            normal=normal,
            bulk=bulk,
            alone=alone,
            floor=r.instant_text(floor),
            now=r.instant_text(now),
            lease_until=r.instant_text(lease_until),
            holder=holder,
        )
        return [r.notification(row) for row in found]

    def peek(self, channel: str, kinds: Collection[str], floor: datetime) -> Plan[datetime | None]:
        found = yield from do("peek", channel=channel, kinds=r.dumps(sorted(kinds)), floor=r.instant_text(floor))
        return r.instant(found[0][0])

    def begin(self, channel: str, intents: Sequence[Intent], now: datetime) -> Plan[set[int]]:
        if speaking := [intent for intent in intents if intent.cover is not None]:
            covering = yield from self.take_cover(speaking)
            intents = [intent for intent in intents if intent.cover is None or intent.id in covering]
        if taking := [intent for intent in intents if intent.taking is not None]:
            allowed = yield from self.take_attention(taking)
            intents = [intent for intent in intents if intent.taking is None or intent.id in allowed]
        if not intents:
            return set()
        rows = r.dumps(r.intent_row(intent) for intent in sorted(intents, key=lambda intent: intent.id))
        begun = {row[0] for row in (yield from do("begin", channel=channel, rows=rows, now=r.instant_text(now)))}
        if spoken := [intent for intent in speaking if intent.id in begun and not intent.doubt]:
            yield from self.record_covers(spoken)
        if taken := [intent for intent in taking if intent.id in begun]:
            yield from self.record_attention(taken)
        return begun

    def apply(self, moves: Sequence[Move]) -> Plan[dict[int, State]]:
        """Make moves in id order and write down each one made: an attempt in the ledger, anything else in the history.

        At most one move for each notification. A cancel that came too late is honoured here, whatever way a
        notification comes back.
        """
        applied: dict[int, State] = {}
        while moves:
            moves = sorted(moves, key=lambda move: move.id)
            found = yield from self._make(moves)
            made = {row[0]: _Applied(row[0], State(row[1]), row[2], row[3], row[4]) for row in found}
            assert len({move.id for move in moves}) == len(moves), "two moves for one notification"
            yield from self._write_down([move for move in moves if move.id in made], made)
            applied.update((id, row.state) for id, row in made.items())
            wishes = (honour(made[move.id], move.at) for move in moves if move.id in made)
            moves = [wish for wish in wishes if wish is not None]
        return applied

    def _make(self, moves: Sequence[Move]) -> Plan[list[Sequence[Any]]]:
        found: list[Sequence[Any]] = []
        accepted = [move for move in moves if move.event is Event.ACCEPT]
        others = [move for move in moves if move.event is not Event.ACCEPT]
        if accepted:
            found += yield from do("accept", rows=r.dumps(map(r.accept_row, accepted)))
        if others:
            found += yield from do("apply", rows=r.dumps(map(r.move_row, others)))
        return found

    def _write_down(self, made: Sequence[Move], applied: Mapping[int, _Applied]) -> Plan[None]:
        attempts = [r.attempt_row(move.attempt) for move in made if move.attempt is not None]
        others = [r.history_row(move) for move in made if move.attempt is None]
        if attempts:
            yield from do("record_attempts", rows=r.dumps(attempts))
        if others:
            yield from do("record_history", rows=r.dumps(others))
        if ended := {move.id: applied[move.id].doubt > 0 for move in made if move.next in _UNSENT}:
            yield from self.end_digests(ended, made[0].at)

    def extend(self, held: Sequence[tuple[int, int]], now: datetime, lease_until: datetime) -> Plan[set[int]]:
        rows = r.dumps({"id": id, "version": version} for id, version in sorted(held))
        found = yield from do("extend", rows=rows, now=r.instant_text(now), lease_until=r.instant_text(lease_until))
        return {row[0] for row in found}

    def request_cancel(self, wishes: Mapping[int, str]) -> Plan[None]:
        rows = r.dumps({"id": id, "reason": reason} for id, reason in sorted(wishes.items()))
        yield from do("request_cancel", rows=rows)

    def record_evidence(self, evidence: Sequence[Evidence]) -> Plan[None]:
        yield from do("record_evidence", rows=r.dumps(map(r.evidence_row, evidence)))

    def consider_evidence(self, ids: Sequence[int], resolved: Sequence[Evidence], now: datetime) -> Plan[None]:
        if resolved:
            yield from do("resolve_attempts", rows=r.dumps(map(r.evidence_row, resolved)))
            yield from do("recount_doubt", ids=r.dumps(sorted({item.notification_id for item in resolved})))
        yield from do("consider_evidence", ids=r.dumps(sorted(ids)), now=r.instant_text(now))

    def postpone(self, looks: Sequence[tuple[int, int, datetime]]) -> Plan[None]:
        rows = r.dumps({"id": id, "version": version, "attention_at": at} for id, version, at in sorted(looks))
        yield from do("postpone", rows=rows)

    def set_pause(self, scope: str, paused: bool, reason: str, by: str, now: datetime) -> Plan[None]:
        at = r.instant_text(now)
        yield from do("set_pause", scope=scope, paused_at=at if paused else None, reason=reason, by=by, now=at)

    def set_mode(self, scope: str, mode: str, reason: str, by: str, now: datetime) -> Plan[None]:
        yield from do("set_mode", scope=scope, mode=mode, reason=reason, by=by, now=r.instant_text(now))

    def throttle(self, channel: str, until: datetime, reason: str, by: str, now: datetime) -> Plan[None]:
        yield from do(
            "throttle", channel=channel, until=r.instant_text(until), reason=reason, by=by, now=r.instant_text(now)
        )

    def take_probe(self, channel: str, holder: str, now: datetime, until: datetime) -> Plan[bool]:
        found = yield from do(
            "take_probe", channel=channel, holder=holder, now=r.instant_text(now), until=r.instant_text(until)
        )
        return bool(found)

    def relieve(self, channel: str, now: datetime) -> Plan[None]:
        yield from do("relieve", channel=channel, now=r.instant_text(now))

    def take_rate(self, channel: str, wanted: int, rate: float, by: str, now: datetime) -> Plan[tuple[int, datetime]]:
        """Take up to `wanted` sends of a shared rate per second; answers how many, and when the next is free."""
        interval = max(1, round(1_000_000 / rate))
        micros = round(now.timestamp() * 1_000_000)
        found = yield from do(
            "take_rate",
            channel=channel,
            wanted=wanted,
            now_micros=micros,
            interval_micros=interval,
            burst_micros=max(interval, 100_000),
            by=by,
            now=r.instant_text(now),
        )
        granted, following = found[0]
        return granted, now + timedelta(microseconds=max(0, following - micros))

    def register_kinds(self, kinds: Sequence[Kind], now: datetime) -> Plan[None]:
        rows = [{"kind": kind.name, "channel": kind.channel, "priority": int(kind.priority)} for kind in kinds]
        if rows:
            yield from do("register_kinds", rows=r.dumps(rows), now=r.instant_text(now))

    def notify(self, channel: str) -> Plan[None]:
        yield from do("notify", channel=channel)
