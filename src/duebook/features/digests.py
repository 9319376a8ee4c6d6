"""Digests: what is to be told together, once for each period."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from ..domain import digests, zones
from ..domain.decision import DigestItem
from ..domain.digests import Cursor, DigestRecord, ItemRecord, NewItem, Preview, Selection
from ..domain.policy import DigestPolicy, Kind
from ..domain.text import NAME_CHARACTERS, RECIPIENT_CHARACTERS, checked
from ..errors import InvalidInput
from ..ports import Plan
from .context import Context
from .drafting import FARTHEST, dumped
from .work import Wakes, Work

CHUNK = 1_000
PAGE = 100
LARGEST_PAGE = 10_000
ITEM_CHARACTERS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something to be told in a digest. `item`: its name, once for each recipient and kind, for ever. `ready_at`: since
    when it may be told; now, unless stated. `score`: the higher, the sooner in. `zone`: the recipient's, where the kind
    goes by it."""

    kind: str
    recipient: str
    item: str
    ready_at: datetime | None = None
    score: float = 0.0
    data: Mapping[str, Any] = field(default_factory=dict)
    zone: str | None = None
    tenant: str | None = None


@dataclass(frozen=True, slots=True)
class Added:
    """What became of an item. `created`: it is new. `close_at`: the end of the period it belongs to."""

    created: bool
    item: str
    close_at: datetime

    @property
    def existing(self) -> bool:
        return not self.created


class DigestRoom:
    """Each method returns Work; app/twins.py makes a method that is awaited of it, and one that is not."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def add(
        self,
        kind: str,
        recipient: str,
        item: str,
        *,
        ready_at: datetime | None = None,
        score: float = 0.0,
        data: Mapping[str, Any] | None = None,
        zone: str | None = None,
        tenant: str | None = None,
    ) -> Work[Added]:
        """Add something to a recipient's next digest of a kind; see Item for the arguments. The same item twice is
        answered `existing`, also after it was told. Raises InvalidInput naming the field; then nothing is stored."""
        new = Item(
            kind=kind, recipient=recipient, item=item, ready_at=ready_at, score=score, data=data or {}, zone=zone,
            tenant=tenant,
        )  # fmt: skip
        one = new_item(new, self.context, self.context.clock.now())

        def plan(wakes: Wakes) -> Plan[Added]:
            return (yield from self._add([one]))[0]

        return Work(plan)

    def add_many(self, items: Iterable[Item]) -> Work[list[Added]]:
        """Add many, all or none. Raises InvalidInput naming the position and the field of the first that cannot be
        stored."""
        now = self.context.clock.now()
        given: list[NewItem] = []
        for position, one in enumerate(items):
            try:
                given.append(new_item(one, self.context, now))
            except InvalidInput as error:
                raise InvalidInput(f"[{position}].{error.field}", error.problem) from None

        def plan(wakes: Wakes) -> Plan[list[Added]]:
            answers: dict[int, Added] = {}
            for part in _parts(given):
                added = yield from self._add([given[position] for position in part])
                answers.update(zip(part, added, strict=True))
            return [answers[position] for position in range(len(given))]

        return Work(plan)

    def search(
        self,
        *,
        kind: str | None = None,
        recipient: str | None = None,
        before: int = 2**62,
        limit: int = PAGE,
    ) -> Work[list[DigestRecord]]:
        """Return a page of digests, the newest first; ask for those `before` the last one's notification_id to get the
        next page."""
        _checked_page(limit)
        return Work(lambda wakes: self.context.store.find_digests(kind, recipient, before, limit), atomic=False)

    def find(self, kind: str, recipient: str, label: str) -> Work[DigestRecord | None]:
        """Return the digest of a recipient and a period, or None."""
        return Work(lambda wakes: self.context.store.read_digest(kind, recipient, label), atomic=False)

    def item(self, kind: str, recipient: str, item: str) -> Work[ItemRecord | None]:
        """Return what is on record about an item: which digest holds it, or why none does."""
        return Work(lambda wakes: self.context.store.read_item(kind, recipient, item), atomic=False)

    def selection(self, notification_id: int) -> Work[Selection | None]:
        """Return what the digest of a notification froze, or None if it is none."""

        def plan(wakes: Wakes) -> Plan[Selection | None]:
            return (yield from self.context.store.read_selections([notification_id])).get(notification_id)

        return Work(plan, atomic=False)

    def waiting(self, kind: str, recipient: str, *, limit: int = PAGE) -> Work[list[DigestItem]]:
        """Return what waits for a recipient's next digests, in the order it would be taken."""
        _checked_page(limit)
        name = policy_of(self.context, kind)[0].name
        return Work(lambda wakes: self.context.store.read_waiting_items(name, recipient, limit), atomic=False)

    def due(
        self, until: datetime, *, kind: str | None = None, recipient: str | None = None, limit: int = PAGE
    ) -> Work[list[Cursor]]:
        """Return for whom a period with something in it ends until an instant, the earliest first."""
        _checked_page(limit)
        return Work(lambda wakes: self.context.store.read_cursors(until, kind, recipient, limit), atomic=False)

    def preview(self, until: datetime, *, kind: str | None = None, limit: int = PAGE) -> Work[list[Preview]]:
        """Return the next digest of each recipient whose period ends until an instant, as it would be with what waits
        now. Messages that have been read are counted in. Of kinds that this program declares; nothing is closed."""
        _checked_page(limit)
        now, store = self.context.clock.now(), self.context.store

        def plan(wakes: Wakes) -> Plan[list[Preview]]:
            found: list[Preview] = []
            for cursor in (yield from store.read_cursors(until, kind, None, limit)):
                known = self.context.kinds.get(cursor.kind)
                if known is None or known.digest is None:
                    continue
                items = yield from store.read_waiting_items(cursor.kind, cursor.recipient, LARGEST_PAGE)
                if one := digests.preview(cursor, known.digest, items, now):
                    found.append(one)
            return found

        return Work(plan, atomic=False)

    def undelivered(self) -> Work[dict[str, tuple[int, int]]]:
        """Return how many digests were selected and never delivered, and how many items were in them, by kind."""
        return Work(lambda wakes: self.context.store.count_undelivered(), atomic=False)

    def _add(self, items: Sequence[NewItem]) -> Plan[list[Added]]:
        first: dict[tuple[str, str, str], int] = {}
        for position, one in enumerate(items):
            first.setdefault((one.kind, one.recipient, one.item), position)
        created = yield from self.context.store.add_items([items[position] for position in first.values()])
        return [
            Added(
                (one.kind, one.recipient, one.item) in created and first[one.kind, one.recipient, one.item] == position,
                one.item,
                one.close_at,
            )
            for position, one in enumerate(items)
        ]


