"""The verbs of digests: items, cursors, and what each digest froze."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from ..domain.audit_gathered import DigestEntry, ItemEntry, PeriodEntry
from ..domain.decision import DigestItem
from ..domain.digests import Closed, Closing, Cursor, DigestRecord, ItemRecord, NewItem, Selection, Weighed
from ..ports import Plan
from . import records
from . import rows as r
from .reading import do

_ITEM = ("kind", "recipient", "item", "ready_at", "score", "data", "expires_at", "added_at")
Name = tuple[str, str]


class Digests:
    def add_items(self, items: Sequence[NewItem]) -> Plan[set[tuple[str, str, str]]]:
        """Add items, and hold the cursors of their recipients first; answers those that are new."""
        by_name: dict[Name, list[NewItem]] = {}
        for item in items:
            by_name.setdefault((item.kind, item.recipient), []).append(item)
        yield from do("lock_cursors", rows=r.dumps(_cursor_row(by_name[name]) for name in sorted(by_name)))
        found = yield from do(
            "add_items", rows=r.dumps({name: getattr(item, name) for name in _ITEM} for item in items)
        )
        return {(kind, recipient, item) for kind, recipient, item in found}

    def lock_due_cursors(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Cursor]]:
        found = yield from do("lock_due_cursors", kinds=r.dumps(sorted(kinds)), now=r.instant_text(now), limit=limit)
        return [_cursor(row) for row in found]

    def read_cursors(self, until: datetime, kind: str | None, recipient: str | None, limit: int) -> Plan[list[Cursor]]:
        found = yield from do("read_cursors", until=r.instant_text(until), kind=kind, recipient=recipient, limit=limit)
        return [_cursor(row) for row in found]

    def take_items(self, closings: Sequence[Closing], now: datetime) -> Plan[dict[Name, Weighed]]:
        """Freeze the items of periods that close, and answer what each digest holds and what is left.

        First goes what was read, what is worth nothing any more, and what the catch-up policy gives up.
        """
        rows = r.dumps(_closing_row(closing) | {"place": place} for place, closing in enumerate(closings))
        if any(closing.policy.unread_of for closing in closings):
            yield from do("drop_read_items", rows=rows)
        if expiring := [closing for closing in closings if closing.may_give_up(now)]:
            yield from do("expire_items", rows=r.dumps(map(_closing_row, expiring)), now=r.instant_text(now))
        yield from do("take_items", rows=rows)
        found = yield from do("weigh_items", rows=rows)
        dropping = [closing for closing in closings if closing.policy.overflow == "drop"]
        if dropping:
            yield from do("drop_items", rows=r.dumps(map(_closing_row, dropping)))
        return {
            (row[0], row[1]): Weighed(row[2], row[3], row[4], r.instant(row[5]), r.instant(row[6])) for row in found
        }

    def put_digests(self, digests: Sequence[Closed], now: datetime) -> Plan[None]:
        yield from do("put_digests", rows=r.dumps(_closed_row(one, now) for one in digests))

    def move_cursors(self, cursors: Sequence[Cursor]) -> Plan[None]:
        rows = ({item.name: getattr(one, item.name) for item in fields(Cursor)} for one in cursors)
        yield from do("move_cursors", rows=r.dumps(rows))

    def read_selections(self, ids: Sequence[int]) -> Plan[dict[int, Selection]]:
        found = yield from do("read_selections", ids=r.dumps(sorted(ids)))
        return {row[0]: _selection(row) for row in found}

    def find_digests(
        self, kind: str | None, recipient: str | None, before: int, limit: int
    ) -> Plan[list[DigestRecord]]:
        found = yield from do("find_digests", kind=kind, recipient=recipient, before=before, limit=limit)
        return [r.digest(row) for row in found]

    def read_digest(self, kind: str, recipient: str, label: str) -> Plan[DigestRecord | None]:
        found = yield from do("read_digest", kind=kind, recipient=recipient, label=label)
        return r.digest(found[0]) if found else None

    def read_item(self, kind: str, recipient: str, item: str) -> Plan[ItemRecord | None]:
        found = yield from do("read_item", kind=kind, recipient=recipient, item=item)
        return _item(found[0]) if found else None

    def read_waiting_items(self, kind: str, recipient: str, limit: int) -> Plan[list[DigestItem]]:
        found = yield from do("read_waiting_items", kind=kind, recipient=recipient, limit=limit)
        return [
            DigestItem(item, r.certain(ready_at), score, json.loads(data)) for item, ready_at, score, data, _ in found
        ]

    def count_undelivered(self) -> Plan[dict[str, tuple[int, int]]]:
        found = yield from do("count_undelivered")
        return {kind: (digests, items) for kind, digests, items in found}

    def audit_digests(
        self, after: tuple[str, str, str], until: tuple[str, str, str] | None, limit: int
    ) -> Plan[list[DigestEntry]]:
        page = r.page(("kind", "recipient", "label"), after, until)
        return [records.digest(row) for row in (yield from do("audit_digests", limit=limit, **page))]

    def audit_items(
        self, after: tuple[str, str, str], until: tuple[str, str, str] | None, limit: int
    ) -> Plan[list[ItemEntry]]:
        page = r.page(("kind", "recipient", "item"), after, until)
        return [records.item(row) for row in (yield from do("audit_items", limit=limit, **page))]

    def audit_periods(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[PeriodEntry]]:
        page = r.page(("kind", "recipient"), after, until)
        return [records.period(row) for row in (yield from do("audit_periods", limit=limit, **page))]

    def end_digests(self, ended: Mapping[int, bool], now: datetime) -> Plan[None]:
        """See to the items of digests among notifications that ended without being accepted; the value says whether one
        may have been sent all the same. Provably unsent ones wait for the next digest, if their kind carries them."""
        found = yield from do("read_ended_digests", ids=r.dumps(sorted(ended)))
        if not found:
            return
        rows = [
            {
                "notification_id": id, "kind": kind, "recipient": recipient, "label": label,
                "open_from": r.certain(open_from), "cutoff_at": r.certain(cutoff_at), "next_close_at": now,
                "outcome": "released" if unsent == "carry" and not ended[id] else "undelivered",
            }
            for id, kind, recipient, label, open_from, cutoff_at, unsent in found
        ]  # fmt: skip
        released = [row for row in rows if row["outcome"] == "released"]
        undelivered = [row for row in rows if row["outcome"] == "undelivered"]
        if released:
            yield from do("mark_cursors", rows=r.dumps(released))
            yield from do("release_items", rows=r.dumps(released))
        if undelivered:
            yield from do("undeliver_items", rows=r.dumps(undelivered))
        yield from do("settle_digests", rows=r.dumps(rows))


def _cursor_row(items: Sequence[NewItem]) -> dict[str, Any]:
    """Return what a recipient's cursor must know of new items; who and where they are is as the last of them says."""
    last = items[-1]
    return {
        "kind": last.kind, "recipient": last.recipient, "tenant": last.tenant, "namespace": last.namespace,
        "zone": last.zone, "open_from": min(item.ready_at for item in items),
        "next_close_at": min(item.close_at for item in items),
    }  # fmt: skip


