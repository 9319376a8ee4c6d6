"""What is published for later comes then, and what cannot be asked for is refused."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from .clauses import (
    AT_ONCE,
    CLOCK_SECONDS,
    GRACE_SECONDS,
    LATE_SECONDS,
    MOMENT_SECONDS,
    SOON_SECONDS,
    Contract,
    Trial,
    clause,
    now,
    refused,
)


class Delaying(Contract):
    """The delay of `publish`, and names."""

    @clause
    async def test_a_delay_is_kept_and_blocks_no_shorter_one(self, trial: Trial) -> None:
        queue = trial.connect()
        # Whatever the broker makes on first use is no part of what is measured.
        assert await trial.receive(queue, 1, 0.0) == []
        delays = {}
        published: dict[int, float] = {}
        # Twice, so that a delay that ends at a whole second of somebody's clock is too short at least once.
        for first in (10, 20):
            for id, seconds in enumerate((3.0, 2.0, 1.0, 0.0, -86_400.0), first):
                delays[id], published[id] = seconds, now()
                await trial.publish(queue, id, seconds=seconds)
            await asyncio.sleep(MOMENT_SECONDS)
        came: dict[int, float] = {}
        while len(came) < len(delays) and (found := await trial.receive(queue, 10, SOON_SECONDS)):
            came |= {delivery.id: now() - published[delivery.id] for delivery in found}
            await queue.ack(trial.name, found)
        assert came.keys() == delays.keys()
        for id, seconds in delays.items():
            assert seconds - CLOCK_SECONDS <= came[id] <= max(0.0, seconds) + LATE_SECONDS, (
                f"a delay of {seconds} s took {came[id]:.2f} s"
            )

    @clause
    async def test_whoever_waits_already_is_answered_when_a_delay_ends(self, trial: Trial) -> None:
        waiting, other = trial.connect(), trial.connect()
        received = asyncio.create_task(trial.receive(waiting, 10, 20.0))
        await asyncio.sleep(MOMENT_SECONDS)
        began = now()
        await trial.publish(other, 4711, seconds=1.0)
        assert [delivery.id for delivery in await received] == [4711]
        assert 1.0 - CLOCK_SECONDS <= now() - began < 1.0 + GRACE_SECONDS, "receive waits on although a delay is over"

    @clause
    async def test_a_delay_over_the_cap_is_refused(self, trial: Trial) -> None:
        queue = trial.connect()
        if queue.max_delay is None:
            await queue.publish(trial.name, [1], timedelta(days=400))
        else:
            await queue.publish(trial.name, [1], queue.max_delay)
            await refused("delay", queue.publish(trial.name, [2], queue.max_delay + timedelta(seconds=1)))
        assert await trial.receive(queue, 10, MOMENT_SECONDS) == []

    @clause
    async def test_a_name_that_not_every_broker_takes_is_refused(self, trial: Trial) -> None:
        queue = trial.connect()
        for name in ("", "two words", "a/b", "a:b", "ü", "x" * 300):
            await refused("name", queue.publish(name, [1], AT_ONCE))
            await refused("name", queue.receive(name, 1, 0.0))
