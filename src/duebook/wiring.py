"""The composition root: the one module that knows the engine and the adapters, and puts them together."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from .clock import SystemClock
from .domain.policy import ChannelPolicy, Priority
from .domain.publication import queue_name, reach
from .engine import incarnation
from .engine.registry import Registry
from .engine.settings import EngineSettings
from .errors import InvalidInput, QueueUnavailable, SchemaMismatch, StoreUnavailable, UnknownName, UnsafeSetting
from .features.work import Wakes, Work
from .portal import Portal
from .ports import Channel, Queue
from .promotion import Promotion
from .stores import catalog
from .stores.sqlite.database import SqliteDatabase
from .stores.store import SqlStore

if TYPE_CHECKING:
    from .app.rooms import AsyncVerbs, SyncVerbs
    from .engine.promoter import Promoter
    from .features.context import Context
    from .stores.postgres.database import PostgresDatabase
    from .worker import Worker

R = TypeVar("R")
log = logging.getLogger("duebook")

_SCHEMES = "sqlite:///file.db, sqlite:// (memory) or postgresql://user@host/database"


def checked_url(url: str | None) -> str:
    """Return a database URL, or raise InvalidInput; a password in it never reaches the message."""
    if not url:
        raise InvalidInput("url", f"no database given; set DUEBOOK_URL or pass {_SCHEMES}")
    scheme, separator, rest = url.partition("://")
    scheme = scheme.lower().partition("+")[0]
    if not separator or scheme not in ("sqlite", "postgresql", "postgres"):
        found = f"has the scheme {scheme!r}; it" if separator else "has no scheme; it"
        raise InvalidInput("url", f"{found} must look like {_SCHEMES}")
    if scheme == "sqlite" and rest and not rest.startswith("/"):
        raise InvalidInput("url", f"names no SQLite file; a relative one has three slashes: {_SCHEMES}")
    try:
        _ = urlsplit(f"{scheme}://{rest}").port
    except ValueError:
        raise InvalidInput(
            "url", "cannot be read; characters such as @ : / [ in a password are written as %40 …"
        ) from None
    return f"{scheme}://{rest}"


def database_for(url: str) -> SqliteDatabase | PostgresDatabase:
    """Return the database a checked URL names; nothing is opened yet."""
    if url.startswith("sqlite"):
        return SqliteDatabase(url.partition("://")[2].removeprefix("/") or ":memory:")
    from .stores.postgres.database import PostgresDatabase

    return PostgresDatabase(url)


def queue_for(queue: Queue | str | None) -> Queue | None:
    """Return the broker a URL names; nothing is connected yet. Raises InvalidInput or MissingExtra."""
    if not isinstance(queue, str):
        return queue
    from .queues.opening import open_queue

    return open_queue(queue) if queue else None


class Runner:
    """Carries out work on duebook's own connections, and tells idle lanes afterwards."""

    def __init__(self, wired: Wired) -> None:
        self._wired = wired

    async def do(self, work: Work[R]) -> R:
        wakes = Wakes()
        run = self._wired.database.run if work.atomic else self._wired.database.ask
        result = await run(work.plan(wakes))
        await self._wired.tell(wakes)
        return result


class SyncRunner:
    """Carries out work for a program without an event loop."""

    def __init__(self, portal: Portal, runner: Runner) -> None:
        self.portal = portal
        self._runner = runner

    def do(self, work: Work[R]) -> R:
        return self.portal.call(self._runner.do(work))


@dataclass(frozen=True, slots=True)
class Threaded:
    """A plain function of the application, awaited: it runs in a thread, so that it may block."""

    function: Callable[..., Any]

    async def __call__(self, *args: Any) -> Any:
        answer = await asyncio.to_thread(self.function, *args)
        return await answer if inspect.isawaitable(answer) else answer


