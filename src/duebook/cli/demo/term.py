"""The term: prompts before lessons, what changes until they are due, and what is found out at its end."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...app.book import Duebook
from ...domain.lifecycle import State
from ...domain.policy import Retention
from ...domain.zones import zone
from .crew import PATIENCE_SECONDS
from .ledger import Ledger
from .show import Show, show
from .stage import LESSONS_DATABASE, OUTBOX, CannotPlay, Lessons, load_lessons
from .term_report import report
from .term_verdict import judge
from .timelapse import Timelapse
from .timetable import DOWN, FLOODED, HOURS, ILL, NEW_CHANNEL, NEW_TITLE, Timetable, timetable

if TYPE_CHECKING:
    from rich.console import Console

HEADING = "A school's term: prompts ten minutes before lessons, by mail, SMS and push, and the dates by its own clock"

SOON = timedelta(minutes=5)
DAY = timedelta(days=1)

KEPT = Retention(bodies=timedelta(days=180))
"""A term is longer than a kind keeps its messages unless it says otherwise, and the verdict compares them."""


async def play(folder: Path, console: Console, hours: int = HOURS) -> int:
    """Play the term in `folder` and tell what came of it; answers the exit code."""
    lessons = load_lessons(folder)
    app, school, book = lessons.app, lessons.school, lessons.app.book
    book.registry.kinds["prompt"] = replace(book.registry.kinds["prompt"], retention=KEPT)
    school.create()
    term = timetable(lessons, hours)
    calendar = Timelapse(book, term.hours[0].due_at - SOON)
    await book.migrate()
    ledger = Ledger(folder / LESSONS_DATABASE)
    try:
        await asyncio.to_thread(app.open_school)
        school.add_lessons(group.lesson for group in term.groups)
        await book.schedule_many(new for group in term.groups for new in app.prompts(*group))
        console.print(f"\n{HEADING} ({school.ZONE})\n", markup=False, soft_wrap=True)
        with show(console) as screen:
            await Term(lessons, calendar, ledger, term, screen).pass_by()
        verdict = await judge(book, folder / OUTBOX, term)
        report(verdict, folder, console)
        return 0 if verdict.sound else 1
    finally:
        ledger.close()
        await book.close()


class Term:
    """Moves the calendar from one due instant to the next, and lets the school do what it does in between."""

    def __init__(
        self, lessons: Lessons, calendar: Timelapse, ledger: Ledger, timetable: Timetable, screen: Show
    ) -> None:
        self.app = lessons.app
        self.school = lessons.school
        self.redrive = lessons.redrive
        self.book: Duebook = lessons.app.book
        self.calendar = calendar
        self.ledger = ledger
        self.timetable = timetable
        self.screen = screen
        self.clock = zone(lessons.school.ZONE)

    async def pass_by(self) -> None:
        hours, unattended = self.timetable.hours, self.timetable.unattended
        first, last = SOON // timedelta(minutes=1), (hours[-1].due_at - self.calendar.now()).days
        promised = f"{self.ledger.counts().total()} prompts are promised, {first} minutes to {last} days ahead"
        self.say(f"{promised}, and a worker is started")
        async with self.book.worker():
            await self._change_title()
            await self._change_channel()
            await self._call_off()
            await self._until(unattended.due_at - SOON)
        self.say("the worker is stopped, and for a while there is no other")
        self.calendar.jump(unattended.ends_at + SOON)
        before = self.ledger.counts()
        async with self.book.worker():
            await self._catch_up(before)
            await self._lose_a_provider()
            await self._until(None)
        self.say("nothing is left to do; the worker is stopped")

    def say(self, text: str) -> None:
        self.screen.say(self.calendar.now().astimezone(self.clock), text)

    async def _until(self, when: datetime | None) -> None:
        """Work off what is due before `when`, at the instants at which it is due; then it is `when`."""
        while (wake_at := self.ledger.next_wake()) is not None and (when is None or wake_at < when):
            self.calendar.jump(wake_at)
            await self._work()
            self.screen.tick(self.calendar.now().astimezone(self.clock), self.ledger.counts())
        if when is not None:
            self.calendar.jump(when)

    async def _work(self) -> None:
        """Wait until the worker has done what is due."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self.calendar.quiet()
        except TimeoutError:
            raise CannotPlay(f"The worker has not finished what was due for {PATIENCE_SECONDS:g} s.") from None

    # What happens

    async def _change_title(self) -> None:
        hour = self.timetable.retitled
        lesson = hour.groups[0].lesson
        await self._until(hour.due_at - DAY)
        self.school.retitle(lesson.lesson, NEW_TITLE)
        self.say(f"{lesson.lesson}, promised as {lesson.title}, gets a new title: {NEW_TITLE}")

    async def _change_channel(self) -> None:
        hour = self.timetable.changes_channel
        await self._until(hour.due_at - DAY)
        pupil = self.timetable.changing
        await asyncio.to_thread(self.app.prefer, pupil.pupil, NEW_CHANNEL)
        self.say(f"{pupil.pupil} is reached by {NEW_CHANNEL} from now on, no longer by {pupil.reached_by}")

    async def _call_off(self) -> None:
        hour = self.timetable.called_off
        name = hour.groups[0].name
        await self._until(hour.due_at - DAY)
        self.school.call_off(name, ILL)
        self.say(f"{name} is called off: {ILL}")
        before = self.ledger.counts()
        await self._until(hour.starts_at)
        self.say(f"its {self._since(before, State.SKIPPED)} prompts were due, and are skipped")

    async def _catch_up(self, before: Mapping[str, int]) -> None:
        await self._work()
        skipped, sent = (self._since(before, state) for state in (State.SKIPPED, State.ACCEPTED))
        self.say(f"a worker is started: {skipped} prompts have expired and are skipped, {sent or 'none'} are sent")

    async def _lose_a_provider(self) -> None:
        hour = self.timetable.outage
        await self._until(hour.due_at - SOON)
        with provider_down(DOWN):
            self.say(f"the {DOWN} provider is down")
            before = self.ledger.counts()
            await self._until(hour.due_at + SOON)
            self.say(f"{self._since(before, State.ACCEPTED)} prompts went out by the other channels")
            self.say(f"{self._since(before, State.REVIEW)} by {DOWN} used up their attempts, and wait in review")
            name = hour.groups[1].name
            self.school.call_off(name, FLOODED)
            self.say(f"{name} is called off: {FLOODED}")
            await self._until(hour.starts_at)
        self.say(f"the {DOWN} provider is back, and the policy looks at what waits in review")
        before = self.ledger.counts()
        for line in await asyncio.to_thread(self._rule):
            self.say(line)
        await self._work()
        self.say(f"the worker sends {self._since(before, State.ACCEPTED)} of them, as it does any other prompt")

    def _since(self, before: Mapping[str, int], state: State) -> int:
        """Return how many more are in a state than there were."""
        return self.ledger.counts()[state] - before.get(state, 0)

    def _rule(self) -> Sequence[str]:
        rows: Iterator[Any] = self.redrive.review(self.calendar.now(), dry_run=False)
        ruled = Counter((row.failure, row.verb, row.reason) for row in rows if row.answer == "done")
        return [f"{number} {failure}: {verb}, as {reason}" for (failure, verb, reason), number in ruled.items()]


@contextmanager
def provider_down(channel: str) -> Iterator[None]:
    """Have the provider of a channel take nothing."""
    os.environ["LESSONS_DOWN"] = channel
    try:
        yield
    finally:
        del os.environ["LESSONS_DOWN"]
