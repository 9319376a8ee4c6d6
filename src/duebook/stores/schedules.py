"""The verbs of recurring schedules, and of what was missed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from ..domain.audit_time import ScheduleRecord
from ..domain.missed import Missed
from ..domain.recurrence import dump, load
from ..domain.schedules import Schedule
from ..ports import Plan
from . import records
from . import rows as r
from .reading import do


class Schedules:
    def put_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        found = yield from do("put_schedules", rows=r.dumps(map(_row, schedules)))
        return {row[0] for row in found}

    def lock_schedules(self, names: Collection[str]) -> Plan[dict[str, Schedule]]:
        found = yield from do("lock_schedules", names=r.dumps(sorted(names)))
        return {row[0]: _schedule(row) for row in found}

    def lock_due_schedules(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Schedule]]:
        found = yield from do("lock_due_schedules", kinds=r.dumps(sorted(kinds)), now=r.instant_text(now), limit=limit)
        return [_schedule(row) for row in found]

    def read_schedule(self, name: str) -> Plan[Schedule | None]:
        found = yield from do("read_schedule", name=name)
        return _schedule(found[0]) if found else None

    def read_schedules(self, after: str, kind: str | None, recipient: str | None, limit: int) -> Plan[list[Schedule]]:
        found = yield from do("read_schedules", after=after, kind=kind, recipient=recipient, limit=limit)
        return [_schedule(row) for row in found]

    def change_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        found = yield from do("change_schedules", rows=r.dumps(map(_row, _ordered(schedules))))
        return {row[0] for row in found}

    def advance_schedules(self, schedules: Sequence[Schedule]) -> Plan[set[str]]:
        rows = (
            {"name": one.name, "version": one.version, "cursor_at": one.cursor_at, "next_at": one.next_at}
            for one in _ordered(schedules)
        )
        found = yield from do("advance_schedules", rows=r.dumps(rows))
        return {row[0] for row in found}

    def delete_schedule(self, name: str) -> Plan[bool]:
        return bool((yield from do("delete_schedule", name=name)))

    def audit_schedules(self, after: str, until: str | None, limit: int) -> Plan[list[ScheduleRecord]]:
        found = yield from do("audit_schedules", after=after, until=until, limit=limit)
        return [records.schedule(row) for row in found]

    def record_missed(self, missed: Sequence[Missed]) -> Plan[None]:
        rows = ({item.name: getattr(one, item.name) for item in fields(Missed)} for one in missed)
        yield from do("record_missed", rows=r.dumps(rows))

    def read_missed(self, filters: Mapping[str, str | None], before: int, limit: int) -> Plan[list[tuple[int, Missed]]]:
        wanted = {"source": filters.get("source"), "name": filters.get("name")}
        if (recipient := filters.get("recipient")) is None:
            found = yield from do("read_missed", before=before, limit=limit, **wanted)
        else:
            found = yield from do("read_missed_recipient", recipient=recipient, before=before, limit=limit, **wanted)
        return [(row[0], _missed(row[1:])) for row in found]


def _ordered(schedules: Sequence[Schedule]) -> list[Schedule]:
    return sorted(schedules, key=lambda one: one.name)


def _row(schedule: Schedule) -> dict[str, Any]:
    row = {item.name: getattr(schedule, item.name) for item in fields(Schedule)}
    late = row.pop("max_lateness")
    return row | {
        "recurrence": dump(schedule.recurrence),
        "max_lateness_seconds": None if late is None else int(late.total_seconds()),
    }


def _schedule(row: Sequence[Any]) -> Schedule:
    (
        name, kind, recipient, tenant, namespace, data, recurrence, zone, catch_up, late, most, until_at, version,
        cursor_at, next_at, paused_at, reason, created_at, changed_at, changed_by,
    ) = row  # fmt: skip
    return Schedule(
        name, kind, recipient, tenant, namespace, data, load(recurrence), zone, catch_up,
        None if late is None else timedelta(seconds=late), most, r.instant(until_at), version, r.certain(cursor_at),
        r.instant(next_at), r.instant(paused_at), reason, r.certain(created_at), r.certain(changed_at), changed_by,
    )  # fmt: skip


def _missed(row: Sequence[Any]) -> Missed:
    source, kind, name, recipient, first, last, first_at, last_at, periods, outcome, reason, into, recorded_at = row
    return Missed(
        source, kind, name, recipient, first, last, r.certain(first_at), r.certain(last_at), periods, outcome, reason,
        into, r.certain(recorded_at),
    )  # fmt: skip
