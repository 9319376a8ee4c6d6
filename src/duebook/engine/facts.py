"""What is on record beside a notification and must be read when it fires, not when it was scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain.deadlines import Deadline, name_of
from ..domain.notification import Notification
from ..domain.policy import Kind
from ..ports import Plan, Store

Facts = Deadline


def wanted(found: Sequence[Notification], kinds: Mapping[str, Kind]) -> dict[int, tuple[str, str]]:
    """Return, by id, the names of the deadlines that notifications are steps of."""
    names = ((n, name_of(n)) for n in found if kinds[n.kind].deadline is not None)
    return {n.id: (n.kind, name) for n, name in names if name is not None}


def gather(store: Store, names: Mapping[int, tuple[str, str]]) -> Plan[dict[int, Facts]]:
    """Read the facts of a batch at once; answers them by the notification's id."""
    known = yield from store.read_deadlines(set(names.values()))
    return {id: known[name] for id, name in names.items() if name in known}
