"""The contract of a queue catches one that breaks it: in each of these a single thing is wrong.

All of them are in memory and go by the event loop's clock, and the loop does not wait: it moves its clock.
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import pytest

from duebook.errors import QueueUnavailable
from duebook.ports import Delivery, Queue, QueueHealth
from duebook.queues.message import decode, encode
from duebook.testing.contracts.queue import SECRET, Broker, QueueContract
from tests.queues.memory import A_DAY, HastyLoop, InMemory, Memory, Stored, now


def run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner(loop_factory=HastyLoop) as runner:
        runner.run(main)


@pytest.fixture(autouse=True)
def _without_waiting(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    # A worker's clock is not the loop's.
    if "workers" not in request.node.name:
        monkeypatch.setattr(asyncio, "run", run)


class Away(InMemory):
    """A queue whose broker is away."""

    said = "nobody answers at memory://"

    async def publish(self, *_: Any) -> None:
        raise QueueUnavailable(self.said)

    async def receive(self, *_: Any) -> list[Delivery]:
        raise QueueUnavailable(self.said)

    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        return QueueHealth(False, self.said)


class Kept(QueueContract):
    queue: type[InMemory] = InMemory
    away: type[InMemory] = Away

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Broker]:
        memory = Memory()

        async def restart() -> None:
            self.restarted(memory)

        yield Broker(lambda hold_seconds: self.queue(memory, hold_seconds), memory.post, restart)

    def restarted(self, memory: Memory) -> None:
        """Nothing is lost."""

    def unreachable(self) -> Queue:
        return self.away(Memory(), 60)


class TestInMemory(Kept):
    pass


class LosesOne(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, [id for id in ids if id != 234], delay)


class DoublesOne(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, [*ids, *(id for id in ids if id == 234)], delay)


class Early(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, ids, delay - timedelta(seconds=1))


class Late(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, ids, 2 * delay)


class InOneRow(InMemory):
    def take(self, name: str, most: int) -> list[Delivery]:
        row = [one for one in self.memory.stored if one.name == name]
        return super().take(name, most) if row and row[0].visible_at <= now() else []


class ForgetsItsCap(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, ids, min(delay, A_DAY))


class CapsToNothing(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name, ids, timedelta(0) if delay == A_DAY else delay)


class AnyName(InMemory):
    async def publish(self, name: str, ids: Sequence[int], delay: timedelta) -> None:
        await super().publish(name.strip("/: ü") or "x", ids, delay)


class OneForAll(InMemory):
    def take(self, name: str, most: int) -> list[Delivery]:
        return super().take(name.partition(".")[0], most)


class TakesMore(InMemory):
    def take(self, name: str, most: int) -> list[Delivery]:
        return super().take(name, 2 * most)


class Prefetches(InMemory):
    def take(self, name: str, most: int) -> list[Delivery]:
        return super().take(name, 100)[:most]


class DoesNotWait(InMemory):
    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        return await super().receive(name, most, 0.0)


class WaitsToTheEnd(InMemory):
    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        await asyncio.wait([asyncio.create_task(asyncio.Event().wait())], timeout=wait_seconds)
        return await super().receive(name, most, 0.0)


class SleepsThroughDelays(InMemory):
    """Whoever waits in it wakes up for what is there already and for what is due at once, and for nothing else."""

    async def receive(self, name: str, most: int, wait_seconds: float) -> list[Delivery]:
        moment = min([now() + wait_seconds, *(one.visible_at for one in self.memory.stored)])
        while not self.memory.visible(name) and now() < moment:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(moment):
                    await self.memory.changed.wait()
        return self.take(name, most)


class HoldsForEver(InMemory):
    def __init__(self, memory: Memory, hold_seconds: int) -> None:
        super().__init__(memory, 86_400)


class HoldsTooShort(InMemory):
    def __init__(self, memory: Memory, hold_seconds: int) -> None:
        super().__init__(memory, hold_seconds - 1)


class DoesNotExtend(InMemory):
    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None: ...


class ExtendsForEver(InMemory):
    async def extend(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for one in self.memory.known(deliveries):
            one.visible_at = now() + 86_400


class NeverDone(InMemory):
    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None: ...


class KeepsWhatIsGivenBack(InMemory):
    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None: ...


class GivesBackEverything(InMemory):
    async def nack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        for one in self.memory.stored:
            one.visible_at = now()


class MissesWhatWasDone(InMemory):
    async def ack(self, name: str, deliveries: Sequence[Delivery]) -> None:
        assert len(self.memory.known(deliveries)) == len(deliveries)
        await super().ack(name, deliveries)


class DropsWhatIsForeign(InMemory):
    def set_aside(self, one: Stored) -> None:
        self.memory.stored.remove(one)


class TurnsWhatIsForeign(InMemory):
    def set_aside(self, one: Stored) -> None:
        one.visible_at = now() + 1
        self.memory.set_aside += 1


class ReadsWhatIsForeign(InMemory):
    def take(self, name: str, most: int) -> list[Delivery]:
        for one in self.memory.visible(name):
            one.body = encode(4711).decode() if decode(one.body.encode()) is None else one.body
        return super().take(name, most)


class Sick(InMemory):
    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        return QueueHealth(False, "no idea")


class GoesOn(InMemory):
    async def close(self) -> None:
        self.task = asyncio.create_task(self.memory.wait(now() + 60))


class RaisesItsDriversErrors(Away):
    async def receive(self, *_: Any) -> list[Delivery]:
        raise ConnectionRefusedError


class AnswersForNobody(Away):
    async def publish(self, *_: Any) -> None: ...


class Tells(Away):
    said = f"nobody answers at memory://ann:{SECRET}@nowhere"


class FeelsWell(Away):
    async def health(self, names: Sequence[str] = ()) -> QueueHealth:
        return QueueHealth(True, "in memory")


CARRIES = "test_two_receivers_lose_nothing_and_double_nothing"
DELAYS = "test_a_delay_is_kept_and_blocks_no_shorter_one"
CAPS = "test_a_delay_over_the_cap_is_refused"
HOLDS = "test_what_is_not_acknowledged_in_time_is_delivered_again"
FOREIGN = "test_what_cannot_be_read_is_set_aside_and_counted_once"
EXTENDS = "test_what_is_extended_is_held_longer_and_no_longer"
GIVES_BACK = "test_what_is_given_back_is_delivered_again_at_once"
AWAY = "test_a_broker_that_cannot_be_reached_is_said_so_without_its_password"


@pytest.mark.parametrize(
    ("queue", "clause"),
    [
        (LosesOne, CARRIES),
        (DoublesOne, CARRIES),
        (Early, DELAYS),
        (Late, DELAYS),
        (InOneRow, DELAYS),
        (ForgetsItsCap, CAPS),
        (CapsToNothing, CAPS),
        (AnyName, "test_a_name_that_not_every_broker_takes_is_refused"),
        (OneForAll, "test_queues_of_other_names_are_apart"),
        (TakesMore, "test_no_more_is_taken_than_was_asked_for"),
        (Prefetches, "test_no_more_is_taken_than_was_asked_for"),
        (DoesNotWait, "test_an_empty_queue_answers_when_the_wait_is_over"),
        (WaitsToTheEnd, "test_whoever_waits_is_answered_as_soon_as_something_comes"),
        (SleepsThroughDelays, "test_whoever_waits_already_is_answered_when_a_delay_ends"),
        (HoldsForEver, HOLDS),
        (HoldsForEver, "test_what_a_receiver_that_vanished_held_is_delivered_again"),
        (HoldsTooShort, HOLDS),
        (MissesWhatWasDone, HOLDS),
        (NeverDone, HOLDS),
        (DoesNotExtend, EXTENDS),
        (ExtendsForEver, EXTENDS),
        (KeepsWhatIsGivenBack, GIVES_BACK),
        (GivesBackEverything, GIVES_BACK),
        (DropsWhatIsForeign, FOREIGN),
        (TurnsWhatIsForeign, FOREIGN),
        (ReadsWhatIsForeign, FOREIGN),
        (Sick, "test_a_broker_that_can_be_reached_is_healthy"),
        (GoesOn, "test_closing_it_leaves_nothing_running"),
    ],
)
def test_a_queue_that_is_wrong_is_caught(queue: type[InMemory], clause: str) -> None:
    contract = Kept()
    contract.queue = queue
    with pytest.raises(AssertionError):
        getattr(contract, clause)()


@pytest.mark.parametrize("away", [AnswersForNobody, Tells, FeelsWell])
def test_one_that_hides_that_its_broker_is_away_is_caught(away: type[InMemory]) -> None:
    contract = Kept()
    contract.away = away
    with pytest.raises(AssertionError):
        getattr(contract, AWAY)()


def test_one_that_raises_its_drivers_errors_is_caught() -> None:
    contract = Kept()
    contract.away = RaisesItsDriversErrors
    with pytest.raises(ConnectionRefusedError):
        getattr(contract, AWAY)()


def test_a_broker_that_forgets_what_it_was_given_is_caught() -> None:
    class Forgets(Kept):
        def restarted(self, memory: Memory) -> None:
            memory.stored.clear()

    with pytest.raises(AssertionError):
        Forgets().test_a_restart_of_the_broker_is_survived()
