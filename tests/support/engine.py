"""The agents, wired to a world by hand, so that a test decides when each takes a step."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from duebook.domain.decision import Decision, Due
from duebook.domain.message import Email, Message
from duebook.domain.outcome import Accepted, Outcome
from duebook.domain.policy import ChannelPolicy
from duebook.engine.inbox import Inbox
from duebook.engine.lane import Lane
from duebook.engine.lookout import Lookout
from duebook.engine.pruner import Pruner
from duebook.engine.reconciler import Reconciler
from duebook.engine.rescuer import Rescuer
from duebook.engine.settings import EngineSettings
from duebook.engine.sweeper import Sweeper
from duebook.errors import Busy, StoreUnavailable
from duebook.ports import SendContext
from duebook.worker import AsyncTasks
from tests.support.worlds import World

SETTINGS = EngineSettings()
ROUNDS = 600
QUIET_ROUNDS = 5

Answer = Outcome | Exception | Callable[[Message, SendContext], Awaitable[Any]]


@dataclass
class Recorder:
    """Implements ports.Channel: keeps what was sent, and answers what it was told to, then Accepted."""

    policy: ChannelPolicy
    sent: list[tuple[Message, SendContext]] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)

    async def send(self, message: Message, context: SendContext) -> Outcome:
        self.sent.append((message, context))
        answer: Any = self.answers.pop(0) if self.answers else Accepted(f"p-{len(self.sent)}")
        if callable(answer):
            answer = await answer(message, context)
        if isinstance(answer, Exception):
            raise answer
        outcome: Outcome = answer
        return outcome

    async def close(self) -> None: ...

    @property
    def keys(self) -> list[str]:
        return [context.key for _, context in self.sent]


@dataclass
class Serving:
    """A lane and its tasks."""

    lane: Lane
    tasks: AsyncTasks
    channel: Recorder

    async def settle_down(self) -> None:
        """Let the lane work until nothing changes any more without time passing."""
        quiet = 0
        for _ in range(ROUNDS):
            under_way = bool(self.lane.busy or self.lane.beginning)
            ended = await self.tasks.wait(5 if under_way else 0)
            self.lane.round(ended)
            quiet = 0 if ended or under_way else quiet + 1
            if quiet >= QUIET_ROUNDS:
                return
        raise AssertionError(f"the lane does not come to rest within {ROUNDS} rounds")

    async def until(self, happened: Callable[[], bool]) -> None:
        """Let the lane work until something has happened."""
        for _ in range(10 * ROUNDS):
            if happened():
                return
            self.lane.round(await self.tasks.wait(0.01 if self.lane.busy or self.lane.beginning else 0))
        raise AssertionError(f"it did not happen within {10 * ROUNDS} rounds")

    async def die(self) -> None:
        """Stop existing, in the middle of whatever was going on."""
        await self.tasks.abandon()


async def remind(due: Due) -> Decision:
    return Email(to="ann@example.org", subject=due.key, text=f"This is attempt {due.number}")


@dataclass
class Crew:
    """Every agent of a worker, on one world."""

    world: World
    settings: EngineSettings = SETTINGS
    lanes: list[Serving] = field(default_factory=list)

    def channel(self, name: str = "mail", **policy: Any) -> Recorder:
        recorder = Recorder(ChannelPolicy(name, **policy))
        self.world.registry.channels[name] = recorder
        return recorder

    def kind(self, name: str = "mail", handler: Callable[[Due], Awaitable[Any]] = remind, **policies: Any) -> None:
        self.world.declare(name, **policies)
        self.world.registry.handlers[name] = handler

    def lane(self, name: str = "mail", holder: str = "worker-1", inbox: Inbox | None = None) -> Serving:
        w = self.world
        channel = w.registry.channels[name]
        assert isinstance(channel, Recorder)
        tasks = AsyncTasks()
        lane = Lane(
            channel, w.registry, w.database, w.store, w.clock, tasks, lambda: 0.0, self.settings, holder,
            "test.invalid", inbox,
        )  # fmt: skip
        serving = Serving(lane, tasks, channel)
        self.lanes.append(serving)
        return serving

    @property
    def rescuer(self) -> Rescuer:
        return Rescuer(self.world.registry, self.world.database, self.world.store, self.settings, "rescuer")

    @property
    def sweeper(self) -> Sweeper:
        return Sweeper(self.world.database, self.world.store, self.world.clock, self.settings, "sweeper")

    @property
    def reconciler(self) -> Reconciler:
        w = self.world
        return Reconciler(w.registry, w.database, w.store, w.clock, self.settings, "reconciler")

    @property
    def pruner(self) -> Pruner:
        return Pruner(self.world.registry, self.world.database, self.world.store, self.world.clock, self.settings)

    @property
    def lookout(self) -> Lookout:
        w = self.world
        expect = {serving.lane.policy.name: serving.lane.expect for serving in self.lanes}
        return Lookout(w.registry, w.database, w.store, w.clock, self.settings, expect, w.database.time)

    async def go_on(self, seconds: int = 4) -> None:
        """Let lanes and lookout do what they do in so many seconds."""
        for _ in range(seconds):
            self.world.clock.advance(1)
            with suppress(StoreUnavailable, Busy):
                await self.lookout.step()
            for serving in self.lanes:
                await serving.settle_down()

    async def rescue(self) -> None:
        """Let every lease that runs now run out, and take back what was held."""
        self.world.clock.advance(self.settings.lease_seconds + self.settings.grace_seconds + 0.001)
        while await self.rescuer.step():
            pass

    async def wait_until_quiet(self) -> None:
        """Let the quiet time of everything uncertain pass."""
        policies = [channel.policy for channel in self.world.registry.channels.values()]
        self.world.clock.advance(max(self.settings.quiet(policy).total_seconds() for policy in policies) + 1)

    async def close(self) -> None:
        for serving in self.lanes:
            await serving.die()


class Gate:
    """A place where a send or a handler waits until the test lets it through."""

    def __init__(self, then: Any = None) -> None:
        self.then = then if then is not None else Accepted("late")
        self.entered = 0
        self._open = asyncio.Event()

    async def __call__(self, *_: Any) -> Any:
        self.entered += 1
        await self._open.wait()
        return self.then

    def open(self) -> None:
        self._open.set()
