"""What travels through every queue, and the checks that all adapters share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import TypeVar

from ..domain.policy import checked_name
from ..errors import InvalidInput

T = TypeVar("T")

_LARGEST_ID = 2**63 - 1
_SECOND = timedelta(seconds=1)


def encode(id: int) -> bytes:
    """Return the body of the message that carries an id."""
    return json.dumps({"id": id}).encode("ascii")


def decode(body: bytes) -> int | None:
    """Return the id in a body, or None for a message that is none of ours."""
    try:
        return id_in(json.loads(body))
    except (ValueError, RecursionError):
        return None


def id_in(document: object) -> int | None:
    """Return the id in a message that was read as JSON, or None: ours hold an id of the store and nothing else."""
    if not isinstance(document, dict) or document.keys() != {"id"}:
        return None
    id = document["id"]
    return id if type(id) is int and 0 < id <= _LARGEST_ID else None


def whole_seconds(delay: timedelta, max_delay: timedelta | None) -> int:
    """Return a delay in seconds, rounded up, and 0 for the past. Raises InvalidInput for one over `max_delay`."""
    if max_delay is not None and delay > max_delay:
        limit = max_delay // _SECOND
        raise InvalidInput("delay", f"is {delay}, and the broker takes at most {limit} seconds: publish it later")
    return max(0, -(-delay // _SECOND))


def checked_queue(name: str) -> str:
    """Return the name of a queue: letters, digits, dot, dash and underscore. Raises InvalidInput for any other, and for
    dots alone: in a path they would name another queue."""
    if not checked_name("name", name).strip("."):
        raise InvalidInput("name", "must hold more than dots")
    return name


def checked_hold(hold_seconds: int) -> int:
    """Return how many seconds a message is held for whoever received it. Raises InvalidInput for less than one."""
    if hold_seconds < 1:
        raise InvalidInput("hold_seconds", f"must be one second or more, not {hold_seconds}")
    return hold_seconds


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield items in their order, `size` at a time: what a broker takes in one call."""
    return (items[start : start + size] for start in range(0, len(items), size))
