"""Asking what is to be done about a notification: what is on record first, and then the application's handler."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from typing import Any

from ..domain import attention, deciding, people, unread
from ..domain.deciding import Facts
from ..domain.notification import Notification
from ..domain.policy import Kind
from ..domain.unread import Seen
from ..ports import Handler
from .claiming import Held


async def ask(handler: Handler, held: Held, kind: Kind, now: datetime) -> object:
    """Return what the handler answers, unless what is on record decides."""
    n, person = held.n, held.person
    held.facts = await completed(held.facts, n, kind)
    decided = deciding.foregone(n, held.facts, now)
    if decided is None and person is not None and not n.doubt:
        decided = people.foregone(n, person, kind, now)
    if decided is None and held.attention is not None and not n.doubt:
        decided = attention.foregone(held.attention)
    return decided if decided is not None else await handler(deciding.due(n, held.facts, now, person))


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
