"""The verbs of unread messages, watermarks and covers."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from ..domain.audit_gathered import CoverEntry
from ..domain.lifecycle import State
from ..domain.notification import Intent
from ..domain.unread import About, Cover, ReadUpTo, Seen, Told, Watermark
from ..ports import Plan
from . import rows as r
from .reading import FARTHEST, do


class UnreadMessages:
    def post_message(
        self, kind: str, conversation: str, message: str, author: str, position: int | None, now: datetime
    ) -> Plan[int | None]:
        found = yield from do(
            "post_message", kind=kind, conversation=conversation, message=message, author=author,
            position=_text(position), now=r.instant_text(now),
        )  # fmt: skip
        return int(found[0][0]) if found else None

    def delete_message(self, kind: str, conversation: str, message: str, now: datetime) -> Plan[bool]:
        found = yield from do(
            "delete_message", kind=kind, conversation=conversation, message=message, now=r.instant_text(now)
        )
        return bool(found)

    def mark_read(self, reading: ReadUpTo, group: str, reason: str, by: str, now: datetime) -> Plan[int | None]:
        found = yield from do(
            "mark_read", kind=reading.kind, conversation=reading.conversation, recipient=reading.recipient,
            message=reading.message, position=_text(reading.position), group=group, reason=reason, by=by,
            now=r.instant_text(now),
        )  # fmt: skip
        return int(found[0][0]) if found and found[0][1] else None

    def read_unread(self, about: Collection[About]) -> Plan[dict[int, Seen]]:
        by_id = {item.id: item for item in about}
        found = yield from do("read_unread", rows=r.dumps(item._asdict() for item in about))
        return {row[0]: _seen(row, by_id[row[0]]) for row in found}

    def read_watermark(self, kind: str, conversation: str, recipient: str) -> Plan[Watermark | None]:
        found = yield from do("read_watermark", kind=kind, conversation=conversation, recipient=recipient)
        if not found:
            return None
        up_to, version, cover_id, covered_to, read_at = found[0]
        return Watermark(up_to, version, cover_id, covered_to, r.instant(read_at))

    def audit_covers(self, after: int, until: int | None, limit: int) -> Plan[list[CoverEntry]]:
        found = yield from do("audit_covers", after=after, until=until or FARTHEST, limit=limit)
        return [CoverEntry(*row) for row in found]

    def take_cover(self, intents: Sequence[Intent]) -> Plan[set[int]]:
        """Let intents speak for their conversations; answers the ids of those that do. Of two about one conversation
        and recipient only the first is tried."""
        first: dict[tuple[str, str, str], Intent] = {}
        for intent in intents:
            assert intent.cover is not None
            first.setdefault((intent.notification.kind, intent.cover.conversation, intent.cover.recipient), intent)
        found = yield from do("take_cover", rows=r.dumps(_cover_rows(first[name] for name in sorted(first))))
        return {row[0] for row in found}

    def record_covers(self, begun: Iterable[Intent]) -> Plan[None]:
        yield from do("record_covers", rows=r.dumps(map(_covered_row, begun)))


def _text(position: int | None) -> str | None:
    """A parameter that may be null is text: a statement is prepared for one type."""
    return None if position is None else str(position)


def _cover_rows(intents: Iterable[Intent]) -> Iterable[dict[str, Any]]:
    for intent in intents:
        cover = intent.cover
        assert cover is not None
        yield {
            "id": intent.id, "kind": intent.notification.kind, "conversation": cover.conversation,
            "recipient": cover.recipient, "version": cover.version,
        }  # fmt: skip


def _covered_row(intent: Intent) -> dict[str, Any]:
    cover = intent.cover
    assert cover is not None
    return {
        "notification_id": intent.id, "kind": intent.notification.kind, "conversation": cover.conversation,
        "recipient": cover.recipient, "after_position": cover.after, "to_position": cover.to, "total": cover.total,
        "fresh": cover.fresh, "begun_at": intent.at,
    }  # fmt: skip


def _seen(row: Sequence[Any], about: About) -> Seen:
    _, up_to, version, covered_to, told, open_covers, gone, last_position, total, fresh = row
    return Seen(
        about.conversation, about.message, about.position, bool(gone), up_to, version,
        Told(*json.loads(told)) if told is not None else None, covered_to,
        [_cover(cover) for cover in json.loads(open_covers or "[]")], last_position, total, fresh,
    )  # fmt: skip


def _cover(row: Sequence[Any]) -> Cover:
    id, to, key, state, doubt = row
    return Cover(id, to, key, State(state), doubt)
