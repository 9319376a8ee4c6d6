"""The verbs of receipts, and of addresses that are written to no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime

from ..domain.audit_reached import ReceiptEntry, SuppressionEntry
from ..domain.notification import Intent
from ..domain.receipt import Receipt, Referred, Suppression, SuppressionRecord
from ..ports import Plan
from . import rows as r
from .reading import do

_RECEIPT = [item.name for item in fields(Receipt)]


class Receipts:
    def put_receipts(self, receipts: Sequence[Receipt], now: datetime) -> Plan[set[tuple[str, str]]]:
        rows = ({name: getattr(one, name) for name in _RECEIPT} | {"received_at": now} for one in receipts)
        found = yield from do("put_receipts", rows=r.dumps(rows))
        return {(provider, id) for provider, id in found}

    def lock_unmatched_receipts(self, since: datetime, limit: int) -> Plan[list[Receipt]]:
        found = yield from do("lock_unmatched_receipts", since=r.instant_text(since), limit=limit)
        return [r.receipt(row) for row in found]

    def read_referred_attempts(self, ids: Sequence[int], provider_ids: Sequence[str]) -> Plan[list[Referred]]:
        found = yield from do(
            "read_referred_attempts", ids=r.dumps(sorted(ids)), provider_ids=r.dumps(sorted(provider_ids))
        )
        return [Referred(id, number, r.certain(begun_at), *rest) for id, number, begun_at, *rest in found]

    def match_receipts(self, matches: Sequence[tuple[Receipt, Referred]]) -> Plan[None]:
        rows = (
            {
                "provider": receipt.provider,
                "id": receipt.id,
                "notification_id": one.notification_id,
                "number": one.number,
            }
            for receipt, one in matches
        )
        yield from do("match_receipts", rows=r.dumps(rows))

    def read_receipts(self, notification_id: int) -> Plan[list[tuple[int, Receipt]]]:
        found = yield from do("read_receipts", id=notification_id)
        return [(row[-1], r.receipt(row[:-1])) for row in found]

    def suppress(self, several: Sequence[Suppression], by: str, now: datetime) -> Plan[int]:
        rows = ({item.name: getattr(one, item.name) for item in fields(Suppression)} for one in several)
        return len((yield from do("suppress", rows=r.dumps(rows), by=by, now=r.instant_text(now))))

    def unsuppress(self, channel: str, address: str, scope: str | None) -> Plan[int]:
        return len((yield from do("unsuppress", channel=channel, address=address, scope=scope)))

    def read_suppressed(self, channel: str, intents: Sequence[Intent]) -> Plan[dict[int, str]]:
        """Answer why some of these may not be sent: their addresses are written to no more."""
        rows = (
            {"id": intent.id, "kind": intent.notification.kind, "address": intent.address}
            for intent in intents
            if intent.address is not None
        )
        found = yield from do("read_suppressed", channel=channel, rows=r.dumps(rows))
        return {row[0]: row[1] for row in found}

    def search_suppressions(
        self, filters: Mapping[str, str | None], after: tuple[str, str, str], limit: int
    ) -> Plan[list[SuppressionRecord]]:
        channel, address, scope = after
        found = yield from do(
            "search_suppressions", channel=filters.get("channel"), address=filters.get("address"),
            after_channel=channel, after_address=address, after_scope=scope, limit=limit,
        )  # fmt: skip
        return [SuppressionRecord(Suppression(*row[:4]), r.certain(row[4]), row[5]) for row in found]

    def audit_receipts(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[ReceiptEntry]]:
        found = yield from do("audit_receipts", limit=limit, **r.page(("provider", "id"), after, until))
        return [ReceiptEntry(*row)._replace(has_attempt=bool(row[-1])) for row in found]

    def audit_suppressions(
        self, after: tuple[str, str, str], until: tuple[str, str, str] | None, limit: int
    ) -> Plan[list[SuppressionEntry]]:
        found = yield from do("audit_suppressions", limit=limit, **r.page(SuppressionEntry._fields, after, until))
        return [SuppressionEntry(*row) for row in found]
