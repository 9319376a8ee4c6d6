"""A store in the hand of a test: the life of a notification, step by step, as a worker without an engine leads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from ....app.rooms import AsyncVerbs
from ....domain.deciding import intend
from ....domain.draft import Draft
from ....domain.lifecycle import Event, State
from ....domain.message import Email, Message
from ....domain.notification import Intent, Move, Notification, move
from ....domain.outcome import Accepted, Outcome, Retry, Uncertain
from ....domain.policy import ChannelPolicy, Kind, Priority
from ....domain.settling import settle
from ....domain.story import Story
from ....domain.walltime import Promise
from ....features.context import Context
from ....features.work import Wakes, Work
from ....ports import Clock, Database, Plan, R, Store

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAIL = ChannelPolicy("mail")
LEASE_SECONDS = 15.0
QUIET = timedelta(seconds=LEASE_SECONDS + 5 + MAIL.send_seconds)


@dataclass(kw_only=True)
class Life:
    """One database, its store and a clock. `do` runs any plan in a transaction of its own."""

    database: Database
    store: Store
    clock: Clock
    kinds: dict[str, Kind] = field(default_factory=dict)

    @property
    def book(self) -> AsyncVerbs:
        return AsyncVerbs(Context("test", self.kinds, self.store, self.clock), Runner(self.database))

    async def do(self, plan: Plan[R]) -> R:
        return await self.database.run(plan)

    def now(self) -> datetime:
        return self.clock.now()

    def at(self, seconds: float) -> datetime:
        """Return the instant that many seconds from now."""
        return self.clock.now() + timedelta(seconds=seconds)

    def declare(self, name: str = "mail", **policies: Any) -> Kind:
        kind = Kind(**{"name": name, "channel": "mail", **policies})
        self.kinds[name] = kind
        return kind

    # One step each

    def draft(self, key: str, due: float = 0, **changes: Any) -> Draft:
        due_at = self.at(due)
        values: dict[str, Any] = {
            "kind": "mail", "key": key, "recipient": "ann", "tenant": None, "namespace": "test", "channel": "mail",
            "priority": Priority.NORMAL, "group": None, "data": "{}", "promise": Promise(due_at), "expires_at": None,
            "wake_at": due_at, "created_at": self.now(),
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
        lease: float = LEASE_SECONDS,
        holder: str = "worker-1",
    ) -> list[Notification]:
        now, until = self.now(), self.at(lease)
        found = await self.do(self.store.claim(channel, kinds, limits, alone, floor, now, until, holder))
        return sorted(found, key=lambda n: n.id)

    async def begin(self, *several: Notification, text: str = "Hello", channel: ChannelPolicy = MAIL) -> list[Intent]:
        """Put each on record; answers the intents that the store took."""
        intents = [intent_of(n, self.now(), text, channel) for n in several]
        stored = await self.do(self.store.begin(channel.name, intents, self.now()))
        return [intent for intent in intents if intent.id in stored]

    async def settle(self, intent: Intent, outcome: Outcome) -> bool:
        """Record an outcome; says whether the fence still held."""
        kind = self.kinds.get(intent.notification.kind) or Kind("mail", "mail")
        made = settle(intent, outcome, kind, MAIL, self.now(), 0.0, QUIET)
        return intent.id in await self.do(self.store.apply([made]))

    async def apply(self, *moves: Move) -> dict[int, State]:
        return await self.do(self.store.apply(moves))

    # What is on record

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

    # Several steps at once

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
        await self.book.resolve("mail", key, "resend", reason="she says it never came")
        if then is not None:
            (n,) = await self.claim()
            (intent,) = await self.begin(n)
            assert await self.settle(intent, then)
        return await self.read(key)

    async def bring(self, key: str, state: State, **changes: Any) -> Notification:
        """Schedule one and lead it to a state."""
        self.kinds.setdefault("mail", Kind("mail", "mail"))
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
            await self.apply(moved(n, event, self.now(), reason="because"))
            if state is State.DROPPED:
                await self.apply(moved(await self.read(key, kind), Event.DROP, self.now(), reason="because"))
        n = await self.read(key, kind)
        assert n.state is state
        return n


class Runner:
    """Runs the verbs of the application on a database."""

    def __init__(self, database: Database) -> None:
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
    intent = intend(n, None, email(text), channel, now, n.holder or "nobody")
    assert isinstance(intent, Intent), f"it may not be sent: {intent}"
    return intent


def moved(n: Any, event: Event, at: datetime, **changes: Any) -> Move:
    return move(n, event, at, str(changes.pop("by", "tester")), **changes)


def names(found: Mapping[tuple[str, str], object]) -> set[str]:
    return {key for _, key in found}
