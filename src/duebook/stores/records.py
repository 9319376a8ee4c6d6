"""From rows to what an audit judges."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from ..domain.audit_gathered import DigestEntry, ItemEntry, PeriodEntry
from ..domain.audit_time import DeadlineRecord, ScheduleRecord
from ..domain.audited import AttemptEntry, LedgerOwner, MoveEntry, Record, RememberedName
from .rows import certain, instant

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def record(row: Sequence[Any]) -> Record:
    (
        id, kind, key, recipient, channel, state, event, version, wake_at, lease_until, attention_at, review_at,
        closed_at, holder, number, doubt, wanted, has_reason, basis, has_message, begun_at, bare, pruned, vouched,
        identities, attempts, history,
    ) = row  # fmt: skip
    return Record(
        id, kind, key, recipient, channel, state, event, version, instant(wake_at), instant(lease_until),
        instant(attention_at), instant(review_at), instant(closed_at), holder, number, doubt, wanted, bool(has_reason),
        basis, bool(has_message), instant(begun_at), bool(bare), pruned, bool(vouched),
        [(id, recipient) for id, recipient in _several(identities)],
        [AttemptEntry(*entry) for entry in _several(attempts)],
        [MoveEntry(*entry) for entry in _several(history)],
    )  # fmt: skip


def _several(text: str | None) -> list[list[Any]]:
    """Return gathered rows in order: not every database can gather them so."""
    return sorted(json.loads(text), key=_first) if text is not None and text != "[]" else []


def _first(entry: list[Any]) -> Any:
    return entry[0]


def remembered_name(row: Sequence[Any]) -> RememberedName:
    kind, key, id, state, closed_at, kind_there, key_there = row
    return RememberedName(kind, key, id, state, instant(closed_at), kind_there, key_there)


def ledger_owner(row: Sequence[Any]) -> LedgerOwner:
    id, exists, *counts = row
    return LedgerOwner(id, bool(exists), *counts)


def schedule(row: Sequence[Any]) -> ScheduleRecord:
    name, kind, recurrence, zone, until_at, cursor_at, next_at, paused_at = row
    return ScheduleRecord(
        name, kind, recurrence, zone, instant(until_at), certain(cursor_at), instant(next_at), instant(paused_at)
    )


def deadline(row: Sequence[Any]) -> DeadlineRecord:
    kind, key, term, state, ends_at, changed_at, has_steps, pending = row
    keys = sorted(json.loads(pending)) if pending is not None else []
    return DeadlineRecord(kind, key, term, state, certain(ends_at), certain(changed_at), bool(has_steps), keys)


def digest(row: Sequence[Any]) -> DigestEntry:
    kind, recipient, label, selected, outcome, state, held, has_cursor = row
    return DigestEntry(kind, recipient, label, selected, outcome, state, held, bool(has_cursor))


def item(row: Sequence[Any]) -> ItemEntry:
    kind, recipient, item, ready_at, added_at, label, outcome, open_from, next_close_at, has_digest = row
    return ItemEntry(
        kind, recipient, item, certain(ready_at), certain(added_at), label, outcome, instant(open_from),
        instant(next_close_at), bool(has_digest),
    )  # fmt: skip


def period(row: Sequence[Any]) -> PeriodEntry:
    kind, recipient, *instants = row
    return PeriodEntry(kind, recipient, *map(instant, instants))


def from_micros(micros: int) -> datetime:
    return _EPOCH + timedelta(microseconds=micros)
