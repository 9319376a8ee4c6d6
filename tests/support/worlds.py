"""A store with everything around it that a test wants to hold in its hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from duebook.app.rooms import AsyncVerbs
from duebook.domain.deciding import intend
from duebook.domain.draft import Draft
from duebook.domain.lifecycle import Event, State
from duebook.domain.message import Email, Message
from duebook.domain.notification import Intent, Move, Notification, move
from duebook.domain.outcome import Accepted, Outcome, Retry, Uncertain
from duebook.domain.policy import ChannelPolicy, Kind, Priority
from duebook.domain.settling import settle
from duebook.domain.story import Story
from duebook.domain.walltime import Promise
from duebook.engine.registry import Registry
from duebook.features.context import Context
from duebook.features.work import Wakes, Work
from duebook.ports import Plan
from duebook.stores.store import SqlStore
from tests.support.clock import Clock
from tests.support.faults import FaultyDatabase
from tests.support.shell import Dialect, Shell

R = TypeVar("R")

EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")
MAIL = ChannelPolicy("mail")
LEASE = 15.0
QUIET = timedelta(seconds=LEASE + 5 + MAIL.send_seconds)


@dataclass
class World:
    """One database, its store and its clock. `do` runs any plan in a transaction of its own."""

    dialect: Dialect
    database: FaultyDatabase
    shell: Shell
    clock: Clock
    address: str = ""
    store: SqlStore = field(default_factory=SqlStore)
    registry: Registry = field(default_factory=Registry)

    @property
    def book(self) -> AsyncVerbs:
        return AsyncVerbs(Context("test", self.registry.kinds, self.store, self.clock), Runner(self.database))

    async def do(self, plan: Plan[R]) -> R:
        return await self.database.run(plan)

    def declare(self, name: str = "mail", **policies: Any) -> Kind:
        kind = Kind(**{"name": name, "channel": "mail", **policies})
        self.registry.kinds[name] = kind
        return kind

    # A notification's life, step by step, as a worker without an engine would lead it

    def draft(self, key: str, due: float = 0, **changes: Any) -> Draft:
        due_at = self.clock.at(due) if due >= 0 else self.clock.now() + timedelta(seconds=due)
        values: dict[str, Any] = {
            "kind": "mail", "key": key, "recipient": "ann", "tenant": None, "namespace": "test", "channel": "mail",
            "priority": Priority.NORMAL, "group": None, "data": "{}", "promise": Promise(due_at), "expires_at": None,
            "wake_at": due_at, "created_at": self.clock.now(),
        }  # fmt: skip
        return Draft(**{**values, **changes})

    async def schedule(self, *keys: str, due: float = 0, **changes: Any) -> dict[str, int]:
        created = await self.do(self.store.schedule([self.draft(key, due, **changes) for key in keys]))
        return {key: id for (_, key), id in created.items()}

    async def claim(
        self,
        *,
        channel: str = "mail",
        kinds: Sequence[str] = ("mail",),
        limits: Sequence[int] = (100, 100, 100),
        alone: int = 1,
        floor: datetime = EPOCH,
        lease: float = LEASE,
        holder: str = "worker-1",
    ) -> list[Notification]:
        now, until = self.clock.now(), self.clock.at(lease)
        found = await self.do(self.store.claim(channel, kinds, limits, alone, floor, now, until, holder))
        return sorted(found, key=lambda n: n.id)

    async def begin(self, *several: Notification, text: str = "Hello", channel: ChannelPolicy = MAIL) -> list[Intent]:
        """Put each on record; answers the intents that the store took."""
        intents = [intent_of(n, self.clock.now(), text, channel) for n in several]
        stored = await self.do(self.store.begin(channel.name, intents, self.clock.now()))
        return [intent for intent in intents if intent.id in stored]

    async def settle(self, intent: Intent, outcome: Outcome) -> bool:
        """Record an outcome; says whether the fence still held."""
        kind = self.registry.kinds.get(intent.notification.kind) or Kind("mail", "mail")
        made = settle(intent, outcome, kind, MAIL, self.clock.now(), 0.0, QUIET)
        return intent.id in await self.do(self.store.apply([made]))

    async def apply(self, *moves: Move) -> dict[int, State]:
        return await self.do(self.store.apply(moves))

    async def read(self, key: str, kind: str = "mail") -> Notification:
        found = await self.do(self.store.read(kind, key))
        assert found is not None, f"there is no {kind}/{key}"
        return found

    async def state(self, key: str, kind: str = "mail") -> State:
        return (await self.read(key, kind)).state

    async def story(self, key: str, kind: str = "mail") -> Story:
        found = await self.do(self.store.read_story(kind, key))
        assert found is not None, f"nothing is on record about {kind}/{key}"
        return found

    def tally(self) -> dict[str, int]:
        """How many there are in each state."""
        counted = self.shell.run("select state, count(*) from @notifications group by state")
        return {str(state): int(count) for state, count in counted}

    async def claimed(self, key: str, **changes: Any) -> Notification:
        await self.schedule(key, **changes)
        channel, kind = changes.get("channel", "mail"), changes.get("kind", "mail")
        return next(n for n in await self.claim(channel=channel, kinds=(kind,)) if n.key == key)

    async def sending(self, key: str, **changes: Any) -> Intent:
        (intent,) = await self.begin(await self.claimed(key, **changes))
        return intent

    async def doubted(self, key: str, then: Outcome | None = None) -> Notification:
        """One whose first attempt nobody can vouch for, and which has been allowed to go out again."""
        await self.bring(key, State.UNCERTAIN)
        (await self.book.resolve("mail", key, "resend", reason="she says it never came"))
        if then is not None:
            (n,) = await self.claim()
            (intent,) = await self.begin(n)
            assert await self.settle(intent, then)
        return await self.read(key)

    async def bring(self, key: str, state: State, **changes: Any) -> Notification:
        """Schedule one and lead it to a state."""
        self.registry.kinds.setdefault("mail", Kind("mail", "mail"))
        kind = changes.get("kind", "mail")
        if state is State.SCHEDULED:
            await self.schedule(key, **changes)
        elif state is State.CLAIMED:
            await self.claimed(key, **changes)
        elif state in (State.SENDING, State.UNCERTAIN, State.ACCEPTED):
            intent = await self.sending(key, **changes)
            if state is not State.SENDING:
                await self.settle(intent, Accepted("p-1") if state is State.ACCEPTED else uncertain())
        else:
            n = await self.claimed(key, **changes)
            event = {State.SKIPPED: Event.SKIP, State.CANCELLED: Event.CANCEL}.get(state, Event.REJECT)
            await self.apply(moved(n, event, self.clock.now(), reason="because"))
            if state is State.DROPPED:
                await self.apply(moved(await self.read(key, kind), Event.DROP, self.clock.now(), reason="because"))
        n = await self.read(key, kind)
        assert n.state is state
        return n


class Runner:
    """Runs the verbs of the application on the world's database."""

    def __init__(self, database: FaultyDatabase) -> None:
        self._database = database

    async def do(self, work: Work[R]) -> R:
        plan = work.plan(Wakes())
        return await (self._database.run(plan) if work.atomic else self._database.ask(plan))


def uncertain() -> Outcome:
    return Uncertain("no reply after the final dot", phase="data")


def retry() -> Outcome:
    return Retry("451 try again later")


def email(text: str = "Hello") -> Message:
    return Email(to="ann@example.org", subject="A reminder", text=text)


def intent_of(n: Notification, now: datetime, text: str = "Hello", channel: ChannelPolicy = MAIL) -> Intent:
    intent = intend(n, email(text), channel, now, n.holder or "nobody")
    assert isinstance(intent, Intent), f"it may not be sent: {intent}"
    return intent


def moved(n: Any, event: Event, at: datetime, **changes: Any) -> Move:
    return move(n, event, at, str(changes.pop("by", "tester")), **changes)


def names(found: Mapping[tuple[str, str], object]) -> set[str]:
    return {key for _, key in found}
