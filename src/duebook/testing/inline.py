"""Coroutines that never wait, carried out where they are called."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any, TypeVar

R = TypeVar("R")


def inline(work: Coroutine[Any, Any, R]) -> R:
    """Carry out a coroutine in this thread, without an event loop: all databases of a timeline answer at once, but for
    an awaited connection."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    return refused(work)


def refused(work: Coroutine[Any, Any, R]) -> R:
    """Say that work would have to wait where nothing can."""
    work.close()
    raise RuntimeError(
        "the timeline uses an awaited connection, so this would have to wait. Use Timeline, the awaited verbs of the "
        "book, and `await timeline.expecting(kind, key)`"
    )
