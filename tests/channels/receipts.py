"""What tests of receipts share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from .support import context

AT = datetime(2026, 9, 9, 11, 58, tzinfo=UTC)
REFERENCE = context().reference
ADDRESS = "ann@example.net"


def brief(receipts: list[Any]) -> list[tuple[str, bool]]:
    """Return of each receipt its event, and whether it is permanent."""
    return [(receipt.event, receipt.permanent) for receipt in receipts]
