"""The verbs of deadlines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ..domain.audit_time import DeadlineRecord
from ..domain.deadlines import Deadline
from ..ports import Plan
from . import records
from . import rows as r
from .reading import do


class Deadlines:
    def put_deadlines(self, deadlines: Sequence[Deadline]) -> Plan[None]:
        yield from do("put_deadlines", rows=r.dumps(map(_row, deadlines)))

    def lock_deadlines(self, names: Collection[tuple[str, str]]) -> Plan[dict[tuple[str, str], Deadline]]:
        return _by_name((yield from do("lock_deadlines", rows=_names(names))))

    def read_deadlines(self, names: Collection[tuple[str, str]]) -> Plan[dict[tuple[str, str], Deadline]]:
        return _by_name((yield from do("read_deadlines", rows=_names(names))))

    def list_deadlines(
        self, after: tuple[str, str], filters: Mapping[str, str | None], limit: int
    ) -> Plan[list[Deadline]]:
        kind, key = after
        wanted = {name: filters.get(name) for name in ("kind", "recipient", "state")}
        found = yield from do("list_deadlines", after_kind=kind, after_key=key, limit=limit, **wanted)
        return [_deadline(row) for row in found]

    def change_deadlines(self, deadlines: Sequence[Deadline]) -> Plan[None]:
        ordered = sorted(deadlines, key=lambda one: (one.kind, one.key))
        yield from do("change_deadlines", rows=r.dumps(map(_row, ordered)))

    def audit_deadlines(
        self, after: tuple[str, str], until: tuple[str, str] | None, limit: int
    ) -> Plan[list[DeadlineRecord]]:
        (kind, key), (until_kind, until_key) = after, until or (None, None)
        found = yield from do(
            "audit_deadlines", kind=kind, key=key, until_kind=until_kind, until_key=until_key, limit=limit
        )
        return [records.deadline(row) for row in found]


def _names(names: Collection[tuple[str, str]]) -> str:
    return r.dumps({"kind": kind, "key": key} for kind, key in sorted(names))


def _by_name(rows: Sequence[Sequence[Any]]) -> dict[tuple[str, str], Deadline]:
    found = map(_deadline, rows)
    return {(one.kind, one.key): one for one in found}


def _row(deadline: Deadline) -> dict[str, Any]:
    return {item.name: getattr(deadline, item.name) for item in fields(Deadline)}


def _deadline(row: Sequence[Any]) -> Deadline:
    kind, key, recipient, tenant, namespace, data, wall, zone, ends_at, *rest = row
    term, first_term, state, reason, created_at, changed_at, changed_by = rest
    return Deadline(
        kind, key, recipient, tenant, namespace, data, wall, zone, r.certain(ends_at), term, first_term, state, reason,
        r.certain(created_at), r.certain(changed_at), changed_by,
    )  # fmt: skip
