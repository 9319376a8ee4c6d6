"""The verbs that let go: of what is old, a bounded batch at a time, and of a person."""

from __future__ import annotations

from datetime import datetime

from ..domain.policy import Kind
from ..ports import Plan
from . import rows as r
from .reading import do

_PRUNE = (
    ("prune_bodies",),
    (
        "delete_attempts", "delete_history", "delete_evidence", "fold_covers", "delete_covers", "delete_attention",
        "prune_receipts", "prune_ledger",
    ),
    ("remember", "delete_evidence", "delete_notifications"),
)  # fmt: skip
"""What goes with each part of a notification: its bodies, its ledger, and its row."""

_PRUNE_BESIDE = ("prune_missed", "prune_messages", "prune_digests", "prune_items")
_ERASE = (
    "forget_attempts", "forget_history", "forget_evidence", "forget_receipts", "forget_schedules",
    "forget_watermarks", "forget_items", "forget_cursors", "forget_limits",
    "forget_people", "forget_opt_outs",
)  # fmt: skip
_RENAME = (
    "forget_deadlines", "forget_missed", "forget_covers", "forget_messages", "forget_digests", "forget_attention",
    "forget_notifications",
)  # fmt: skip


class Retaining:
    def prune(self, kind: Kind, now: datetime, limit: int) -> Plan[int]:
        """Discard what is older than a kind keeps it, a bounded batch per part; answers how many parts went."""
        keep = kind.retention
        gone = 0
        for level, age in enumerate((keep.bodies, keep.ledger, keep.rows)):
            found = yield from do(
                "lock_prunable", kind=kind.name, pruned=level, before=r.instant_text(now - age), limit=limit
            )
            if found:
                ids = r.dumps(sorted(row[0] for row in found))
                for verb in _PRUNE[level]:
                    yield from do(verb, ids=ids)
                gone += len(found)
        before = r.instant_text(now - keep.rows)
        for verb in _PRUNE_BESIDE:
            gone += len((yield from do(verb, kind=kind.name, before=before, limit=limit)))
        return gone

    def prune_identities(self, kind: Kind, now: datetime, limit: int) -> Plan[int]:
        if kind.retention.memory is None:
            return 0
        before = r.instant_text(now - kind.retention.memory)
        return len((yield from do("prune_identities", kind=kind.name, before=before, limit=limit)))

    def forget(self, recipient: str, alias: str) -> Plan[int]:
        """Erase a person's data everywhere, the identities last: the others are found through them."""
        for verb in _ERASE:
            yield from do(verb, recipient=recipient)
        for verb in _RENAME:
            yield from do(verb, recipient=recipient, alias=alias)
        return len((yield from do("forget_identities", recipient=recipient, alias=alias)))
