"""The verbs that only read: for owners, operators and the agents that look for work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from ..domain import digests, unread
from ..domain.audited import LedgerOwner, Record, RememberedName
from ..domain.control import Control
from ..domain.digests import DigestRecord
from ..domain.lifecycle import State
from ..domain.notification import Notification
from ..domain.recovery import Doubt, Evidence
from ..domain.story import Backlog, Entry, IdentityRecord, KindRecord, Sight, Story
from ..domain.unread import CoverRecord
from ..ports import Plan, Rows, Statement
from . import records
from . import rows as r


def do(verb: str, **parameters: str | int | None) -> Plan[Rows]:
    """The plan of one statement."""
    return (yield Statement(verb, parameters))


FARTHEST = 2**62
_AGENTS = ("lease", "expiry", "attention", "schedule", "digest", "evidence")


class Reading:
    def audit_identities(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[RememberedName]]:
        """Answer a page of identities in the order of their names; with `until`, up to it."""
        (kind, key), (until_kind, until_key) = after, until or (None, None)
        rows = yield from do(
            "audit_identities", kind=kind, key=key, until_kind=until_kind, until_key=until_key, limit=limit
        )
        return [records.remembered_name(row) for row in rows]

    def audit_ledger(self, after: int, until: int | None, limit: int) -> Plan[list[LedgerOwner]]:
        rows = yield from do("audit_ledger", after=after, until=until or FARTHEST, limit=limit)
        return [records.ledger_owner(row) for row in rows]

    def audit_notifications(self, after: int, until: int | None, limit: int) -> Plan[list[Record]]:
        rows = yield from do("audit_notifications", after=after, until=until or FARTHEST, limit=limit)
        return [records.record(row) for row in rows]

    def audit_rates(self) -> Plan[dict[str, datetime]]:
        rows = yield from do("audit_rates")
        return {channel: records.from_micros(micros) for channel, micros in rows}

    def audit_size(self) -> Plan[int]:
        rows = yield from do("audit_size")
        return int(rows[0][0])

    def read_identities(self, names: Sequence[tuple[str, str]]) -> Plan[dict[tuple[str, str], IdentityRecord]]:
        rows = yield from do("read_identities", rows=r.dumps({"kind": kind, "key": key} for kind, key in names))
        return {(row[0], row[1]): _identity(row) for row in rows}

    def read(self, kind: str, key: str) -> Plan[Notification | None]:
        rows = yield from do("read", kind=kind, key=key)
        return r.notification(rows[0]) if rows else None

    def lock(self, kind: str, key: str) -> Plan[Notification | None]:
        rows = yield from do("lock", kind=kind, key=key)
        return r.notification(rows[0]) if rows else None

    def lock_groups(self, groups: Collection[str], limit: int) -> Plan[list[Notification]]:
        rows = yield from do("lock_groups", groups=r.dumps(sorted(groups)), limit=limit)
        return [r.notification(row) for row in rows]

    def lock_recipient(self, recipient: str) -> Plan[list[Notification]]:
        rows = yield from do("lock_recipient", recipient=recipient)
        return [r.notification(row) for row in rows]

    def search(self, filters: Mapping[str, str | None], before: int, limit: int) -> Plan[list[Notification]]:
        rows = yield from do("search", before=before, limit=limit, **filters)
        return [r.notification(row) for row in rows]

    def search_recipient(
        self, recipient: str, filters: Mapping[str, str | None], before: int, limit: int
    ) -> Plan[list[Notification]]:
        rows = yield from do("search_recipient", recipient=recipient, before=before, limit=limit, **filters)
        return [r.notification(row) for row in rows]

    def search_address(self, address: str, limit: int) -> Plan[list[Notification]]:
        rows = yield from do("search_address", address=address, limit=limit)
        return [r.notification(row) for row in rows]

    def read_story(self, kind: str, key: str) -> Plan[Story | None]:
        identity = (yield from self.read_identities([(kind, key)])).get((kind, key))
        if identity is None:
            return None
        notification = yield from self.read(kind, key)
        if notification is None:
            return Story(identity, None, pruned=3)
        attempts = [r.attempt(row) for row in (yield from do("read_attempts", id=notification.id))]
        history = yield from do("read_history", id=notification.id)
        evidence = yield from do("read_evidence", id=notification.id)
        pruned = yield from do("read_pruned", id=notification.id)
        receipts = yield from do("read_receipts", id=notification.id)
        cover, digest = yield from self._read_subject(notification)
        return Story(
            identity,
            notification,
            [attempt for attempt, _ in attempts],
            [Entry(version, r.certain(at), *rest) for version, at, *rest in history],
            [r.evidence(row) for row in evidence],
            [resolution for _, resolution in attempts],
            pruned[0][0],
            cover,
            digest,
            [(row[-1], r.receipt(row[:-1])) for row in receipts],
        )

    def _read_subject(self, n: Notification) -> Plan[tuple[CoverRecord | None, DigestRecord | None]]:
        """Read what a reminder of unread messages spoke for, or what a digest is of."""
        cover: Rows = ()
        digest: Rows = ()
        if unread.is_reminder(n):
            cover = yield from do("read_cover", id=n.id)
        elif digests.is_digest(n):
            label = digests.label_of(n.key)
            digest = yield from do("read_digest", kind=n.kind, recipient=n.recipient, label=label)
        return (r.cover(cover[0]) if cover else None), (r.digest(digest[0]) if digest else None)

    def look(self, channels: Collection[str], kinds: Collection[str]) -> Plan[Sight]:
        rows = yield from do("look", channels=r.dumps(sorted(channels)), kinds=r.dumps(sorted(kinds)))
        found = {(topic, channel): r.instant(at) for topic, channel, at in rows}
        wakes = {channel: found["wake", channel] for channel in channels}
        suspects = {channel: found["suspect", channel] for channel in channels}
        return Sight(wakes, suspects, *(found[topic, ""] for topic in _AGENTS))

    def lock_expired_leases(self, before: datetime, limit: int) -> Plan[list[Notification]]:
        rows = yield from do("lock_expired_leases", before=r.instant_text(before), limit=limit)
        return [r.notification(row) for row in rows]

    def lock_worthless(self, now: datetime, limit: int) -> Plan[list[Notification]]:
        rows = yield from do("lock_worthless", now=r.instant_text(now), limit=limit)
        return [r.notification(row) for row in rows]

    def lock_uncertain(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Notification]]:
        rows = yield from do("lock_uncertain", kinds=r.dumps(sorted(kinds)), now=r.instant_text(now), limit=limit)
        return [r.notification(row) for row in rows]

    def lock_evidenced(self, kinds: Collection[str], limit: int) -> Plan[list[Notification]]:
        rows = yield from do("lock_evidenced", kinds=r.dumps(sorted(kinds)), limit=limit)
        return [r.notification(row) for row in rows]

    def read_doubtful_evidence(self, ids: Sequence[int]) -> Plan[dict[int, list[Evidence]]]:
        rows = yield from do("read_doubtful_evidence", ids=r.dumps(sorted(ids)))
        found: dict[int, list[Evidence]] = {id: [] for id in ids}
        for row in rows:
            found[row[0]].append(r.evidence(row))
        return found

    def read_doubtful_attempts(self, ids: Sequence[int]) -> Plan[list[Doubt]]:
        rows = yield from do("read_doubtful_attempts", ids=r.dumps(sorted(ids)))
        return [
            Doubt(id, number, r.certain(begun_at), outcome == "uncertain", provider_id)
            for id, number, outcome, begun_at, provider_id in rows
        ]

    def read_controls(self) -> Plan[list[Control]]:
        rows = yield from do("read_controls")
        return [
            Control(
                scope,
                r.instant(paused_at),
                r.instant(paused_until),
                mode,
                reason,
                by,
                r.certain(at),
                r.instant(probing_until),
            )
            for scope, paused_at, paused_until, mode, reason, by, at, probing_until in rows
        ]

    def read_kinds(self) -> Plan[list[KindRecord]]:
        rows = yield from do("read_kinds")
        return [KindRecord(kind, channel, priority, r.certain(seen)) for kind, channel, priority, seen in rows]

    def read_backlog(self, now: datetime) -> Plan[Backlog]:
        rows = yield from do("read_backlog", now=r.instant_text(now))
        due, oldest_due, held, expired, uncertain, oldest_uncertain, review, oldest_review, wake = rows[0]
        return Backlog(
            due, r.instant(oldest_due), held, expired, uncertain, r.instant(oldest_uncertain), review,
            r.instant(oldest_review), r.instant(wake),
        )  # fmt: skip

    def count_states(self) -> Plan[list[tuple[str, str, State, int, datetime]]]:
        rows = yield from do("count_states")
        return [(kind, channel, State(state), count, r.certain(oldest)) for kind, channel, state, count, oldest in rows]

    def read_lateness(self, since: datetime, limit: int) -> Plan[list[timedelta]]:
        rows = yield from do("read_lateness", since=r.instant_text(since), limit=limit)
        return [r.certain(begun) - r.certain(due) for due, begun in rows]

    def read_schema(self) -> Plan[int]:
        rows = yield from do("read_schema")
        return int(rows[0][0] or 0)


def _identity(row: Sequence[Any]) -> IdentityRecord:
    kind, key, id, recipient, state, due_at, created_at, closed_at, reason, provider_id = row
    due, created, closed = r.certain(due_at), r.certain(created_at), r.instant(closed_at)
    return IdentityRecord(kind, key, id, recipient, State(state), due, created, closed, reason, provider_id)
