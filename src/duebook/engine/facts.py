"""What is on record beside a notification and must be read when it fires, not when it was scheduled."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..domain import deadlines, digests, unread
from ..domain.deciding import Facts
from ..domain.notification import Notification
from ..domain.policy import Kind
from ..domain.unread import Seen
from ..ports import Plan, Store


def gather(store: Store, found: Sequence[Notification], kinds: Mapping[str, Kind]) -> Plan[dict[int, Facts]]:
    """Read the facts of a batch, a statement for each sort of them; answers them by the notification's id."""
    facts: dict[int, Facts] = {}
    names = {n.id: (n.kind, name) for n in found if kinds[n.kind].deadline and (name := deadlines.name_of(n))}
    if names:
        known = yield from store.read_deadlines(set(names.values()))
        facts |= {id: known[name] for id, name in names.items() if name in known}
    about = [unread.about(n) for n in found if kinds[n.kind].unread and unread.is_reminder(n)]
    if about:
        facts |= yield from store.read_unread(about)
    gathered = [n.id for n in found if kinds[n.kind].digest and digests.is_digest(n)]
    if gathered:
        facts |= yield from store.read_selections(gathered)
    return facts


async def completed(facts: Facts | None, n: Notification, kind: Kind) -> Facts | None:
    """Return the facts with what the application keeps itself."""
    policy = kind.unread
    if policy is None or not isinstance(facts, Seen) or (policy.count_unread is None and policy.read_up_to is None):
        return facts
    up_to = await _asked(policy.read_up_to, facts.conversation, n.recipient)
    total = await _asked(policy.count_unread, facts.conversation, n.recipient)
    return unread.counted_elsewhere(facts, up_to, total)


async def _asked(function: Callable[[str, str], Any] | None, conversation: str, recipient: str) -> int | None:
    if function is None:
        return None
    answer = function(conversation, recipient)
    found: int = await answer if inspect.isawaitable(answer) else answer
    return found
