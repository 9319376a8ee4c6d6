"""Long lists, read and told a page at a time, so that they need no more memory than a page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from .output import ANSWERED, Reply, Screen, Table

Place = TypeVar("Place")
T = TypeVar("T")

PAGE = 500


async def pages(
    read: Callable[[Place], Awaitable[Sequence[T]]], start: Place, place: Callable[[T], Place]
) -> AsyncIterator[Sequence[T]]:
    """Yield pages of at most PAGE: `read` answers the page after a place, `place` says where an item stands."""
    found = await read(start)
    while found:
        yield found
        found = await read(place(found[-1])) if len(found) == PAGE else ()


async def told(
    screen: Screen,
    name: str,
    found: AsyncIterator[Sequence[T]],
    document: Callable[[T], Any],
    table: Callable[[Sequence[T]], Table],
) -> Reply:
    """Tell pages as they come, as one JSON document or as tables."""

    async def shown() -> AsyncIterator[tuple[Sequence[Any], Table]]:
        async for page in found:
            yield [document(item) for item in page], table(page)

    if not await screen.stream(name, shown()) and not screen.as_json:
        return Reply(None, ["None found."])
    return ANSWERED
