"""What is published comes, once, to whoever asks for it."""

from __future__ import annotations

import asyncio
import os
from collections import Counter

from ....ports import Queue
from .clauses import CLOCK_SECONDS, GRACE_SECONDS, MOMENT_SECONDS, SOON_SECONDS, Contract, Trial, clause, now

MANY_VARIABLE = "DUEBOOK_QUEUE_IDS"
MANY = 500
"""How many ids two receivers share; the environment variable asks for more."""

MANY_SECONDS = 40.0
"""How long that may take before those that have not come count as lost; in proportion for more."""


class Carrying(Contract):
    """The verbs `publish`, `receive` and `ack`."""

    @clause
    async def test_what_is_published_is_received(self, trial: Trial) -> None:
        queue = trial.connect()
        await trial.publish(queue, 1, 2**63 - 1)
        await trial.publish(queue)
        found = await trial.gather(queue, 2)
        assert {delivery.id for delivery in found} == {1, 2**63 - 1}
        await queue.ack(trial.name, found)
        assert await trial.receive(queue, 10, MOMENT_SECONDS) == []

    @clause
    async def test_an_empty_queue_answers_when_the_wait_is_over(self, trial: Trial) -> None:
        queue = trial.connect()
        began = now()
        assert await trial.receive(queue, 10, 1.0) == []
        assert 1.0 - CLOCK_SECONDS <= now() - began < 1.0 + GRACE_SECONDS

    @clause
    async def test_whoever_waits_is_answered_as_soon_as_something_comes(self, trial: Trial) -> None:
        waiting, other = trial.connect(), trial.connect()
        received = asyncio.create_task(trial.receive(waiting, 10, 20.0))
        await asyncio.sleep(MOMENT_SECONDS)
        assert not received.done(), "nothing was published, and receive came back before its wait was over"
        began = now()
        await trial.publish(other, 4711)
        assert [delivery.id for delivery in await received] == [4711]
        assert now() - began < GRACE_SECONDS, "receive waits on although something has come"

    @clause
    async def test_no_more_is_taken_than_was_asked_for(self, trial: Trial) -> None:
        first, second = trial.connect(), trial.connect()
        await trial.publish(first, *range(1, 11))
        held = await trial.receive(first, 3, SOON_SECONDS)
        assert 1 <= len(held) <= 3
        rest = await trial.gather(second, 10 - len(held))
        assert {delivery.id for delivery in held + rest} == set(range(1, 11)), (
            "what one receiver has not asked for must be there for the others"
        )

    @clause
    async def test_queues_of_other_names_are_apart(self, trial: Trial) -> None:
        queue = trial.connect()
        await trial.publish(queue, 1)
        assert await queue.receive(f"{trial.name}.other_one", 10, MOMENT_SECONDS) == []
        assert [delivery.id for delivery in await trial.gather(queue, 1)] == [1]

    @clause
    async def test_two_receivers_lose_nothing_and_double_nothing(self, trial: Trial) -> None:
        ids = range(1, int(os.environ.get(MANY_VARIABLE, MANY)) + 1)
        seen: Counter[int] = Counter()
        end = now() + MANY_SECONDS * len(ids) / MANY

        async def consume(queue: Queue) -> None:
            while len(seen) < len(ids) and now() < end:
                found = await trial.receive(queue, 100, MOMENT_SECONDS)
                seen.update(delivery.id for delivery in found)
                await queue.ack(trial.name, found)

        publisher, *consumers = (trial.connect() for _ in range(3))
        await asyncio.gather(trial.publish(publisher, *ids), *map(consume, consumers))
        assert not set(ids) - set(seen), "some were lost"
        again = await trial.receive(publisher, 10, MOMENT_SECONDS)
        assert (seen.total(), again) == (len(ids), []), "some came twice, although each was acknowledged in time"
