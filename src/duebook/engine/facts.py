"""What is on record beside a notification and must be read when it fires, not when it was scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..domain import deadlines, digests, unread
from ..domain.deciding import Facts
from ..domain.notification import Notification
from ..domain.policy import Kind
from ..ports import Plan, Store


def gather(store: Store, found: Sequence[Notification], kinds: Mapping[str, Kind]) -> Plan[dict[int, Facts]]:
    """Read the facts of a batch, a statement for each sort of them; answers them by the notification's id."""
    facts: dict[int, Facts] = {}
    names = {n.id: (n.kind, name) for n in found if kinds[n.kind].deadline and (name := deadlines.name_of(n))}
    if names:
        known = yield from store.read_deadlines(set(names.values()))
        facts |= {id: known[name] for id, name in names.items() if name in known}
    about = [one for n in found if kinds[n.kind].unread and (one := unread.about(n)) is not None]
    if about:
        facts |= yield from store.read_unread(about)
    gathered = [n.id for n in found if kinds[n.kind].digest and digests.is_digest(n)]
    if gathered:
        facts |= yield from store.read_selections(gathered)
    return facts
