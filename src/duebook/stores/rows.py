"""Between rows and values: instants, JSON, and the columns of each record."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from ..domain.digests import DigestRecord
from ..domain.draft import Draft
from ..domain.lifecycle import Event, State
from ..domain.notification import Attempt, Intent, Move, Notification
from ..domain.receipt import Receipt
from ..domain.recovery import Evidence
from ..domain.unread import CoverRecord

_BY_HAND = {"by", "at", "promise", "expires_at", "data", "attempt"}
_MOVE_COLUMNS = [(name, index) for index, name in enumerate(Move._fields) if name not in _BY_HAND]


@lru_cache(maxsize=4096)
def instant_text(at: datetime) -> str:
    """Return an instant as UTC text of one width, which sorts as it reads."""
    if at.tzinfo is not UTC:
        at = at.astimezone(UTC)
    return at.isoformat(timespec="microseconds")[:-6] + "Z"


def instant(value: Any) -> datetime | None:
    """Return the instant a driver answered, as text or as a datetime of any zone."""
    if value is None:
        return None
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    return value if value.tzinfo is UTC else value.astimezone(UTC)  # type: ignore[no-any-return]


def certain(value: Any) -> datetime:
    """Return an instant that is never null."""
    found = instant(value)
    assert found is not None
    return found


def dumps(rows: Iterable[Any]) -> str:
    """Return many rows as one JSON text, the only way many values reach a statement."""
    return _encode(list(rows))


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return instant_text(value)
    raise TypeError(f"{type(value).__name__} cannot be stored")


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain).encode


def notification(row: Sequence[Any]) -> Notification:
    """Return the notification of a row whose columns are in the order of the dataclass."""
    (
        id, kind, key, recipient, tenant, namespace, channel, priority, group, data, due_at, wall, zone, rule, tzdata,
        expires_at, state, event, version, wake_at, lease_until, attention_at, review_at, closed_at, holder, alone,
        number, budget_used, age_from, doubt, permit, reason, basis, wanted, cancel_request, message, rendered_at,
        begun_at, first_begun_at, provider_id, created_at, moved_at,
    ) = row  # fmt: skip
    return Notification(
        id, kind, key, recipient, tenant, namespace, channel, priority, group, data, certain(due_at), wall, zone, rule,
        tzdata, instant(expires_at), _STATES[state], _EVENTS[event], version, instant(wake_at), instant(lease_until),
        instant(attention_at), instant(review_at), instant(closed_at), holder, bool(alone), number, budget_used,
        instant(age_from), doubt, permit, reason, basis, _STATES[wanted] if wanted else None, cancel_request, message,
        instant(rendered_at), instant(begun_at), instant(first_begun_at), provider_id, certain(created_at),
        certain(moved_at),
    )  # fmt: skip


_STATES = {state.value: state for state in State}
_EVENTS = {event.value: event for event in Event}


def draft_row(draft: Draft) -> dict[str, Any]:
    promise = draft.promise
    now, due_at = instant_text(draft.created_at), instant_text(promise.due_at)
    row: dict[str, Any] = {
        "kind": draft.kind,
        "key": draft.key,
        "recipient": draft.recipient,
        "namespace": draft.namespace,
        "channel": draft.channel,
        "priority": int(draft.priority),
        "data": draft.data,
        "due_at": due_at,
        "wake_at": due_at if draft.wake_at is promise.due_at else instant_text(draft.wake_at),
        "created_at": now,
    }
    if promise.zone is not None:
        row.update(wall=promise.wall, zone=promise.zone, rule=promise.rule, tzdata=promise.tzdata)
    if draft.expires_at is not None:
        row["expires_at"] = instant_text(draft.expires_at)
    if draft.tenant is not None:
        row["tenant"] = draft.tenant
    if draft.group is not None:
        row["group_key"] = draft.group
    return row


def move_row(move: Move) -> dict[str, Any]:
    """Return what a move changes; absent columns mean what apply.sql says of null."""
    row: dict[str, Any] = {"at": instant_text(move.at)}
    for name, index in _MOVE_COLUMNS:
        value = move[index]
        if value is not None and value is not False:
            row[name] = instant_text(value) if isinstance(value, datetime) else value
    if move.promise is not None:
        promise = move.promise
        row["due_at"] = instant_text(promise.due_at)
        row.update(wall=promise.wall, zone=promise.zone, rule=promise.rule, tzdata=promise.tzdata)
        row["expires_at"] = move.expires_at and instant_text(move.expires_at)
    if move.data is not None:
        row["data"] = move.data
    return row


def accept_row(move: Move) -> dict[str, Any]:
    """Return what differs from one acceptance to the next."""
    row = {"id": move.id, "version": move.version, "at": instant_text(move.at), "discard": move.discard}
    if move.provider_id is not None:
        row["provider_id"] = move.provider_id
    return row


def history_row(move: Move) -> dict[str, Any]:
    row = {name: getattr(move, name) for name in ("id", "version", "by", "event", "state", "next", "reason")}
    return {**row, "at": instant_text(move.at)}


def intent_row(intent: Intent) -> dict[str, Any]:
    """Return what goes on record; instants that are those of the attempt itself are left out."""
    row: dict[str, Any] = {
        "id": intent.id,
        "version": intent.version,
        "number": intent.number,
        "at": instant_text(intent.at),
        "message": intent.message,
    }
    if intent.address is not None:
        row["address"] = intent.address
    if intent.doubt:
        row["rendered_at"] = instant_text(intent.rendered_at)
        row["first_begun_at"] = instant_text(intent.first_begun_at)
    return row


def attempt_row(attempt: Attempt) -> dict[str, Any]:
    row = {name: value for name, value in zip(Attempt._fields, attempt, strict=True) if value is not None}
    row["begun_at"], row["ended_at"] = instant_text(attempt.begun_at), instant_text(attempt.ended_at)
    return row


def attempt(row: Sequence[Any]) -> tuple[Attempt, str | None]:
    """Return an attempt and what evidence made of it."""
    found = Attempt(*row[: len(Attempt._fields)])
    found = found._replace(begun_at=certain(found.begun_at), ended_at=certain(found.ended_at))
    return found, row[len(Attempt._fields)]


def cover(row: Sequence[Any]) -> CoverRecord:
    _, conversation, _, after, to, total, fresh, begun_at = row
    return CoverRecord(conversation, after, to, total, fresh, certain(begun_at))


def digest(row: Sequence[Any]) -> DigestRecord:
    kind, recipient, label, first_label, periods, cutoff_at, total, selected, late, id, outcome, state, reason = row
    return DigestRecord(
        kind, recipient, label, first_label, periods, certain(cutoff_at), total, selected, late, id, outcome,
        State(state) if state else None, reason,
    )  # fmt: skip


def evidence(row: Sequence[Any]) -> Evidence:
    id, number, at, source, says, provider_id, detail = row
    return Evidence(id, number, certain(at), source, says, provider_id, detail)


def page(names: Sequence[str], after: Sequence[str], until: Sequence[str] | None) -> dict[str, str | None]:
    """Return the parameters of a page: the key after which it begins, and the one with which it ends, if one does."""
    starts = dict(zip(names, after, strict=True))
    ends = {f"until_{name}": until[place] if until else None for place, name in enumerate(names)}
    return {**starts, **ends}


def receipt(row: Sequence[Any]) -> Receipt:
    provider, id, event, at, provider_id, reference, address, permanent, detail = row
    return Receipt(
        provider, id, event, certain(at), provider_id, reference, address, bool(permanent), detail or ""
    )  # fmt: skip


def evidence_row(item: Evidence) -> Mapping[str, Any]:
    return {field.name: getattr(item, field.name) for field in fields(Evidence)}
