"""A small world: the real engine and the real SQL, in processes that can die, over a provider that may do anything."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from random import Random
from typing import Any

from duebook.domain.decision import Due, Skip
from duebook.domain.message import Email
from duebook.domain.policy import ChannelPolicy, Kind, OnUncertain, Retention
from duebook.domain.retry import Backoff
from duebook.engine.agent import Agent
from duebook.engine.lane import Lane
from duebook.engine.pruner import Pruner
from duebook.engine.reconciler import Reconciler
from duebook.engine.registry import Registry
from duebook.engine.rescuer import Rescuer
from duebook.engine.settings import EngineSettings
from duebook.engine.sweeper import Sweeper
from duebook.errors import Busy, StoreUnavailable
from duebook.features.context import Context
from duebook.features.drafting import New
from duebook.features.notifications import Notifications
from duebook.features.work import Wakes, Work
from duebook.ports import SendContext
from duebook.stores import catalog
from duebook.stores.store import SqlStore
from tests.sim.kernel import Kernel, Point, Process, Until
from tests.sim.ports import Provider, SimChannel, SimClock, SimDatabase, SimTasks

ATTEMPTS = 4
SETTINGS = EngineSettings(lease_seconds=9.0, grace_seconds=3.0, poll_seconds=1.0, sweep_seconds=5.0, batch=20)
CONDUCTS = ("accept", "reject", "retry", "throttle", "silence", "accept_then_silence", "break", "accept_then_break")


@dataclass(frozen=True, slots=True)
class Config:
    """What kind of world. `window`: for how many seconds the provider recognises a key, None for never. `weights`: of
    the provider's conducts, in the order of CONDUCTS. `prunes`: whether closed notifications are let go of at once."""

    window: float | None = 86_400.0
    on_uncertain: OnUncertain = "hold"
    count: int = 4
    workers: int = 2
    weights: tuple[int, ...] = (10, 1, 3, 1, 1, 2, 1, 2)
    owners: bool = True
    prunes: bool = False
    fault_rate: float = 0.12

    @property
    def keyed(self) -> bool:
        return self.window is not None


TROUBLES: dict[str, tuple[str, type[Exception]]] = {
    "busy": ("before", Busy),
    "break_before": ("before", StoreUnavailable),
    "break_after": ("after", StoreUnavailable),
}
"""What a database may do to the next call of a process: at which edge of the call, and what it raises."""


@dataclass
class Knowledge:
    """What the people in this world know and did; the oracles compare the ledger with it."""

    read: set[str] = field(default_factory=set)
    ruled_resend: Counter[str] = field(default_factory=Counter)
    cancelled_at: dict[str, int] = field(default_factory=dict)
    withdrawn_at: dict[str, int] = field(default_factory=dict)
    leases: dict[tuple[int, int], str] = field(default_factory=dict)
    renders: Counter[str] = field(default_factory=Counter)


