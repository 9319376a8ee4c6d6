"""One run of one command: its book, who it acts for, and how it answers."""

from __future__ import annotations

import getpass
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cached_property

from ..app.book import Duebook
from ..app.rooms import AsyncVerbs
from ..domain.notification import Notification
from ..domain.policy import Kind, Priority
from ..errors import InvalidInput, UnknownName
from ..features.context import Context
from ..ports import Plan, R
from .opening import Where, check_file, check_schema, open_book
from .output import Screen

FARTHEST = 2**62


class Session:
    """Handed to every command. `knows_app`: the kinds are the application's own, with their policies."""

    def __init__(self, where: Where, screen: Screen) -> None:
        self.where = where
        self.screen = screen

    @property
    def knows_app(self) -> bool:
        return self.where.app_name is not None

    def need_app(self, what: str) -> None:
        """Raise InvalidInput where no app is named: it alone says `what`."""
        if not self.knows_app:
            raise InvalidInput("app", f"{what} is declared in the app: give --app module:book")

    def use(self, app: str | None) -> None:
        """Work on another app's book than the options name, before the book is first asked for."""
        if app is not None:
            self.where = Where(self.where.database, app)

    @cached_property
    def book(self) -> Duebook:
        return open_book(self.where)

    @cached_property
    def context(self) -> Context:
        """What the verbs know, with the person at the keyboard on record as the one who acts."""
        wired = self.book.wired
        kinds, by = self.book.registry.kinds, f"cli:{_user()}"
        return Context(self.book.namespace, kinds, wired.store, wired.clock, by, self.channels)

    @cached_property
    def channels(self) -> dict[str, object]:
        """The channels that are known by name."""
        return dict(self.book.registry.channels)

    @cached_property
    def verbs(self) -> AsyncVerbs:
        """The verbs, in that person's name."""
        return AsyncVerbs(self.context, self.book.wired.runner)

    @property
    def urls(self) -> list[str]:
        """Every database URL this run has seen: their passwords are kept out of what it says."""
        book = self.__dict__.get("book")
        seen = [book.url if book else None, self.where.database, os.environ.get("DUEBOOK_URL")]
        return [url for url in seen if url]

    async def ask(self, plan: Plan[R]) -> R:
        """Run a plan of the store that only reads."""
        return await self.book.wired.database.ask(plan)

    @asynccontextmanager
    async def opened(self, ready: bool) -> AsyncIterator[Session]:
        """Open the book and close it afterwards. `ready`: its schema is checked and its kinds are known."""
        try:
            if ready:
                await self.prepare()
            yield self
        finally:
            if "book" in self.__dict__:
                await self.book.close()

    async def prepare(self) -> None:
        """Check file and schema, adopt the database's time, and learn the kinds where no app declares them."""
        book = self.book
        check_file(book)
        await check_schema(book)
        if book.wired.database.dialect == "postgres":
            await book.wired.clock.correct(book.wired.database.time)
        if not self.knows_app:
            for known in await self.ask(book.wired.store.read_kinds()):
                book.declare(known.kind, channel=known.channel, priority=Priority(known.priority).name)

    async def kind(self, name: str, key: str | None = None) -> Kind:
        """Return a kind by name, or raise UnknownName with the nearest one.

        A kind that no worker has served yet is known by its notifications.
        """
        kinds, store = self.book.registry.kinds, self.book.wired.store
        if name not in kinds and not self.knows_app:
            if key is not None:
                one = await self.ask(store.read(name, key))
                found = [] if one is None else [one]
            else:
                found = await self.ask(store.search(_filters(kind=name), FARTHEST, 1))
            for n in found:
                self.book.declare(n.kind, channel=n.channel, priority=Priority(n.priority).name)
        if name not in kinds:
            if not kinds:
                problem = (
                    f"{name!r} is unknown: no worker has served this database yet. Name the app: --app module:book"
                )
                raise InvalidInput("kind", problem)
            raise UnknownName("kind", name, kinds)
        return kinds[name]

    async def channel(self, name: str) -> str:
        """Return the name of a channel, or raise UnknownName with the nearest one.

        A channel that no kind is registered for is known by what waits for it.
        """
        known = {*self.channels, *(channel for kind in self.book.registry.kinds.values() for channel in kind.able)}
        if name not in known:
            self.channels.update((row[1], None) for row in await self.ask(self.book.wired.store.count_states()))
            known.update(self.channels)
        if name not in known:
            raise UnknownName("channel", name, known)
        return name

    async def search(
        self,
        *,
        kind: str | None = None,
        state: str | None = None,
        channel: str | None = None,
        tenant: str | None = None,
        recipient: str | None = None,
        limit: int,
    ) -> list[Notification]:
        """Return up to `limit` notifications that meet every filter, newest first."""
        filters = _filters(kind=kind, state=state, channel=channel, tenant=tenant)
        store = self.book.wired.store
        if recipient is None:
            return await self.ask(store.search(filters, FARTHEST, limit))
        return await self.ask(store.search_recipient(recipient, filters, FARTHEST, limit))


def _filters(**wanted: str | None) -> dict[str, str | None]:
    return {name: wanted.get(name) for name in ("kind", "state", "channel", "tenant")}


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
