"""The queue: a broker that carries ids near their time, and nothing else. It is a hint, never the truth.

A message is `{"id": 4711}`. Losing one, carrying it twice or in another order costs time, never correctness: what an id
stands for is in the store, and whoever receives it claims it there or learns that there is nothing to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple, Protocol


class Delivery(NamedTuple):
    """An id that was received. `handle`: the adapter's own, by which the message is acknowledged."""

    id: int
    handle: Any


@dataclass(frozen=True, slots=True)
class QueueHealth:
    """Whether the broker answers, and what it says. `set_aside`: messages that were none of ours and stand apart."""

    reachable: bool
    detail: str
    set_aside: int = 0


class Queue(Protocol):
    """One broker. Each `name` is a queue of its own, made when it is first used: letters, digits, dot, dash and
    underscore. All methods but `health` raise QueueUnavailable where the broker cannot be reached or does not answer.

    `max_delay`: the longest delay it can be asked for; None if there is no limit.
    """

    max_delay: timedelta | None

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        """Have ids delivered once `delay` has passed, rounded up to whole seconds; the past is now.

        Returns when the broker has taken all of them. Raises InvalidInput for a delay over `max_delay`, and then has
        published none. After QueueUnavailable some may have been published.
        """
        ...

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        """Return up to `most` ids as soon as there are any, or none after `wait_seconds`. What is not acknowledged in
        the adapter's `hold_seconds` is delivered again, to whoever asks. What cannot be read is set aside and
        counted."""
        ...

    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        """Be done with messages. One that was delivered again meanwhile is not an error."""
        ...

    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        """Give messages back, to be delivered again at once."""
        ...

    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        """Hold messages for another `hold_seconds` from now, where the broker needs to be told."""
        ...

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        """Say within seconds whether the broker can be reached, and why not. Raises nothing.

        `names`: queues that are going to be used. A broker on which they have to be made beforehand cannot be reached
        without them, and `detail` says which are missing.
        """
        ...

    async def close(self) -> None: ...
