"""The verbs about what a broker was told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from ..domain.notification import Notification
from ..domain.policy import Priority
from ..domain.publication import Publication
from ..ports import Plan
from . import rows as r
from .reading import do


class Publishing:
    def take_publications(
        self, horizon: datetime, limit: int, now: datetime, publish_until: datetime
    ) -> Plan[list[Publication]]:
        found = yield from do(
            "take_publications",
            horizon=r.instant_text(horizon),
            limit=limit,
            now=r.instant_text(now),
            publish_until=r.instant_text(publish_until),
        )
        return [
            Publication(id, version, channel, Priority(priority), r.certain(wake_at))
            for id, version, channel, priority, wake_at in found
        ]

    def mark_published(self, published: Sequence[Publication]) -> Plan[None]:
        rows = r.dumps({"id": one.id, "version": one.version} for one in sorted(published))
        yield from do("mark_published", rows=rows)

    def unpublish(self, ids: Collection[int], now: datetime) -> Plan[None]:
        yield from do("unpublish", ids=r.dumps(sorted(ids)), now=r.instant_text(now))

    def read_due_between(self, ids: Collection[int], after: datetime, until: datetime) -> Plan[dict[int, datetime]]:
        found = yield from do(
            "read_due_between",
            ids=r.dumps(sorted(ids)),
            after=r.instant_text(after),
            until=r.instant_text(until),
        )
        return {id: r.certain(wake_at) for id, wake_at in found}

    def claim_received(
        self,
        channel: str,
        kinds: Collection[str],
        ids: Collection[int],
        now: datetime,
        lease_until: datetime,
        holder: str,
    ) -> Plan[list[Notification]]:
        found = yield from do(
            "claim_received",
            channel=channel,
            kinds=r.dumps(sorted(kinds)),
            ids=r.dumps(sorted(ids)),
            now=r.instant_text(now),
            lease_until=r.instant_text(lease_until),
            holder=holder,
        )
        return [r.notification(row) for row in found]

    def index_unpublished(self) -> Plan[None]:
        yield from do("index_unpublished")

    def read_unpublished_index(self) -> Plan[bool]:
        found = yield from do("read_unpublished_index")
        return bool(found[0][0])
