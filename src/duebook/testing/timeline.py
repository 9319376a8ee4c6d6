"""A timeline: a book in a test, whose time passes when the test says so."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..app.book import Duebook
from ..domain.story import Story
from ..domain.walltime import Disambiguation, local, promise
from ..stores.callers import caller
from .clock import START, SimClock
from .crew import Crew
from .databases import Joined, open_place
from .expectation import Expectation, unknown
from .inline import inline
from .recording import RecordingChannel, Sent
from .stage import Apart, Stage, check_free

if TYPE_CHECKING:
    from typing import Self

INSTANTS = 200_000


class _Timeline:
    """What both forms share: everything that does not let time pass."""

    def __init__(
        self,
        book: Duebook | None = None,
        url: str | None = None,
        *,
        start: datetime = START,
        keep: Collection[str] = (),
        wipe: bool = False,
    ) -> None:
        self.clock = SimClock(start)
        self._url = url
        self._keep = keep
        self._wipe = wipe
        self._looked: set[tuple[int, int]] = set()
        self._loop: asyncio.Runner | None = None
        self._stage: Stage | None = None
        self.of(book or Duebook("sqlite://", namespace="test"))

    # Who is on it

    @property
    def book(self) -> Duebook:
        """The book on this timeline."""
        return self._on.book

    def of(self, book: Duebook) -> Self:
        """Put another book on this timeline, in a fresh database; the one before goes back to its own."""
        self._leave()
        check_free(book)
        place = open_place(self._url, wipe=self._wipe)
        self._stage = Stage(book, self.clock, place, keep=self._keep, apart=self._apart)
        if self._url is None:
            self._stage.refuse_connections()
        return self

    def using(self, connection: object) -> Self:
        """Keep everything in the open transaction of a connection, whatever `book.using` takes. Nothing is committed:
        what rolls the transaction back takes away whatever happened on the timeline."""
        joined = Joined(caller(connection))
        if joined.awaited and self._apart is not None:
            raise RuntimeError("this connection is awaited; use Timeline, not SyncTimeline")
        book = self.book
        self._leave()
        self._stage = Stage(book, self.clock, joined, keep=self._keep, apart=self._apart)
        return self

    def close(self) -> None:
        """Give the book back what it had; take away what was written."""
        self._leave()
        if self._loop is not None:
            self._loop.close()
            self._loop = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # Where it is

    @property
    def now(self) -> datetime:
        """The present, in UTC."""
        return self.clock.now()

    def at(
        self, when: str | datetime, zone: str | None = None, *, disambiguation: Disambiguation = "compatible"
    ) -> datetime:
        """Go to a point in time and do nothing on the way, as if no worker had run: `at("2027-03-14 01:59",
        "America/New_York")` or an aware datetime. Backwards only before anything is scheduled. Answers it in UTC."""
        to = _instant(when, zone, disambiguation)
        if to >= self.now:
            return self.clock.advance(to - self.now)
        if self._on.database.used:
            raise ValueError(f"time does not pass backwards: it is {self.now:%Y-%m-%d %H:%M:%S} UTC already")
        return self.clock.jump(to)

    # What happened

    def channel(self, name: str) -> RecordingChannel:
        """Return what stands in for a channel, to say what it answers and to see what reached it."""
        self._on.set()
        if name not in self._on.recordings:
            known = ", ".join(sorted(self._on.recordings)) or "none"
            raise KeyError(f"the book has no channel {name!r}, and no kind that names it; known: {known}")
        return self._on.recordings[name]

    def sent(self, *, to: str | None = None, kind: str | None = None, key: str | None = None) -> list[Sent]:
        """Return the copies that were made for people, in order; `to`: a recipient, or the address in a message."""
        return [attempt for attempt in self.attempts(to=to, kind=kind, key=key) if attempt.taken]

    def attempts(self, *, to: str | None = None, kind: str | None = None, key: str | None = None) -> list[Sent]:
        """Return every attempt that reached a channel, in order, also those that were refused."""
        reached = [attempt for channel in self._on.recordings.values() for attempt in channel.attempts]
        return [
            attempt
            for attempt in sorted(reached, key=lambda attempt: attempt.order)
            if (to is None or to in (attempt.recipient, attempt.to))
            and kind in (None, attempt.kind)
            and key in (None, attempt.key)
        ]

    def story(self, kind: str, key: str) -> Story | None:
        """Return everything on record about one identity. On an awaited connection: `await book.explain(kind, key)`."""
        return self._on.at_once(self.book.explain(kind, key))

    def expect(self, kind: str, key: str) -> Expectation:
        """Return what asserts can be made about, as it is now. On an awaited connection: `await expecting(…)`."""
        __tracebackhide__ = True
        return self._on.at_once(self._expect(kind, key))

    async def _expect(self, kind: str, key: str) -> Expectation:
        __tracebackhide__ = True
        story = await self.book.explain(kind, key)
        if story is None:
            known = await self.book.search(limit=20)
            raise unknown(kind, key, [f"{n.kind}/{n.key} ({n.state.value})" for n in known])
        return Expectation(story, self.now)

    # The work

    @property
    def _apart(self) -> Apart | None:
        return None

    @property
    def _on(self) -> Stage:
        if self._stage is None:
            raise RuntimeError("this timeline is closed")
        return self._stage

    def _leave(self) -> None:
        if self._stage is not None:
            stage, self._stage = self._stage, None
            stage.close()
        self._looked.clear()

    def _crew(self) -> Crew:
        return Crew(self._on.set(), self.book.message_domain, bounded=self._apart is None, looked=self._looked)

    async def _run_due(self) -> list[Sent]:
        before = len(self.attempts())
        await self._crew().run()
        return self._since(before)

    async def _pass(self, to: datetime) -> list[Sent]:
        """Go to `to` by way of every instant at which there is something to do."""
        if to < self.now:
            raise ValueError(f"time does not pass backwards: it is {self.now:%Y-%m-%d %H:%M:%S} UTC already")
        before, crew = len(self.attempts()), self._crew()
        await crew.run()
        for _ in range(INSTANTS):
            upcoming = await crew.upcoming()
            if upcoming is None or upcoming > to:
                self.clock.advance(to - self.now)
                return self._since(before)
            self.clock.advance(upcoming - self.now)
            await crew.run()
        raise RuntimeError(f"after {INSTANTS:,} instants it is only {self.now}: is something put off again and again?")

    def _since(self, before: int) -> list[Sent]:
        return [attempt for attempt in self.attempts()[before:] if attempt.taken]


class Timeline(_Timeline):
    """A book whose time passes when the test says so, for tests with an event loop.

    `book`: yours, or one without kinds and channels. `url`: a database for tests alone, empty or emptied by `wipe`;
    by default SQLite in memory. `start`: where time begins. `keep`: channels that really send; in the place of every
    other stands a RecordingChannel. Closing it (`with Timeline(book) as timeline:`) gives the book back what it had.
    """

    async def run_due(self) -> list[Sent]:
        """Do everything that is due now; answers the copies this made."""
        return await self._run_due()

    async def advance(
        self, *, weeks: float = 0, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> list[Sent]:
        """Let so much time pass, and do on the way whatever becomes due, at its instant; answers the copies this made.

        A day is 24 hours here, whatever the clocks do; see `advance_to`.
        """
        span = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return await self._pass(self.now + span)

    async def advance_to(
        self, when: str | datetime, zone: str | None = None, *, disambiguation: Disambiguation = "compatible"
    ) -> list[Sent]:
        """Let time pass until a wall time in a zone, or an aware datetime."""
        return await self._pass(_instant(when, zone, disambiguation))

    async def expecting(self, kind: str, key: str) -> Expectation:
        """Return what `expect` does, also on an awaited connection."""
        return await self._expect(kind, key)


class SyncTimeline(_Timeline):
    """The same for tests without an event loop. Handlers that are awaited get a loop for themselves."""

    @property
    def _apart(self) -> Apart | None:
        return self._run_apart

    def _run_apart(self, work: Coroutine[Any, Any, Any]) -> Any:
        if self._loop is None:
            self._loop = asyncio.Runner()
        return self._loop.run(work)

    def run_due(self) -> list[Sent]:
        """Do everything that is due now; answers the copies this made."""
        return inline(self._run_due())

    def advance(
        self, *, weeks: float = 0, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> list[Sent]:
        """Let so much time pass, and do on the way whatever becomes due, at its instant; answers the copies this made.

        A day is 24 hours here, whatever the clocks do; see `advance_to`.
        """
        span = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds)
        return inline(self._pass(self.now + span))

    def advance_to(
        self, when: str | datetime, zone: str | None = None, *, disambiguation: Disambiguation = "compatible"
    ) -> list[Sent]:
        """Let time pass until a wall time in a zone, or an aware datetime."""
        return inline(self._pass(_instant(when, zone, disambiguation)))


def _instant(when: str | datetime, zone: str | None, disambiguation: Disambiguation) -> datetime:
    if isinstance(when, datetime) and zone is None:
        return promise(when).due_at
    if zone is None:
        raise ValueError(f"in which zone is it {when}? For example: at({when!r}, 'America/New_York')")
    return promise(local(when, zone, disambiguation=disambiguation)).due_at
