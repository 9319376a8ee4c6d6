"""Receipts: what providers say later, kept, matched to attempts, and heeded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..domain import receipt as rules
from ..domain.control import EVERYTHING
from ..domain.identity import referred_id
from ..domain.receipt import Receipt, Suppression, SuppressionRecord
from ..domain.text import KEY_CHARACTERS, NAME_CHARACTERS, REASON_CHARACTERS, RECIPIENT_CHARACTERS, checked, clean
from ..errors import InvalidInput
from ..ports import Plan, Store
from .context import Context
from .work import Wakes, Work

PAGE = 100
LARGEST_PAGE = 10_000


@dataclass(frozen=True, slots=True)
class Recorded:
    """What became of receipts. `new`: they were not known. `matched`: of those, how many are about a message on record;
    the others are kept, and matched if it turns up. `suppressed`: addresses that are written to no more from now on."""

    new: int
    matched: int
    suppressed: int


class ReceiptRoom:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def record(self, receipts: Sequence[Receipt]) -> Work[Recorded]:
        """Keep what a provider says, once each, in whatever order it comes. It confirms what was uncertain; an address
        that bounced for good is written to no more, and a reader who complained gets no more of that kind."""
        safe = list({(one.provider, one.id): one for one in map(_safe, receipts)}.values())

        def plan(wakes: Wakes) -> Plan[Recorded]:
            now = self.context.clock.now()
            known = yield from self.context.store.put_receipts(safe, now)
            fresh = [one for one in safe if (one.provider, one.id) in known]
            matched, suppressed = yield from match(self.context.store, fresh, self.context.by, now)
            return Recorded(len(fresh), matched, suppressed)

        return Work(plan)

    def of(self, notification_id: int) -> Work[list[tuple[int, Receipt]]]:
        """Return what was said later about a notification, each with the number of its attempt."""
        return Work(lambda wakes: self.context.store.read_receipts(notification_id), atomic=False)

    def suppress(self, channel: str, address: str, *, reason: str, kind: str | None = None) -> Work[int]:
        """Write to an address no more over a channel: nothing of one kind, or nothing at all."""
        checked("channel", channel, NAME_CHARACTERS)
        checked("address", address, RECIPIENT_CHARACTERS)
        checked("reason", reason, REASON_CHARACTERS)
        scope = EVERYTHING if kind is None else self.context.kind(kind).name
        one, now = Suppression(channel, address.lower(), scope, reason), self.context.clock.now()
        return Work(lambda wakes: self.context.store.suppress([one], self.context.by, now))

    def unsuppress(self, channel: str, address: str, *, kind: str | None = None) -> Work[int]:
        """Write to an address again; answers how many suppressions were lifted."""
        checked("address", address, RECIPIENT_CHARACTERS)
        return Work(lambda wakes: self.context.store.unsuppress(channel, address.lower(), kind))

    def suppressions(
        self,
        *,
        channel: str | None = None,
        address: str | None = None,
        after: tuple[str, str, str] = ("", "", ""),
        limit: int = PAGE,
    ) -> Work[list[SuppressionRecord]]:
        """Return a page of addresses that are written to no more, in the order of channel, address and scope."""
        if not 0 < limit <= LARGEST_PAGE:
            raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")
        filters = {"channel": channel, "address": None if address is None else address.lower()}
        return Work(lambda wakes: self.context.store.search_suppressions(filters, after, limit), atomic=False)


def match(store: Store, receipts: Sequence[Receipt], by: str, now: datetime) -> Plan[tuple[int, int]]:
    """Find the attempts that receipts are about, and heed what they say; answers how many were matched, and how many
    addresses are suppressed by them."""
    ids = {id for one in receipts if one.reference and (id := referred_id(one.reference)) is not None}
    provider_ids = {one.provider_id for one in receipts if one.provider_id}
    if not ids and not provider_ids:
        return 0, 0
    attempts = yield from store.read_referred_attempts(sorted(ids), sorted(provider_ids))
    matches = [(one, found) for one in receipts if (found := rules.matched(one, attempts)) is not None]
    if not matches:
        return 0, 0
    yield from store.match_receipts(matches)
    learned = [item for one, found in matches if (item := rules.evidence(one, found, now)) is not None]
    if learned:
        yield from store.record_evidence(learned)
    closed = {other for one, found in matches if (other := rules.suppression(one, found)) is not None}
    suppressed = 0
    if closed:
        ordered = sorted(closed, key=lambda item: (item.channel, item.address, item.scope))
        suppressed = yield from store.suppress(ordered, by, now)
    return len(matches), suppressed


def _safe(one: Receipt) -> Receipt:
    """Return a receipt whose texts can be stored: they are a provider's."""
    return replace(
        one, id=clean(one.id, KEY_CHARACTERS), detail=clean(one.detail),
        address=one.address and clean(one.address, RECIPIENT_CHARACTERS).lower(),
    )  # fmt: skip
