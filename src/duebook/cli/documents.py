"""Records as JSON documents, and as rows of tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..domain.notification import Notification
from ..domain.ownership import Answer, Scheduled
from ..domain.story import Story
from .output import Table, plain
from .wording import first_line, instant

_BODIES = ("data", "message")


def notification(n: Notification, *, bodies: bool = True) -> dict[str, Any]:
    """Return a notification; without `bodies` its message and data are left out."""
    document: dict[str, Any] = plain(n)
    for name in _BODIES:
        text = document.pop(name)
        if bodies:
            document[name] = json.loads(text) if text else None
    return document


def notifications(found: list[Notification]) -> Table:
    rows = [
        [
            f"{n.kind}/{n.key}", n.state.value, instant(n.due_at), n.recipient, n.channel, str(n.number),
            first_line(n.reason or "", 60),
        ]
        for n in found
    ]  # fmt: skip
    return Table(["identity", "state", "due", "recipient", "channel", "attempts", "reason"], rows)


def answer(kind: str, key: str, given: Answer) -> dict[str, Any]:
    return {"kind": kind, "key": key, "result": given.result, "state": plain(given.state), "reason": given.reason}


def scheduled(given: Scheduled) -> Mapping[str, Any]:
    document: dict[str, Any] = plain(given)
    return document


def story(told: Story, lines: list[str]) -> dict[str, Any]:
    attempts = [
        {**plain(attempt), "resolution": resolution}
        for attempt, resolution in zip(told.attempts, told.resolutions, strict=True)
    ]
    return {
        "identity": plain(told.identity),
        "notification": notification(told.notification) if told.notification else None,
        "attempts": attempts,
        "history": plain(list(told.history)),
        "evidence": plain(list(told.evidence)),
        "receipts": [{**plain(receipt), "number": number} for number, receipt in told.receipts],
        "pruned": told.pruned,
        "cover": plain(told.cover),
        "digest": plain(told.digest),
        "told": lines,
    }
