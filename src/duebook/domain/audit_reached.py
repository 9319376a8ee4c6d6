"""What must hold of receipts and suppressions on record, and what an audit reads of them."""

from __future__ import annotations

from typing import NamedTuple

from .audited import Surroundings

_PRUNED_LEDGER = 2


class ReceiptEntry(NamedTuple):
    """A receipt that was matched, as an audit reads it. `pruned`: of its notification, where that is there."""

    provider: str
    id: str
    notification_id: int
    number: int
    pruned: int | None
    has_attempt: bool

    @property
    def subject(self) -> str:
        return f"receipt {self.provider}/{self.id}"


class SuppressionEntry(NamedTuple):
    """An address that is written to no more, as an audit reads it."""

    channel: str
    address: str
    scope: str

    @property
    def subject(self) -> str:
        return f"suppression {self.channel}/{self.address}"


def receipt_has_its_attempt(receipt: ReceiptEntry, _: Surroundings) -> str | None:
    """What a receipt is about is on record: an attempt that ended, or the one on the wire."""
    if receipt.pruned is None:
        return f"it is about notification {receipt.notification_id}, which does not exist"
    if receipt.has_attempt or receipt.pruned >= _PRUNED_LEDGER:
        return None
    return f"it is about attempt {receipt.number} of notification {receipt.notification_id}, which was never made"


def suppression_can_be_met(suppression: SuppressionEntry, _: Surroundings) -> str | None:
    """A suppressed address is written as messages are compared with it: in small letters."""
    return None if suppression.address == suppression.address.lower() else "its capital letters match no message"


RECEIPT_CHECKS = (receipt_has_its_attempt,)
SUPPRESSION_CHECKS = (suppression_can_be_met,)
