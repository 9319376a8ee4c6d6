"""Duebook: what an application holds. Making one does no I/O; the first verb opens the database."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from ..domain.decision import Decision, Due
from ..domain.outcome import Outcome
from ..domain.policy import (
    UNREAD_RETENTION,
    AttentionLimit,
    ChannelPolicy,
    Copy,
    DeadlinePolicy,
    DigestPolicy,
    Kind,
    OnUncertain,
    Priority,
    Retention,
    UnreadPolicy,
    checked_name,
)
from ..domain.retry import Backoff
from ..errors import InvalidInput, UnknownName
from ..features.context import Context
from ..ports import Channel, Queue, SendContext
from .retiming import Retimings, retime
from .rooms import AsyncVerbs, SyncVerbs

if TYPE_CHECKING:
    from ..engine.settings import EngineSettings
    from ..wiring import Wired
    from ..worker import Worker


ChannelFunction = TypeVar("ChannelFunction", bound=Callable[[Any, SendContext], Outcome | Awaitable[Outcome]])
HandlerFunction = TypeVar("HandlerFunction", bound=Callable[[Due], Decision | Awaitable[Decision]])


class AwaitedConnection(Protocol):
    """A connection or session whose execute is awaited."""

    def execute(self, *args: Any, **kwargs: Any) -> Awaitable[Any]: ...


class Duebook(AsyncVerbs):
    """Schedules notifications, and runs the workers that send them.

    `url`: sqlite:///file.db or postgresql://…; by default $DUEBOOK_URL. `namespace`: part of every idempotency key, so
    that staging never swallows production's mails; by default $DUEBOOK_NAMESPACE or "default". `message_domain`: the
    right-hand side of Message-IDs. `by`: who the history names for what is done through this book. `queue`: a broker
    between the database and the workers, by its URL (redis://, amqp://, …) or as an object; by default $DUEBOOK_QUEUE,
    or none.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        namespace: str | None = None,
        message_domain: str = "duebook.invalid",
        by: str = "app",
        settings: EngineSettings | None = None,
        queue: Queue | str | None = None,
    ) -> None:
        from .. import wiring

        self.url = wiring.checked_url(url or os.environ.get("DUEBOOK_URL"))
        self.namespace = checked_name("namespace", namespace or os.environ.get("DUEBOOK_NAMESPACE") or "default")
        self.message_domain = message_domain
        self.wired = wiring.Wired(self.url, settings, wiring.queue_for(queue or os.environ.get("DUEBOOK_QUEUE")))
        self.registry = self.wired.registry
        wired, registry = self.wired, self.registry
        context = Context(self.namespace, registry.kinds, wired.store, wired.clock, by, registry.channels)
        super().__init__(context, self.wired.runner)

    # What the application declares

    def add_channel(self, name: str, channel: Channel) -> None:
        """Register a channel object, such as Smtp(…), under a name."""
        checked_name("channel", name)
        if name in self.registry.channels:
            raise InvalidInput("channel", f"{name!r} is registered already")
        if channel.policy.name != name:
            channel.policy = replace(channel.policy, name=name)
        self.registry.channels[name] = channel

    def channel(
        self,
        name: str,
        *,
        key_window: timedelta | None = None,
        concurrency: int = 20,
        rate: float | None = None,
        send_seconds: float = 15.0,
        pause: timedelta = timedelta(seconds=30),
    ) -> Callable[[ChannelFunction], ChannelFunction]:
        """Register a function `(message, context) -> Outcome`, async or plain, as a channel.

        `key_window`: how long the provider deduplicates by context.idempotency_key; leave it out if it does not.
        `rate`: sends a second over all workers. An exception it raises is recorded as Uncertain.
        """
        policy = ChannelPolicy(name, key_window, concurrency, rate, send_seconds, pause)

        def register(function: ChannelFunction) -> ChannelFunction:
            self.add_channel(name, self.wired.function_channel(policy, function))
            return function

        return register

    def kind(
        self,
        name: str,
        *,
        channel: str,
        priority: str = "normal",
        retry: Backoff | None = None,
        max_lateness: timedelta | None = None,
        on_uncertain: OnUncertain = "hold",
        handler_seconds: float = 10.0,
        patience: timedelta = timedelta(days=7),
        keep_copy: Copy = "full",
        retention: Retention | None = None,
        spread: timedelta | None = None,
        deadline: DeadlinePolicy | None = None,
        unread: UnreadPolicy | None = None,
        digest: DigestPolicy | None = None,
        attention: AttentionLimit | None = None,
        essential: bool = False,
        channels: Sequence[str] = (),
    ) -> Callable[[HandlerFunction], HandlerFunction]:
        """Register a kind with its handler: `(due) -> message or decision`, async or plain.

        `max_lateness`: worth nothing later than this after it was due. `on_uncertain`: "hold" for a person, "resend"
        while the channel's key window protects a repeat, or "assume_sent". `keep_copy`: what the ledger keeps of the
        message ("none", "hash", "full"). `patience`: how long it may be deferred. `spread`: what a schedule or a
        deadline makes due at one instant is spread over so long, by recipient. `deadline`: it reminds of dates.
        `unread`: it reminds of unread messages. `digest`: it gathers items by period.
        `attention`: how much of it one recipient gets. `essential`: no wish of its recipient stops it. `channels`:
        others it can go over.
        """
        declared = self.declare(
            name, channel=channel, priority=priority, retry=retry, max_lateness=max_lateness,
            on_uncertain=on_uncertain, handler_seconds=handler_seconds, patience=patience, keep_copy=keep_copy,
            retention=retention, spread=spread, deadline=deadline, unread=unread,
            digest=digest,
            attention=attention,
            essential=essential,
            channels=tuple(channels),
        )  # fmt: skip

        def register(function: HandlerFunction) -> HandlerFunction:
            self.registry.handlers[declared.name] = self.wired.awaited(function)
            return function

        return register

    def declare(self, name: str, *, channel: str, priority: str = "normal", **policies: Any) -> Kind:
        """Register a kind without a handler, in a program that schedules it and never sends it."""
        if name in self.registry.kinds and name in self.registry.handlers:
            raise InvalidInput("kind", f"{name!r} is registered already")
        stated = {key: value for key, value in policies.items() if value is not None}
        if unread := stated.get("unread"):
            stated["unread"] = replace(
                unread,
                count_unread=unread.count_unread and self.wired.awaited(unread.count_unread),
                read_up_to=unread.read_up_to and self.wired.awaited(unread.read_up_to),
            )
            stated.setdefault("retention", UNREAD_RETENTION)
        self.registry.kinds[name] = Kind(name, channel, Priority.named(priority), **stated)
        return self.registry.kinds[name]

    # Where the verbs run

    @overload
    def using(self, connection: AwaitedConnection) -> AsyncVerbs: ...  # type: ignore[overload-overlap]
    @overload
    def using(self, connection: object) -> SyncVerbs: ...
    def using(self, connection: object) -> AsyncVerbs | SyncVerbs:
        """Return the verbs inside the caller's own transaction; nothing is committed here.

        Takes a SQLAlchemy Session, AsyncSession, Connection or AsyncConnection, a psycopg connection of either kind, an
        asyncpg connection, a sqlite3 connection, or the alias of a Django database. Raises NotInTransaction in
        autocommit, SchemaMismatch without duebook's tables. Deadlocks and serialization failures are the caller's.
        """
        return self.wired.using(connection, self._context)

    @cached_property
    def sync(self) -> SyncBook:
        """The same verbs for programs without an event loop."""
        return SyncBook(self._context, self.wired)

    async def migrate(self) -> list[str]:
        """Create or update duebook's tables; answers the names of the migrations applied."""
        return await self.wired.database.migrate()

    async def retime(self, *, dry_run: bool = False) -> Retimings:
        """Resolve what is to come anew under the zone rules in use; answers what moved, or would with `dry_run`."""
        return await retime(self._context, self.wired.runner, dry_run=dry_run)

    @asynccontextmanager
    async def worker(self, *, channels: list[str] | None = None, stop_seconds: float = 30.0) -> AsyncIterator[Worker]:
        """Run a worker beside the application: `async with book.worker(): …`.

        `channels`: only these. On leaving, what has not begun goes back at once and what is on the wire is settled,
        for at most `stop_seconds`.
        """
        for name in channels or ():
            if name not in self.registry.channels:
                raise UnknownName("channel", name, self.registry.channels)
        worker = self.wired.worker(channels, self.message_domain, stop_seconds)
        await worker.start()
        try:
            yield worker
        finally:
            await worker.stop()

    async def close(self) -> None:
        """Close the database and every channel."""
        await self.wired.close()


class SyncBook(SyncVerbs):
    """The verbs for programs without an event loop, on duebook's own connections."""

    def __init__(self, context: Context, wired: Wired) -> None:
        runner = wired.sync_runner()
        super().__init__(context, runner)
        self._portal = runner.portal
        self._wired = wired

    def migrate(self) -> list[str]:
        """Create or update duebook's tables; answers the names of the migrations applied."""
        return self._portal.call(self._wired.database.migrate())

    def retime(self, *, dry_run: bool = False) -> Retimings:
        """Resolve what is to come anew under the zone rules in use; answers what moved, or would with `dry_run`."""
        return self._portal.call(retime(self._context, self._wired.runner, dry_run=dry_run))

    def close(self) -> None:
        """Close the database and every channel."""
        self._portal.call(self._wired.close())
