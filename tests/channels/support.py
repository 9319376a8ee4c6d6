"""What every test of a channel needs: a context, messages, and the kind of outcome in one word."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from duebook.domain.identity import idempotency_key, message_id, reference
from duebook.domain.message import Email, Webhook
from duebook.ports import SendContext

FROZEN_AT = datetime(2027, 1, 14, 14, 0, 0, tzinfo=UTC)
NOW = datetime(2026, 9, 9, 11, 59, 15, tzinfo=UTC)
SHORT = 0.6


def context(key: str = "sub-1842/2027", **changes: Any) -> SendContext:
    name = idempotency_key("test", "renewal", key)
    plain = SendContext(
        kind="renewal",
        key=key,
        recipient="acct-1842",
        number=1,
        idempotency_key=name,
        message_id=message_id(name, "duebook.example"),
        now=NOW,
        deadline_seconds=5.0,
        rendered_at=FROZEN_AT,
        reference=reference(7, name),
    )
    return replace(plain, **changes)


def email(**changes: Any) -> Email:
    values = {"to": "ann@example.net", "subject": "Renewal", "text": "Your plan renews on Monday.\n", **changes}
    return Email(**values)


def webhook(**changes: Any) -> Webhook:
    return Webhook(**{"body": {"event": "renewal.due", "days": 30}, **changes})


def word(outcome: object) -> str:
    return type(outcome).__name__
