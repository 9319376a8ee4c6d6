"""What was received and not done with comes again."""

from __future__ import annotations

from .clauses import (
    CLOCK_SECONDS,
    GRACE_SECONDS,
    HOLD_SECONDS,
    LATE_SECONDS,
    MOMENT_SECONDS,
    Contract,
    Trial,
    clause,
    now,
)


class Returning(Contract):
    """The verbs `nack` and `extend`, and the time that a message is held."""

    @clause
    async def test_what_is_given_back_is_delivered_again_at_once(self, trial: Trial) -> None:
        queue = trial.connect()
        await trial.publish(queue, 1, 2, 3)
        given_back, done, _ = await trial.gather(queue, 3)
        await queue.nack(trial.name, [given_back])
        await queue.ack(trial.name, [done])
        again = await trial.gather(queue, 1, GRACE_SECONDS)
        assert [delivery.id for delivery in again] == [given_back.id]
        await queue.ack(trial.name, again)
        assert await trial.receive(queue, 10, MOMENT_SECONDS) == []

    @clause
    async def test_what_is_not_acknowledged_in_time_is_delivered_again(self, trial: Trial) -> None:
        slow, other = trial.connect(HOLD_SECONDS), trial.connect(HOLD_SECONDS)
        await trial.publish(slow, 1, 2)
        began = now()
        held = await trial.gather(slow, 2)
        await slow.ack(trial.name, [delivery for delivery in held if delivery.id == 2])
        again = await trial.receive(other, 10, HOLD_SECONDS + LATE_SECONDS + GRACE_SECONDS)
        assert [delivery.id for delivery in again] == [1]
        assert now() - began >= HOLD_SECONDS - CLOCK_SECONDS, "it was delivered again while it was held"
        await slow.ack(trial.name, [delivery for delivery in held if delivery.id == 1])
        await other.ack(trial.name, again)
        await other.ack(trial.name, again)

    @clause
    async def test_what_a_receiver_that_vanished_held_is_delivered_again(self, trial: Trial) -> None:
        vanishing, other = trial.connect(HOLD_SECONDS), trial.connect(HOLD_SECONDS)
        await trial.publish(vanishing, 1)
        assert len(await trial.gather(vanishing, 1)) == 1
        await vanishing.close()
        again = await trial.gather(other, 1, HOLD_SECONDS + LATE_SECONDS + GRACE_SECONDS)
        assert [delivery.id for delivery in again] == [1]

    @clause
    async def test_what_is_extended_is_held_longer_and_no_longer(self, trial: Trial) -> None:
        busy, other = trial.connect(HOLD_SECONDS), trial.connect(HOLD_SECONDS)
        await trial.publish(busy, 1)
        held = await trial.gather(busy, 1)
        assert await trial.receive(other, 1, 0.6 * HOLD_SECONDS) == []
        await busy.extend(trial.name, held)
        assert await trial.receive(other, 1, 0.6 * HOLD_SECONDS) == []
        again = await trial.gather(other, 1, HOLD_SECONDS + LATE_SECONDS + GRACE_SECONDS)
        assert [delivery.id for delivery in again] == [1]

    @clause
    async def test_an_id_published_twice_is_received_and_can_be_done_with(self, trial: Trial) -> None:
        queue = trial.connect()
        for _ in range(2):
            await trial.publish(queue, 1)
        found = await trial.gather(queue, 2, GRACE_SECONDS)
        assert {delivery.id for delivery in found} == {1}
        await queue.ack(trial.name, found)
        assert await trial.receive(queue, 10, MOMENT_SECONDS) == []
