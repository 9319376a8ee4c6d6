"""Receipts: what providers said later."""

from __future__ import annotations

from ..domain.receipt import Receipt
from .exits import Exit
from .options import Key, KindName
from .output import Reply, Table, plain
from .program import group
from .session import Session
from .wording import first_line, instant

receipts = group(
    "receipts",
    "Owners",
    "See what a provider said later about a message it had taken.",
    "duebook receipts show renewal sub-1842/2027",
)


@receipts("duebook receipts show renewal sub-1842/2027")
async def show(session: Session, kind: KindName, key: Key) -> Reply:
    """Show what was said later about a notification, and about which of its attempts."""
    await session.kind(kind, key)
    n = await session.verbs.find(kind, key)
    document = {"kind": kind, "key": key}
    if n is None:
        said = f"There is no {kind}/{key}, or retention removed it: duebook explain {kind} {key}"
        return Reply({**document, "receipts": [], "result": "not_found"}, [said], Exit.REFUSED)
    found = await session.verbs.receipts.of(n.id)
    documents = [{**plain(one), "number": number} for number, one in found]
    body = [_table(found)] if found else ["Nothing has been said about it."]
    return Reply({**document, "receipts": documents}, body)


def _table(found: list[tuple[int, Receipt]]) -> Table:
    rows = [
        [instant(one.at), str(number), one.event, one.provider, one.address or "", first_line(one.detail, 80)]
        for number, one in found
    ]
    return Table(["at", "attempt", "event", "provider", "address", "detail"], rows)