def _closing_row(closing: Closing) -> dict[str, Any]:
    cursor = closing.cursor
    return {
        "kind": cursor.kind, "recipient": cursor.recipient, "label": closing.label, "open_from": cursor.open_from,
        "cutoff_at": closing.cutoff.at, "previous_at": closing.previous_at, "fresh_from": closing.fresh_from,
        "most": closing.policy.limit, "unread_of": closing.policy.unread_of,
    }  # fmt: skip


def _closed_row(one: Closed, now: datetime) -> dict[str, Any]:
    closing, weighed = one.closing, one.weighed
    return {
        "kind": closing.cursor.kind, "recipient": closing.cursor.recipient, "label": closing.label,
        "notification_id": one.notification_id, "first_label": closing.first_label, "periods": closing.periods,
        "cutoff_at": closing.cutoff.at, "open_from": closing.cursor.open_from,
        "total": weighed.selected + weighed.left, "selected": weighed.selected, "late": weighed.late,
        "closed_at": now, "unsent": closing.policy.unsent,
    }  # fmt: skip


def _cursor(row: Sequence[Any]) -> Cursor:
    kind, recipient, tenant, namespace, zone, *instants = row
    return Cursor(kind, recipient, tenant, namespace, zone, *map(r.instant, instants))


def _selection(row: Sequence[Any]) -> Selection:
    _, kind, recipient, label, first_label, periods, cutoff_at, total, late, text = row
    items = list(_items(json.loads(text) if text else ()))
    read = sum(item.read for item in items)
    return Selection(kind, recipient, label, first_label, periods, r.certain(cutoff_at), total, late, items, read)


def _items(rows: Iterable[Sequence[Any]]) -> Iterable[DigestItem]:
    for item, ready_at, score, data, read in rows:
        yield DigestItem(item, r.certain(datetime.fromisoformat(ready_at)), score, data, bool(read))


def _item(row: Sequence[Any]) -> ItemRecord:
    kind, recipient, item, ready_at, score, data, expires_at, added_at, label, outcome = row
    return ItemRecord(
        kind, recipient, item, r.certain(ready_at), score, json.loads(data), r.instant(expires_at),
        r.certain(added_at), label, outcome,
    )  # fmt: skip
