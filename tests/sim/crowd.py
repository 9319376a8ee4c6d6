"""Workers with the real engine and the real SQL, as processes that can die. What they are to do is their world's."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from random import Random
from typing import Any

from duebook.domain.policy import ChannelPolicy, Kind, Priority
from duebook.engine.acknowledger import Acknowledger, acknowledger_name
from duebook.engine.agent import Agent
from duebook.engine.digester import Digester
from duebook.engine.inbox import Inbox
from duebook.engine.lane import Lane
from duebook.engine.promoter import Promoter
from duebook.engine.receiver import Receiver, receiver_name
from duebook.engine.reconciler import Reconciler
from duebook.engine.registry import Registry
from duebook.engine.rescuer import Rescuer
from duebook.engine.settings import EngineSettings
from duebook.engine.sweeper import Sweeper
from duebook.errors import Busy, QueueUnavailable, StoreUnavailable
from duebook.ports import Handler, Plan, R, SendContext
from duebook.stores import catalog
from duebook.stores.store import SqlStore
from tests.sim.broker import Broker, SimQueue
from tests.sim.kernel import Kernel, Process, Until
from tests.sim.ports import Provider, SimChannel, SimClock, SimDatabase, SimTasks

SETTINGS = EngineSettings(lease_seconds=9.0, grace_seconds=3.0, poll_seconds=1.0, sweep_seconds=5.0, batch=20)
CONDUCTS = ("accept", "reject", "retry", "throttle", "silence", "accept_then_silence", "break", "accept_then_break")
TROUBLES: dict[str, tuple[str, type[Exception]]] = {
    "busy": ("before", Busy),
    "break_before": ("before", StoreUnavailable),
    "break_after": ("after", StoreUnavailable),
}
"""What a database may do to the next call of a process: at which edge of the call, and what it raises."""


@dataclass(frozen=True)
class Parts:
    """The real parts, each of which a mutant may replace by a broken one."""

    store: Callable[[], Any] = SqlStore
    lane: Callable[..., Any] = Lane
    rescuer: Callable[..., Any] = Rescuer
    digester: Callable[..., Any] = Digester
    text: Callable[[str, str], str] | None = None
    schema: Callable[[str], str] | None = None
    patches: tuple[tuple[str, Any], ...] = ()


class Crowd(ABC):
    """`window`: for how many seconds the provider recognises a key, None for never. `fault_rate`: how often something
    goes wrong before a step. `calm`: nothing does any more."""

    def __init__(
        self, seed: int, kinds: Sequence[Kind], parts: Parts, window: float | None, fault_rate: float = 0.12
    ) -> None:
        self.seed = seed
        self.kinds = {kind.name: kind for kind in kinds}
        self.parts = parts
        self.fault_rate = fault_rate
        self.kernel = Kernel()
        self.connection = fresh_connection(parts.schema)
        self.calm = False
        self.provider = Provider(self.kernel, window, self.conduct)
        self.troubles: dict[tuple[str, str], str] = {}
        self.skews: dict[str, float] = {}
        self.births = 0
        self.broker: Broker | None = None
        self.store = parts.store()
        self.policy = ChannelPolicy(
            "mail", timedelta(seconds=window) if window else None, concurrency=2, send_seconds=4.0,
            pause=timedelta(seconds=5),
        )  # fmt: skip

    @abstractmethod
    def conduct(self, context: SendContext) -> str:
        """Return which of CONDUCTS is done to an attempt."""

    @abstractmethod
    def handler(self, process: Process, kind: Kind) -> Handler: ...

    def channel(self, process: Process) -> SimChannel:
        return SimChannel(self.policy, self.kernel, process, self.provider)

    def close(self) -> None:
        self.kernel.close()
        self.connection.close()

    def agents(self, registry: Registry, database: SimDatabase, clock: SimClock, holder: str) -> list[Agent]:
        """Return those beside a lane."""
        return [
            self.parts.rescuer(registry, database, self.store, SETTINGS, holder),
            Sweeper(database, self.store, clock, SETTINGS, holder),
            Reconciler(registry, database, self.store, clock, SETTINGS, holder),
        ]

    def at_once(self, plan: Plan[R]) -> None:
        """Run a plan before anything else is there."""
        database = SimDatabase(self.kernel, self.connection, Process("setup"), lambda name: None)
        strand = database.run(plan)
        with suppress(StopIteration):
            while True:
                strand.send(None)

    def database(self, process: Process, clock: SimClock | None = None) -> SimDatabase:
        def trouble(name: str) -> Exception | None:
            fault = None if self.calm else self.troubles.pop((process.name, name.rpartition(":")[2]), None)
            if fault is None:
                return None
            self.kernel.note(process.name, fault)
            return TROUBLES[fault][1]("simulated")

        return SimDatabase(self.kernel, self.connection, process, trouble, self.parts.text, clock)

    def trouble(self, name: str, fault: str) -> None:
        """Let the database do this to the next call of a worker."""
        self.troubles[name, TROUBLES[fault][0]] = fault

    def restart(self, name: str) -> None:
        """Kill a worker, and start another in its place."""
        self.kernel.kill(self.kernel.processes[name])
        self.start_worker(name)

    def start_worker(self, name: str) -> None:
        self.births += 1
        process = Process(name)
        self.kernel.processes[name] = process
        clock = SimClock(self.kernel, self.skews.get(name, 0.0))
        database, tasks = self.database(process, clock), SimTasks(self.kernel, process)
        channel = self.channel(process)
        handlers = {kind.name: self.handler(process, kind) for kind in self.kinds.values()}
        registry = Registry(dict(self.kinds), handlers, {"mail": channel})
        holder = f"{name}#{self.births}"
        draw = Random(f"{self.seed}/{holder}").random
        inbox = None if self.broker is None else Inbox(channel.policy, SimQueue(self.broker, process), SETTINGS)
        lane = self.parts.lane(
            channel, registry, database, self.store, clock, tasks, draw, SETTINGS, holder, "duebook.example", inbox
        )
        self.kernel.spawn(process, "lane", lane.run())
        agents, roused = self.agents(registry, database, clock, holder), set[str]()
        if inbox is not None:
            inbox.relieved = lambda queue: roused.add(receiver_name(queue))
            inbox.has_news = lambda: roused.add(acknowledger_name("mail"))
            agents.append(Promoter(inbox.queue, database, self.store, clock, SETTINGS))
            agents += [Receiver(inbox, priority, _waker(lane, tasks)) for priority in Priority]
            agents.append(Acknowledger(inbox))
        for agent in agents:
            self.kernel.spawn(process, agent.name, self._keep(agent, roused))

    async def _keep(self, agent: Agent, roused: set[str]) -> None:
        while True:
            more = False
            roused.discard(agent.name)
            with suppress(Busy, StoreUnavailable, QueueUnavailable):
                more = await agent.step()
            if not more:
                await Until(lambda: agent.name in roused, self.kernel.elapsed + agent.pace_seconds)


def _waker(lane: Any, tasks: SimTasks) -> Callable[[float, bool], None]:
    def expect(seconds: float, suspect: bool) -> None:
        lane.expect(seconds, suspect)
        tasks.wake()

    return expect


def _schema() -> str:
    return "\n".join(text for _, _, text in catalog.migrations("sqlite"))


@cache
def _empty() -> bytes:
    """A database with the tables of the schema as it is, to start from without running the migrations each time."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(_schema())
        return connection.serialize()


def fresh_connection(schema: Callable[[str], str] | None) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if schema is None:
        connection.deserialize(_empty())
    else:
        connection.executescript(schema(_schema()))
    return connection
