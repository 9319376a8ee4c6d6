"""Two drivers of a plan: one for a connection that answers at once, one for a connection that is awaited."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ..ports import Plan, R, Rows, Statement


def drive(plan: Plan[R], execute: Callable[[Statement], Rows]) -> R:
    """Run a plan to its end, statement by statement."""
    try:
        statement = next(plan)
        while True:
            statement = plan.send(execute(statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        plan.close()


async def drive_async(plan: Plan[R], execute: Callable[[Statement], Awaitable[Rows]]) -> R:
    """Run a plan to its end, awaiting each statement."""
    try:
        statement = next(plan)
        while True:
            statement = plan.send(await execute(statement))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    finally:
        plan.close()
