"""The year: who does what when, and what is found out at its end."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ...app.book import Duebook
from ...domain.identity import idempotency_key, message_id
from ...domain.lifecycle import State
from . import desk
from .crew import Crew
from .desk import Act
from .inbox import Fault, Inbox
from .ledger import Ledger
from .plot import FEWEST_ACCOUNTS, NEW_ZONE, Plot, plot
from .report import report
from .show import Show, show
from .stage import EXAMPLE, CannotPlay, Reminder, configure, load_application, prepare, reminders
from .timelapse import Timelapse
from .verdict import judge

if TYPE_CHECKING:
    from rich.console import Console

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)


async def play(folder: Path, accounts: int | None, console: Console) -> int:
    """Play the year and tell what came of it; answers the exit code."""
    if accounts is not None and accounts < FEWEST_ACCOUNTS:
        raise CannotPlay(f"The story needs {FEWEST_ACCOUNTS} accounts at least.")
    prepare(folder)
    promised = reminders(accounts)
    story = plot(promised)
    crew, inbox = Crew(folder / "worker.log"), Inbox(folder / "inbox")
    configure(folder, await inbox.open())
    app = load_application()
    book: Duebook = app.book
    calendar = Timelapse(book, NEW_YEAR)
    await book.migrate()
    app.open_accounts(EXAMPLE / "accounts.csv")
    await book.schedule_many(reminder.new for reminder in promised)
    ledger = Ledger(folder / "demo.db")
    try:
        with show(console) as screen:
            await Year(app, calendar, crew, inbox, ledger, story, screen).pass_by()
        verdict = await judge(book, folder / "inbox", story)
        await report(verdict, book, folder, calendar.now(), console)
        return 0 if verdict.sound else 1
    finally:
        await crew.kill()
        inbox.close()
        ledger.close()
        await book.close()


class Year:
    """Moves the calendar from one due instant to the next, and lets people do what they do in between."""

    def __init__(
        self,
        app: ModuleType,
        calendar: Timelapse,
        crew: Crew,
        inbox: Inbox,
        ledger: Ledger,
        story: Plot,
        screen: Show,
    ) -> None:
        self.app = app
        self.book: Duebook = app.book
        self.calendar = calendar
        self.crew = crew
        self.inbox = inbox
        self.ledger = ledger
        self.story = story
        self.screen = screen
        self.cut = False

    async def pass_by(self) -> None:
        self.inbox.misbehave(self._faults(), self.say)
        self.say(f"{sum(self.ledger.counts().values())} reminders are promised, and a worker is started")
        await self.crew.start()
        for when, act in self._acts():
            await self._go_on(when)
            self.calendar.jump(when)
            if news := act():
                self.say(news)
        await self._go_on(None)
        if await self.crew.stop():
            raise CannotPlay(f"The worker did not end well; {self.crew.log} says why.")
        self.say("nothing is left to do; the worker is stopped")

    def say(self, text: str) -> None:
        self.screen.say(self.calendar.now(), text)

    async def _go_on(self, until: datetime | None) -> None:
        """Work off what is due before `until`, at the instants at which it is due."""
        while (wake_at := self.ledger.next_wake()) is not None and (until is None or wake_at < until):
            self.calendar.jump(wake_at)
            if not self.cut and wake_at >= self.story.power_cut:
                self.cut = True
                await self._lose_the_worker()
            else:
                await self._work()
            self.screen.tick(self.calendar.now(), self.ledger.counts())

    async def _work(self) -> None:
        if not await self.crew.work_until(self.calendar.now()):
            raise CannotPlay(f"The worker ended by itself; {self.crew.log} says why.")

    async def _lose_the_worker(self) -> None:
        """Kill the worker while mails are on the wire, and let another one find out what it left behind."""
        concurrency = self.book.registry.channels["email"].policy.concurrency
        self.inbox.hold(min(concurrency, self.story.busiest))
        working = asyncio.create_task(self.crew.work_until(self.calendar.now()))
        full = asyncio.create_task(self.inbox.full.wait())
        await asyncio.wait({working, full}, return_when=asyncio.FIRST_COMPLETED)
        await self.crew.kill()
        full.cancel()
        await working
        self.inbox.release()
        left = self.ledger.counts()
        self.screen.tick(self.calendar.now(), left)
        on_the_wire, in_hand = left[State.SENDING], left[State.CLAIMED]
        self.say(f"the worker is killed: {on_the_wire} mails are on the wire, {in_hand} more in its hands")
        await self.crew.start()
        settings = self.book.wired.settings
        self.calendar.jump(self.calendar.now() + settings.lease + timedelta(seconds=settings.grace_seconds + 1))
        await self._work()
        self.say(f"another worker takes over; of the {on_the_wire} mails nobody knows whether they were taken")

    # What people do

    def _acts(self) -> Sequence[Act]:
        when, account = self.story.closes
        acts: list[Act] = [(when, partial(self._close, account))]
        when, account = self.story.moves
        acts.append((when, partial(self._move, account)))
        acts += [(when, partial(self._file_early, reminder, when)) for when, reminder in self.story.filed_early]
        acts += desk.acts(self.app, self.story)
        return sorted(acts, key=lambda act: act[0])

    def _file_early(self, reminder: Reminder, when: datetime) -> str:
        account, form, period = reminder.filing
        self.app.file_return(account, form, period, when.date())
        return f"{account} files {form} for {period} early"

    def _close(self, account: str) -> str:
        answer = self.app.close_account(account, f"{account} closed its account")
        return f"{account} closes its account, which cancels {answer.cancelled} reminders"

    def _move(self, account: str) -> str:
        moved = self.app.move_account(account, NEW_ZONE)
        return f"{account} moves to {NEW_ZONE}, and {moved} reminders with it: 9:00 there"

    def _faults(self) -> dict[str, tuple[Fault, ...]]:
        """The faults of the story, by the Message-IDs that the mails will have."""
        return {
            message_id(idempotency_key(self.book.namespace, "deadline", key), self.book.message_domain): several
            for key, several in self.story.faults.items()
        }
