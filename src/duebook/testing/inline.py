"""Coroutines that never wait, carried out where they are called."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


def inline(work: Coroutine[Any, Any, R]) -> R:
    """Carry out a coroutine in this thread, without an event loop.

    A timeline's own databases answer at once, so nothing it does waits, unless it was given a connection that is
    awaited.
    """
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    work.close()
    raise RuntimeError(
        "this waits for something, and nothing here can wait: the timeline uses an awaited connection. Use the awaited "
        "verbs, `await timeline.run_due()` and `await timeline.expecting(kind, key)`"
    )
