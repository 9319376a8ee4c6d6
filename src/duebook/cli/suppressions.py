"""Addresses that are written to no more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from ..domain.receipt import SuppressionRecord
from . import paging
from .exits import Exit
from .operating import named
from .options import Channel, KindOption
from .output import Reply, Table, plain
from .program import group
from .session import Session
from .wording import count, first_line, instant

suppressions = group(
    "suppressions",
    "Operators",
    "See which addresses are written to no more, and why; add one, or lift it.",
    "duebook suppressions list --channel email",
    "duebook suppressions remove email ann@example.com",
)

ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="The channel, such as email.")]
Address = Annotated[str, typer.Argument(metavar="ADDRESS", help="The address; small and capital letters are the same.")]


@suppressions("duebook suppressions list", "duebook suppressions list --address ann@example.com", name="list")
async def list_suppressions(
    session: Session,
    channel: Channel = None,
    address: Annotated[str | None, typer.Option("--address", help="One address.")] = None,
) -> Reply:
    """List the addresses that are written to no more, in the order of channel and address."""

    async def read(after: tuple[str, str, str]) -> Sequence[SuppressionRecord]:
        return await session.verbs.receipts.suppressions(
            channel=channel, address=address, after=after, limit=paging.PAGE
        )

    found = paging.pages(read, ("", "", ""), _place)
    return await paging.told(session.screen, "suppressions", found, _document, _table)


@suppressions('duebook suppressions add email ann@example.com --reason "she asked us on the phone" --kind news')
async def add(
    session: Session,
    channel: ChannelName,
    address: Address,
    reason: Annotated[str, typer.Option("--reason", help="Why. It stays on record.")],
    kind: KindOption = None,
) -> Reply:
    """Write to an address no more over a channel: nothing of one kind, or nothing at all, not even the essential."""
    await session.channel(channel)
    if kind is not None:
        await session.kind(kind)
    new = bool(await session.verbs.receipts.suppress(channel, address, reason=reason, kind=kind))
    said = "is written to no more" if new else "was written to no more before; the first reason stays"
    return Reply({"channel": channel, "address": address, "kind": kind, "new": new}, [f"{address} {said}."])


@suppressions("duebook suppressions remove email ann@example.com")
async def remove(session: Session, channel: ChannelName, address: Address, kind: KindOption = None) -> Reply:
    """Write to an address again over a channel: of one kind, or of all."""
    lifted = await session.verbs.receipts.unsuppress(channel, address, kind=kind)
    document = {"channel": channel, "address": address, "kind": kind, "lifted": lifted}
    if not lifted:
        return Reply(document, [f"Nothing kept {address} from being written to over {channel}."], Exit.REFUSED)
    return Reply(document, [f"{address} is written to again; {count(lifted, 'suppression')} lifted."])


def _place(one: SuppressionRecord) -> tuple[str, str, str]:
    return one.suppression.channel, one.suppression.address, one.suppression.scope


def _document(one: SuppressionRecord) -> dict[str, object]:
    return {**plain(one.suppression), "at": plain(one.at), "by": one.by}


def _table(page: Sequence[SuppressionRecord]) -> Table:
    rows = [_row(one) for one in page]
    return Table(["channel", "address", "of", "since", "by", "reason"], rows)


def _row(one: SuppressionRecord) -> list[str]:
    channel, address, scope = _place(one)
    return [channel, address, named(scope), instant(one.at), one.by, first_line(one.suppression.reason, 80)]
