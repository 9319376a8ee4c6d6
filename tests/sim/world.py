"""A small world: the real engine and the real SQL, in processes that can die, over a provider that may do anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any, Literal

from duebook.domain.decision import Due, Skip
from duebook.domain.identity import reference
from duebook.domain.message import Email
from duebook.domain.policy import Kind, OnUncertain, Retention
from duebook.domain.receipt import Receipt
from duebook.domain.retry import Backoff
from duebook.engine.agent import Agent
from duebook.engine.pruner import Pruner
from duebook.engine.registry import Registry
from duebook.errors import Busy, StoreUnavailable
from duebook.features.context import Context
from duebook.features.drafting import New
from duebook.features.notifications import Notifications
from duebook.features.receipts import ReceiptRoom
from duebook.features.work import Wakes, Work
from duebook.ports import SendContext
from tests.sim.broker import Broker
from tests.sim.crowd import CONDUCTS, SETTINGS, Crowd, Parts
from tests.sim.kernel import Point, Process, Until
from tests.sim.ports import AskedChannel, SimChannel, SimClock, SimDatabase

ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class Config:
    """What kind of world. `window`: for how many seconds the provider recognises a key, None for never. `weights`: of
    the provider's conducts, in the order of CONDUCTS. `prunes`: whether closed notifications are let go of at once.
    `asks`: whether the provider can be asked afterwards, and whether its not knowing a message is proof. `receipts`:
    whether it says later what it took. `brokered`: whether a hostile broker is in between."""

    window: float | None = 86_400.0
    on_uncertain: OnUncertain = "hold"
    count: int = 4
    workers: int = 2
    weights: tuple[int, ...] = (10, 1, 3, 1, 1, 2, 1, 2)
    owners: bool = True
    prunes: bool = False
    asks: Literal["never", "truth", "proof"] = "never"
    receipts: bool = False
    brokered: bool = False
    fault_rate: float = 0.12

    @property
    def keyed(self) -> bool:
        return self.window is not None


@dataclass
class Knowledge:
    """What the people in this world know and did; the oracles compare the ledger with it."""

    read: set[str] = field(default_factory=set)
    ruled_resend: Counter[str] = field(default_factory=Counter)
    cancelled_at: dict[str, int] = field(default_factory=dict)
    withdrawn_at: dict[str, int] = field(default_factory=dict)
    leases: dict[tuple[int, int], str] = field(default_factory=dict)
    renders: Counter[str] = field(default_factory=Counter)
    received: set[str] = field(default_factory=set)


class World(Crowd):
    """Everything in it, and who they are. `script`: what the provider does to which attempt ("n0#1"); it accepts all
    others, and no owner acts unbidden. Without a script the seed decides both."""

    def __init__(
        self, seed: int, config: Config, parts: Parts | None = None, script: Mapping[str, str] | None = None
    ) -> None:
        self.config = config
        self.script = script
        self.known = Knowledge()
        self.registry_kind = Kind(
            "reminder", "mail", on_uncertain=config.on_uncertain if config.keyed else _unkeyed(config.on_uncertain),
            retry=Backoff(attempts=ATTEMPTS, ceiling=timedelta(seconds=8)), max_lateness=timedelta(hours=2),
            handler_seconds=60.0,
            retention=Retention(*[timedelta(0)] * 3) if config.prunes else Retention(),
        )  # fmt: skip
        super().__init__(seed, [self.registry_kind], parts or Parts(), config.window, config.fault_rate)
        if config.brokered:
            self.broker = Broker(self.kernel, seed)
        self._promise()
        for number in range(config.workers):
            self.start_worker(f"worker{number}")
        if config.owners and script is None:
            self._start(self._owner())

    def conduct(self, context: SendContext) -> str:
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
        self.at_once(plan)

    def agents(self, registry: Registry, database: SimDatabase, clock: SimClock, holder: str) -> list[Agent]:
        found = super().agents(registry, database, clock, holder)
        return [*found, Pruner(registry, database, self.store, clock, SETTINGS)] if self.config.prunes else found

    def channel(self, process: Process) -> SimChannel:
        if self.config.asks == "never":
            return super().channel(process)
        proves = self.config.asks == "proof"
        return AskedChannel(self.policy, self.kernel, process, self.provider, proves)

    def handler(self, process: Process, kind: Kind) -> Callable[[Due], Coroutine[Any, Any, Email | Skip]]:
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
            deed = draw.choice((*DEEDS, *["receive"] * 6) if self.config.receipts else DEEDS)
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
        if deed == "receive":
            await self._receive(key, database)
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

    async def _receive(self, key: str, database: SimDatabase) -> None:
        """The provider says of a message it took that it delivered it; by our reference, or by its own name for it."""
        taken = self.provider.taken.get(name := f"sim:reminder:{key}")
        if not taken:
            return
        number, _ = taken[-1]
        query = "select notification_id from duebook_identities where key = ?"
        said = reference(self.connection.execute(query, (key,)).fetchone()[0], name)
        ours = Random(f"{self.seed}/{key}/{number}/receipt").random() < 0.5
        at = SimClock(self.kernel).now()
        receipt = Receipt(
            "sim", f"{key}-{number}", "delivered", at, None if ours else f"p-{key}-{number}", said if ours else None
        )
        room = ReceiptRoom(
            Context("sim", {"reminder": self.registry_kind}, self.store, SimClock(self.kernel), "provider")
        )
        recorded = await database.run(room.record([receipt]).plan(Wakes()))
        if recorded.matched:
            self.known.received.add(key)

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
                return verbs.redrive("reminder", key, reason="try again", force=True)
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
