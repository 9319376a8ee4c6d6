"""Whether this database is still the one it was: a restored backup or a promoted standby may have forgotten what has
been sent, so nothing goes out of it until a person has looked at what is overdue."""

from __future__ import annotations

from datetime import datetime

from ..domain.control import EVERYTHING
from ..ports import Incarnation, Plan, Store

REASON = (
    "this database was restored from a backup, or another server took over: it may have forgotten what was sent. "
    "Look at what is overdue (duebook status), then: duebook resume"
)


def adopt(store: Store, found: Incarnation, by: str, now: datetime) -> Plan[bool]:
    """Note which database this is. If it was another when somebody last looked, pause everything; says whether."""
    before = yield from store.read_incarnation()
    changed = before is not None and before[0] not in found.known
    if changed:
        yield from store.set_pause(EVERYTHING, True, REASON, by, now)
    yield from store.write_incarnation(found.identity, now)
    return changed
