"""A transport that does to messages all that a broker must be forgiven for."""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from ....ports import Queue

LATE_SECONDS = (1, 3)


class HostileQueue:
    """Loses, doubles, delays and reorders what is published through it to another queue, by a seed.

    `share`: of the messages so many are lost, of the others so many doubled, and so many copies delayed by one to three
    seconds. `lost`, `doubled`: how many that has been.
    """

    def __init__(self, inner: Queue, seed: int, share: float = 0.3) -> None:
        self.inner = inner
        self.max_delay = inner.max_delay
        self.lost = self.doubled = 0
        self._share = share
        self._random = random.Random(seed)

    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        for id in self._random.sample(ids, len(ids)):
            if self._strikes():
                self.lost += 1
                continue
            copies = 1 + self._strikes()
            self.doubled += copies - 1
            for _ in range(copies):
                late = timedelta(seconds=self._random.randint(*LATE_SECONDS) if self._strikes() else 0)
                await self.inner.publish(name, [id], delay + late)

    def _strikes(self) -> bool:
        return self._random.random() < self._share

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