def new_item(new: Item, context: Context, now: datetime) -> NewItem:
    """Return an item as the store takes it; raises InvalidInput naming the field."""
    kind, policy = policy_of(context, new.kind)
    recipient = checked("recipient", new.recipient, RECIPIENT_CHARACTERS)
    ready_at = _checked_ready(new.ready_at, now)
    score = _checked_score(new.score)
    zone = policy.zone or new.zone
    if zone is None:
        raise InvalidInput("zone", f"kind {kind.name!r} goes by each recipient's clock; state it: zone='Europe/Berlin'")
    zones.zone(zone)
    expires_at = ready_at + policy.expire_after if policy.expire_after is not None else None
    return NewItem(
        kind.name, recipient, checked("item", new.item, ITEM_CHARACTERS), ready_at, score, dumped(new.data),
        expires_at, now, new.tenant if new.tenant is None else checked("tenant", new.tenant, NAME_CHARACTERS),
        context.namespace, zone, digests.cutoff_after(policy, zone, max(ready_at, now)),
    )  # fmt: skip


def policy_of(context: Context, name: str) -> tuple[Kind, DigestPolicy]:
    """Return a kind that gathers digests, and how; raises InvalidInput for one that does not."""
    kind = context.kind(name)
    if kind.digest is None:
        raise InvalidInput("kind", f"{name!r} gathers no digests; give it digest=DigestPolicy(…)")
    return kind, kind.digest


def _checked_score(score: object) -> float:
    try:
        found = float(score) if isinstance(score, (int, float)) else math.nan
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise InvalidInput("score", "must be a finite number, such as 0.5")
    return found


def _checked_ready(ready_at: datetime | None, now: datetime) -> datetime:
    if ready_at is None:
        return now
    if not isinstance(ready_at, datetime) or ready_at.tzinfo is None:  # type: ignore[redundant-expr]
        raise InvalidInput("ready_at", "must be a datetime with a time zone, such as datetime.now(UTC)")
    if abs(ready_at - now) > FARTHEST:
        raise InvalidInput("ready_at", "is more than 100 years away; is the year right?")
    return ready_at.astimezone(UTC)


def _checked_page(limit: int) -> None:
    if not 0 < limit <= LARGEST_PAGE:
        raise InvalidInput("limit", f"must be between 1 and {LARGEST_PAGE}")


def _parts(items: Sequence[NewItem]) -> Iterator[Sequence[int]]:
    """Return the places of the items, a bounded number at a time, in the order of the recipients: so two callers with
    overlapping sets wait for each other."""
    ordered = sorted(range(len(items)), key=lambda position: (items[position].kind, items[position].recipient))
    for start in range(0, len(ordered), CHUNK):
        yield ordered[start : start + CHUNK]
