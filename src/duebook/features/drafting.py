"""From what a caller says to a draft the store will take, or an error that names the field and the fix."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ..domain.draft import Draft
from ..domain.policy import Kind
from ..domain.text import KEY_CHARACTERS, NAME_CHARACTERS, RECIPIENT_CHARACTERS, checked, has_nul
from ..domain.walltime import LocalTime, Promise, promise
from ..errors import InvalidInput

_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode

DATA_BYTES = 65_536
FARTHEST = timedelta(days=36_525)


@dataclass(frozen=True, slots=True, kw_only=True)
class New:
    """One notification to schedule. Say when by `at` (a local promise or an instant) or `after` (from now).

    `group`: a cancellation key. `expires_at`: worth nothing afterwards; by default the kind's max_lateness after it
    is due. `tenant`: a label for filters and erasure, no part of the identity.
    """

    kind: str
    key: str
    recipient: str
    at: datetime | LocalTime | None = None
    after: timedelta | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    group: str | None = None
    tenant: str | None = None
    expires_at: datetime | None = None


def when(at: datetime | LocalTime | None, after: timedelta | None, now: datetime) -> Promise:
    """Return the promise meant by `at` or `after`; raises InvalidInput unless exactly one is given and sensible."""
    if (at is None) == (after is None):
        raise InvalidInput("at", "say when: either at=… (a time with a zone) or after=timedelta(…)")
    if after is not None:
        if not isinstance(after, timedelta) or after < timedelta(0):  # type: ignore[redundant-expr]
            raise InvalidInput("after", "must be a length of time from now, such as timedelta(minutes=15)")
        due = Promise(now + after) if after <= FARTHEST else None
    elif isinstance(at, (datetime, LocalTime)):
        due = promise(at)
    else:
        raise InvalidInput("at", f"must be a datetime with a time zone, not {type(at).__name__}")
    if due is None or abs(due.due_at - now) > FARTHEST:
        raise InvalidInput("at", "is more than 100 years away; is the year right?")
    return due


def worthless_from(kind: Kind, expires_at: datetime | None, due_at: datetime) -> datetime | None:
    """Return when a notification is worth nothing any more, if ever."""
    if expires_at is None:
        return due_at + kind.max_lateness if kind.max_lateness is not None else None
    if not isinstance(expires_at, datetime):
        raise InvalidInput("expires_at", f"must be a datetime with a time zone, not {type(expires_at).__name__}")
    if expires_at.tzinfo is None:
        raise InvalidInput("expires_at", "has no time zone; use an aware datetime")
    if expires_at <= due_at:
        raise InvalidInput("expires_at", "is not after the time it is due; it could never be sent")
    try:
        return expires_at.astimezone(UTC)
    except OverflowError:
        raise InvalidInput("expires_at", "is more than 100 years away; is the year right?") from None


def dumped(data: Mapping[str, Any]) -> str:
    """Return data as JSON text, or raise InvalidInput."""
    if not isinstance(data, Mapping):
        raise InvalidInput("data", f"must be a mapping of names to JSON values, not {type(data).__name__}")
    if not data:
        return "{}"
    try:
        text = _encode(dict(data))
        size = len(text) if text.isascii() else len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput("data", f"is not JSON: {error}. Keep ids in it and look the rest up when it fires") from None
    if size > DATA_BYTES:
        raise InvalidInput("data", f"is {size:,} bytes; the limit is {DATA_BYTES:,}. Keep ids in it, not documents")
    if has_nul(text):
        raise InvalidInput("data", "contains the character U+0000, which databases refuse; remove it")
    return text


def draft(new: New, kind: Kind, namespace: str, now: datetime) -> Draft:
    """Return the draft of a new notification; raises InvalidInput naming the field."""
    due = when(new.at, new.after, now)
    return Draft(
        kind=kind.name,
        key=checked("key", new.key, KEY_CHARACTERS),
        recipient=checked("recipient", new.recipient, RECIPIENT_CHARACTERS),
        tenant=new.tenant if new.tenant is None else checked("tenant", new.tenant, NAME_CHARACTERS),
        namespace=namespace,
        channel=kind.channel,
        priority=kind.priority,
        group=new.group if new.group is None else checked("group", new.group, KEY_CHARACTERS),
        data=dumped(new.data),
        promise=due,
        expires_at=worthless_from(kind, new.expires_at, due.due_at),
        wake_at=max(due.due_at, now),
        created_at=now,
    )
