"""The verbs of people and their wishes."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime, time
from typing import Any

from ..domain.people import Person, QuietHours
from ..ports import Plan
from . import rows as r
from .reading import do


class People:
    def put_person(self, person: Person, by: str, now: datetime) -> Plan[None]:
        quiet = person.quiet
        ends = (None, None) if quiet is None else (quiet.start.isoformat("minutes"), quiet.end.isoformat("minutes"))
        yield from do(
            "put_person", recipient=person.recipient, zone=person.zone, locale=person.locale,
            addresses=json.dumps(dict(person.addresses), ensure_ascii=False), preferred=person.preferred,
            quiet_from=ends[0], quiet_until=ends[1],
            by=by, now=r.instant_text(now),
        )  # fmt: skip

    def opt_out(self, recipient: str, scope: str, reason: str, by: str, now: datetime) -> Plan[bool]:
        found = yield from do(
            "opt_out", recipient=recipient, scope=scope, reason=reason, by=by, now=r.instant_text(now)
        )
        return bool(found)

    def opt_in(self, recipient: str, scope: str) -> Plan[bool]:
        return bool((yield from do("opt_in", recipient=recipient, scope=scope)))

    def read_people(self, recipients: Collection[str]) -> Plan[dict[str, Person]]:
        found = yield from do("read_people", recipients=r.dumps(sorted(recipients)))
        return {row[0]: _person(row) for row in found}


def _person(row: Sequence[Any]) -> Person:
    recipient, zone, locale, addresses, preferred, start, end, scopes, changed_at = row
    quiet = QuietHours(time.fromisoformat(start), time.fromisoformat(end)) if start else None
    known, opted_out = json.loads(addresses or "{}"), tuple(json.loads(scopes or "[]"))
    return Person(recipient, zone, locale, known, preferred, quiet, opted_out, r.instant(changed_at))