class Wired:
    """Everything behind one Duebook."""

    def __init__(self, url: str, settings: EngineSettings | None = None, queue: Queue | None = None) -> None:
        self.database = database_for(url)
        self.queue = queue
        self.store = SqlStore()
        self.clock = SystemClock()
        self.registry = Registry()
        self.settings = settings or EngineSettings()
        self.runner = Runner(self)
        self.wakers: dict[str, Callable[[float], None]] = {}
        self.portal = Portal()
        self.promotion = Promotion(self.promoter(queue).step, self.portal) if queue is not None else None

    def sync_runner(self) -> SyncRunner:
        return SyncRunner(self.portal, self.runner)

    def using(self, connection: object, context: Context) -> AsyncVerbs | SyncVerbs:
        from .callers import verbs

        return verbs(connection, context, self.tell_here)

    def function_channel(self, policy: ChannelPolicy, function: Callable[..., Any]) -> Channel:
        from .channels.function import FunctionChannel

        return FunctionChannel(policy, function)

    def awaited(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function of the application, such as a handler, that is awaited."""
        return function if inspect.iscoroutinefunction(function) else Threaded(function)

    async def tell(self, wakes: Wakes) -> None:
        """Wake idle lanes, those of this process directly and others through the database, and tell the broker."""
        self.tell_here(wakes)
        if self.database.dialect == "postgres":
            try:
                for channel in wakes.channels:
                    await self.database.ask(self.store.notify(channel))
            except StoreUnavailable as error:
                # It is stored; only the hint is lost, and polling finds it.
                log.debug("nobody was woken: %s", error)

    def tell_here(self, wakes: Wakes) -> None:
        """Wake idle lanes of this process, and have the broker told of what is in its reach."""
        now = self.clock.now()
        for channel, wake_at in wakes.channels.items():
            self.wake(channel, (wake_at - now).total_seconds())
        if self.queue is not None and wakes.first is not None and wakes.first - now <= reach(self.queue.max_delay):
            self.promote_soon()

    def promote_soon(self) -> None:
        if self.promotion is not None:
            self.promotion.soon()

    def wake(self, channel: str, seconds: float = 0.0) -> None:
        if waker := self.wakers.get(channel):
            waker(seconds)

    async def close(self) -> None:
        for channel in self.registry.channels.values():
            await channel.close()
        if self.promotion is not None:
            await self.promotion.finish()
        if self.queue is not None:
            await self.queue.close()
        await self.database.close()

    def worker(self, only: list[str] | None, message_domain: str, stop_seconds: float) -> Worker:
        """Put a worker together: a lane for each channel with a kind to serve, and the housekeeping agents."""
        from .staff import Staff

        check_registry(self.registry)
        return Staff(self, only, message_domain).worker(stop_seconds)

    @property
    def listen(self) -> Callable[[Callable[[str], None]], Any] | None:
        """How the wake-ups of other processes are heard, where they can be."""
        return None if isinstance(self.database, SqliteDatabase) else self.database.listen

    def promoter(self, queue: Queue) -> Promoter:
        from .engine.promoter import Promoter

        return Promoter(queue, self.database, self.store, self.clock, self.settings)

    async def close_digests(self, kind: str | None) -> None:
        """Close the digest periods that have ended, of one kind or of all, as a worker would."""
        from .engine.digester import Digester

        handlers = {name: handler for name, handler in self.registry.handlers.items() if kind in (None, name)}
        registry = replace(self.registry, handlers=handlers)
        digester = Digester(registry, self.database, self.store, self.clock, self.settings, {})
        while await digester.step():
            pass

    async def refresh(self) -> None:
        """Adopt the database's time, and say which kinds are served here."""
        if self.database.dialect == "postgres":
            await self.clock.correct(self.database.time)
        async with self.database.incarnation() as found:
            if found is not None:
                plan = incarnation.adopt(self.store, found, "duebook", self.clock.now())
                if await self.database.run(plan):
                    log.error("everything is paused: %s", incarnation.REASON)
                found.adopted = True
        kinds = list(self.registry.served().values())
        await self.database.run(self.store.register_kinds(kinds, self.clock.now()))

    async def check_schema(self) -> None:
        """Raise SchemaMismatch unless the tables are there and of this release."""
        present = await self.database.ask(self.store.read_schema())
        needed = catalog.newest(self.database.dialect)
        if present != needed:
            raise SchemaMismatch.between(present, needed)

    async def check_queue(self) -> None:
        """Raise QueueUnavailable unless the broker can be reached and has every queue, where there is one."""
        if self.queue is not None and not (health := await self.queue.health(self.queue_names())).reachable:
            raise QueueUnavailable(health.detail)

    def queue_names(self) -> list[str]:
        return [queue_name(channel, priority) for channel in self.registry.channels for priority in Priority]


def check_registry(registry: Registry) -> None:
    """Raise UnknownName or UnsafeSetting where kinds and channels do not fit together."""
    for kind in registry.served().values():
        policy = registry.policy(kind.channel)
        if policy is None:
            raise UnknownName("channel", kind.channel, registry.channels)
        if kind.on_uncertain == "resend" and policy.key_window is None:
            raise UnsafeSetting(
                f"kind {kind.name!r} wants on_uncertain='resend', but channel {policy.name!r} states no key_window: "
                "its provider would not notice a repeat. Use 'hold' or 'assume_sent', or state the window"
            )