class World:
    """Everything in it, and who they are. `script`: what the provider does to which attempt ("n0#1"); it accepts all
    others, and no owner acts unbidden. Without a script the seed decides both."""

    def __init__(
        self, seed: int, config: Config, parts: Parts | None = None, script: Mapping[str, str] | None = None
    ) -> None:
        self.seed = seed
        self.config = config
        self.parts = parts or Parts()
        self.script = script
        self.kernel = Kernel()
        self.connection = fresh_connection(self.parts.schema)
        self.calm = False
        self.known = Knowledge()
        self.provider = Provider(self.kernel, config.window, self._conduct)
        self.troubles: dict[tuple[str, str], str] = {}
        self.skews: dict[str, float] = {}
        self.births = 0
        self.store = self.parts.store()
        self.registry_kind = Kind(
            "reminder", "mail", on_uncertain=config.on_uncertain if config.keyed else _unkeyed(config.on_uncertain),
            retry=Backoff(attempts=ATTEMPTS, ceiling=timedelta(seconds=8)), max_lateness=timedelta(hours=2),
            handler_seconds=60.0,
            retention=Retention(*[timedelta(0)] * 3) if config.prunes else Retention(),
        )  # fmt: skip
        self.policy = ChannelPolicy(
            "mail", timedelta(seconds=config.window) if config.window else None, concurrency=2, send_seconds=4.0,
            pause=timedelta(seconds=5),
        )  # fmt: skip
        self._promise()
        for number in range(config.workers):
            self.start_worker(f"worker{number}")
        if config.owners and script is None:
            self._start(self._owner())

    def close(self) -> None:
        self.kernel.close()
        self.connection.close()

    def _conduct(self, context: SendContext) -> str:
        attempt = f"{context.key}#{context.number}"
        if self.script is not None:
            conduct = self.script.get(attempt, "accept")
        elif self.calm:
            conduct = "accept"
        else:
            draw = Random(f"{self.seed}/{context.key}/{context.number}")
            conduct = draw.choices(CONDUCTS, self.config.weights)[0]
        if conduct != "accept":
            self.kernel.note("provider", f"{attempt} {conduct}")
        return conduct

    def _promise(self) -> None:
        clock = SimClock(self.kernel)
        verbs = Notifications(Context("sim", {"reminder": self.registry_kind}, self.store, clock))
        news = [
            New(kind="reminder", key=f"n{i}", recipient=f"r{i}", after=timedelta(seconds=i % 2), group=f"g{i % 2}")
            for i in range(self.config.count)
        ]
        plan = verbs.schedule_many(news).plan(Wakes())
        database = SimDatabase(self.kernel, self.connection, Process("setup"), lambda name: None)
        strand = database.run(plan)
        try:
            while True:
                strand.send(None)
        except StopIteration:
            pass

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
        channel = SimChannel(self.policy, self.kernel, process, self.provider)
        registry = Registry({"reminder": self.registry_kind}, {"reminder": self._handler(process)}, {"mail": channel})
        holder = f"{name}#{self.births}"
        draw = Random(f"{self.seed}/{holder}").random
        lane = self.parts.lane(
            channel, registry, database, self.store, clock, tasks, draw, SETTINGS, holder, "duebook.example"
        )
        self.kernel.spawn(process, "lane", lane.run())
        agents: list[Agent] = [
            self.parts.rescuer(registry, database, self.store, SETTINGS, holder),
            Sweeper(database, self.store, clock, SETTINGS, holder),
            Reconciler(registry, database, self.store, clock, SETTINGS, holder),
        ]
        if self.config.prunes:
            agents.append(Pruner(registry, database, self.store, clock, SETTINGS))
        for agent in agents:
            self.kernel.spawn(process, agent.name, self._keep(agent))

    async def _keep(self, agent: Agent) -> None:
        while True:
            more = False
            with suppress(Busy, StoreUnavailable):
                more = await agent.step()
            if not more:
                await Until(lambda: False, self.kernel.elapsed + agent.pace_seconds)

    def _handler(self, process: Process) -> Callable[[Due], Coroutine[Any, Any, Email | Skip]]:
        async def handler(due: Due) -> Email | Skip:
            await Point("handler")
            if due.key in self.known.read:
                return Skip("it was read")
            self.known.renders[due.key] += 1
            text = f"rendering {self.known.renders[due.key]}"
            return Email(to=f"{due.recipient}@example.net", subject=due.key, text=text)

        return handler

    # Owners and reviewers

    def begin_deed(self, deed: str, key: str) -> None:
        self._start(self._do(deed, key))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        process = self.kernel.processes.setdefault("owner", Process("owner"))
        self.kernel.spawn(process, "owner", work)

    async def _owner(self) -> None:
        deeds = 0
        while not self.calm:
            deeds += 1
            draw = Random(f"{self.seed}/owner/{deeds}")
            await Until(lambda: self.calm, self.kernel.elapsed + draw.uniform(1, 12))
            key = f"n{draw.randrange(self.config.count)}"
            deed = draw.choice(DEEDS)
            self.kernel.note("owner", f"{deed} {key}")
            await self._do(deed, key)

    async def _do(self, deed: str, key: str) -> None:
        database = self.database(self.kernel.processes["owner"])
        verbs = Notifications(
            Context("sim", {"reminder": self.registry_kind}, self.store, SimClock(self.kernel), "owner")
        )
        try:
            await self._deed(deed, key, verbs, database)
        except (Busy, StoreUnavailable):
            # Whether it was done is unknown, so nothing is concluded from it.
            self._forgive(key)
            self.known.ruled_resend[key] += 1

    async def _deed(self, deed: str, key: str, verbs: Notifications, database: SimDatabase) -> None:
        if deed == "read":
            self.known.read.add(key)
            return
        work = self._work(deed, key, verbs)
        if deed in ("rearm", "redrive", "reschedule", "resend"):
            self._forgive(key)
        answer: Any = await database.run(work.plan(Wakes()))
        if deed == "cancel" and answer.result == "done":
            self.known.cancelled_at[key] = len(self.provider.taken.get(f"sim:reminder:{key}", []))
        if deed == "cancel" and answer.result == "too_late" and answer.state in ("sending", "uncertain"):
            query = "select number from duebook_notifications where key = ?"
            self.known.withdrawn_at[key] = self.connection.execute(query, (key,)).fetchone()[0]
        if deed == "resend" and answer:
            self.known.ruled_resend[key] += 1

    def _work(self, deed: str, key: str, verbs: Notifications) -> Work[Any]:
        seconds = timedelta(seconds=3)
        match deed:
            case "cancel":
                return verbs.cancel("reminder", key, reason="withdrawn")
            case "reschedule":
                return verbs.reschedule("reminder", key, after=2 * seconds)
            case "again":
                return verbs.schedule("reminder", key, recipient="r", after=seconds)
            case "rearm":
                return verbs.schedule("reminder", key, recipient="r", after=seconds, if_exists="rearm")
            case "redrive":
                return verbs.redrive("reminder", key, reason="try again")
            case "resend":
                return verbs.resolve("reminder", key, "resend", reason="send it again")
            case "sent":
                return verbs.resolve("reminder", key, "sent", reason="they got it")
        return verbs.send_now("reminder", key)

    def _forgive(self, key: str) -> None:
        """Its owner wants it again, so nothing is concluded from an earlier wish."""
        self.known.cancelled_at.pop(key, None)
        self.known.withdrawn_at.pop(key, None)


DEEDS = (
    "read", "cancel", "cancel", "reschedule", "rearm", "rearm", "redrive", "redrive", "resend", "sent", "send_now",
    "again",
)  # fmt: skip


def _unkeyed(on_uncertain: OnUncertain) -> OnUncertain:
    return "hold" if on_uncertain == "resend" else on_uncertain


@dataclass(frozen=True)
class Parts:
    """The real parts, each of which a mutant may replace by a broken one."""

    store: Callable[[], Any] = SqlStore
    lane: Callable[..., Any] = Lane
    rescuer: Callable[..., Any] = Rescuer
    text: Callable[[str, str], str] | None = None
    schema: Callable[[str], str] | None = None
    patches: tuple[tuple[str, Any], ...] = ()


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
