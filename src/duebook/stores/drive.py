"""Two drivers of a plan: one for a connection that answers at once, one for a connection that is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import closing
from typing import TypeVar

from ..ports import R, Rows

S = TypeVar("S")


def drive(plan: Generator[S, Rows, R], execute: Callable[[S], Rows]) -> R:
    """Run a plan to its end; what `execute` raises is raised inside the plan."""
    with closing(plan):
        try:
            asked = next(plan)
            while True:
                try:
                    rows = execute(asked)
                except Exception as error:  # noqa: BLE001 - the plan decides, and by default it comes back out
                    asked = plan.throw(error)
                else:
                    asked = plan.send(rows)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


async def drive_async(plan: Generator[S, Rows, R], execute: Callable[[S], Awaitable[Rows]]) -> R:
    """Run a plan to its end; what `execute` raises is raised inside the plan."""
    with closing(plan):
        try:
            asked = next(plan)
            while True:
                try:
                    rows = await execute(asked)
                except Exception as error:  # noqa: BLE001 - the plan decides, and by default it comes back out
                    asked = plan.throw(error)
                else:
                    asked = plan.send(rows)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
