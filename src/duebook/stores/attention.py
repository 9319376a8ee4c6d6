"""The verbs of recipients' attention."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from ..domain.attention import Attention
from ..domain.notification import Intent
from ..domain.policy import AttentionLimit
from ..ports import Plan
from . import rows as r
from .reading import do


class RecipientsAttention:
    def read_attention(
        self, wanted: Mapping[int, tuple[str, AttentionLimit]], now: datetime
    ) -> Plan[dict[int, Attention]]:
        rows = (
            {"id": id, "scope": limit.name, "recipient": recipient, "since": now - limit.per}
            for id, (recipient, limit) in sorted(wanted.items())
        )
        found = yield from do("read_attention", rows=r.dumps(rows))
        return {id: Attention(wanted[id][1], version, _instants(text)) for id, version, text in found}

    def take_attention(self, intents: Sequence[Intent]) -> Plan[set[int]]:
        """Take the attention that intents need; answers the ids of those that have it. Of two that want the same
        recipient's only the first is tried."""
        first: dict[tuple[str, str], Intent] = {}
        for intent in intents:
            assert intent.taking is not None
            first.setdefault((intent.taking.scope, intent.taking.recipient), intent)
        rows = (intent.taking._asdict() for _, intent in sorted(first.items()) if intent.taking is not None)
        found = yield from do("take_attention", rows=r.dumps(rows))
        return {first[scope, recipient].id for scope, recipient in found}

    def record_attention(self, begun: Collection[Intent]) -> Plan[None]:
        rows = (
            {
                "notification_id": intent.id, "scope": intent.taking.scope, "recipient": intent.taking.recipient,
                "at": intent.at,
            }
            for intent in begun
            if intent.taking is not None
        )  # fmt: skip
        yield from do("record_attention", rows=r.dumps(rows))


def _instants(text: str | None) -> Sequence[datetime]:
    return [r.certain(datetime.fromisoformat(at)) for at in json.loads(text)] if text else []
