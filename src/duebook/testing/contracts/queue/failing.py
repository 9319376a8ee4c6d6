"""What is foreign, what is broken, and what is closed."""

from __future__ import annotations

import asyncio

from .clauses import (
    AT_ONCE,
    GRACE_SECONDS,
    HOLD_SECONDS,
    MOMENT_SECONDS,
    PATIENCE_SECONDS,
    SECRET,
    Contract,
    Trial,
    clause,
    now,
    persistently,
    unavailable,
)

FOREIGN = ("not json", '{"id": "4711"}', "[4711]", '{"id": -1}', '{"id": 4711, "to": "ann@example.net"}')


class Failing(Contract):
    """What cannot be read, and brokers that are not there."""

    @clause
    async def test_what_cannot_be_read_is_set_aside_and_counted_once(self, trial: Trial) -> None:
        queue = trial.connect(HOLD_SECONDS)
        # The queue is there from its first use on.
        assert await trial.receive(queue, 1, 0.0) == []
        before = (await queue.health()).set_aside
        for body in FOREIGN:
            await trial.broker.post(trial.name, body)
        await trial.publish(queue, 1)
        found = await trial.gather(queue, 1)
        assert [delivery.id for delivery in found] == [1]
        await queue.ack(trial.name, found)
        assert await trial.receive(queue, 10, HOLD_SECONDS + MOMENT_SECONDS) == []
        assert (await queue.health()).set_aside - before == len(FOREIGN)

    @clause
    async def test_a_broker_that_can_be_reached_is_healthy(self, trial: Trial) -> None:
        health = await trial.connect().health()
        assert health.reachable, health.detail

    def test_a_broker_that_cannot_be_reached_is_said_so_without_its_password(self) -> None:
        asyncio.run(self._unreachable())

    async def _unreachable(self) -> None:
        queue = self.unreachable()
        said = [repr(queue)]
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                said.append(await unavailable(queue.publish("renewals", [1], AT_ONCE)))
                said.append(await unavailable(queue.receive("renewals", 1, MOMENT_SECONDS)))
                health = await queue.health()
        finally:
            await queue.close()
        assert not health.reachable
        assert health.detail
        assert not [text for text in (*said, health.detail) if SECRET in text], "the password is seen again"

    @clause
    async def test_a_restart_of_the_broker_is_survived(self, trial: Trial) -> None:
        restart = trial.restart()
        queue = trial.connect(HOLD_SECONDS)
        await trial.publish(queue, 1)
        await trial.publish(queue, 2, seconds=2)
        await restart()
        await persistently(lambda: trial.publish(queue, 3))
        seen: set[int] = set()
        expected = {1, 2, 3} if self.durable else {3}
        end = now() + PATIENCE_SECONDS
        while seen != expected and now() < end:
            found = await persistently(lambda: trial.receive(queue, 10, 1.0))
            await queue.ack(trial.name, found)
            seen |= {delivery.id for delivery in found}
        assert seen == expected
        assert (await queue.health()).reachable

    @clause
    async def test_closing_it_leaves_nothing_running(self, trial: Trial) -> None:
        before = asyncio.all_tasks()
        queue = trial.connect()
        await trial.publish(queue, 1)
        await queue.ack(trial.name, await trial.gather(queue, 1))
        await queue.close()
        await queue.close()
        # What served the connection at the broker's end takes a moment to notice.
        if left := asyncio.all_tasks() - before:
            await asyncio.wait(left, timeout=GRACE_SECONDS)
        left = {task for task in left if not task.done()}
        assert not left, f"the queue is closed, and these tasks go on: {left}"
