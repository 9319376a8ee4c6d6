"""The verbs about what is to come, about zone rules, and about which database this is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ..domain.notification import Notification
from ..ports import Plan
from . import rows as r
from .reading import do


class Timing:
    def count_upcoming(self, start: datetime, end: datetime) -> Plan[list[tuple[datetime, str, int]]]:
        found = yield from do("count_upcoming", start=r.instant_text(start), end=r.instant_text(end))
        return [(r.certain(hour), kind, count) for hour, kind, count in found]

    def lock_retimable(self, tzdata: str, after: int, now: datetime, limit: int) -> Plan[list[Notification]]:
        found = yield from do("lock_retimable", tzdata=tzdata, after=after, now=r.instant_text(now), limit=limit)
        return [r.notification(row) for row in found]

    def count_retimable(self, tzdata: str, now: datetime) -> Plan[int]:
        found = yield from do("count_retimable", tzdata=tzdata, now=r.instant_text(now))
        return int(found[0][0])

    def confirm_rules(self, ids: Sequence[int], tzdata: str) -> Plan[None]:
        yield from do("confirm_rules", ids=r.dumps(sorted(ids)), tzdata=tzdata)

    def read_incarnation(self) -> Plan[tuple[str, datetime] | None]:
        found = yield from do("read_incarnation")
        return (found[0][0], r.certain(found[0][1])) if found else None

    def write_incarnation(self, identity: str, now: datetime) -> Plan[None]:
        yield from do("write_incarnation", identity=identity, now=r.instant_text(now))
