"""The school's term: its hours with their lessons, and which of them something happens to.

Twice a week there is an hour of one class, which is taught in two groups: two lessons at the same time. That is few
enough for the outage: with more prompts of one channel at a time its breaker would open, and spare their attempts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, NamedTuple

from ...domain.zones import zone
from .stage import CannotPlay, Lessons

HOURS = 24
FEWEST_HOURS = 8
"""With fewer there are not enough hours for the story."""

FIRST_DAY = date(2028, 2, 7)
DAYS = (timedelta(0), timedelta(days=3))
BEGINS = (time(8), time(10))
"""Mondays at eight and Thursdays at ten, on the school's own clock."""

NEW_TITLE = "Biology"
NEW_CHANNEL = "push"
ILL = "the teacher is ill"
DOWN = "sms"
FLOODED = "the room is flooded"

RETITLED = 0.20
CHANGES_CHANNEL = 0.30
CALLED_OFF = 0.44
UNATTENDED = 0.60
OUTAGE = 0.80


class Group(NamedTuple):
    """A lesson and the pupils it is for."""

    lesson: Any
    pupils: Sequence[Any]

    @property
    def name(self) -> str:
        found: str = self.lesson.lesson
        return found


@dataclass(frozen=True, slots=True)
class Hour:
    """`due_at`: when its pupils are prompted."""

    groups: tuple[Group, Group]
    due_at: datetime
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True)
class Timetable:
    """`retitled`: the lesson of its first group. `changes_channel`: the day before, one of its first group does.
    `called_off`: for its first group. `unattended`: no worker works until it is over. `outage`: a provider is down, and
    meanwhile the lesson of its second group is called off."""

    hours: Sequence[Hour]
    retitled: Hour
    changes_channel: Hour
    called_off: Hour
    unattended: Hour
    outage: Hour

    @property
    def changing(self) -> Any:
        """The pupil who changes to another channel, as they were before."""
        return next(pupil for pupil in self.changes_channel.groups[0].pupils if pupil.reached_by != NEW_CHANNEL)

    @property
    def groups(self) -> list[Group]:
        return [group for hour in self.hours for group in hour.groups]


def timetable(lessons: Lessons, number: int) -> Timetable:
    """Return a term of so many hours; raises CannotPlay if they are too few."""
    if number < FEWEST_HOURS:
        raise CannotPlay(f"The story needs {FEWEST_HOURS} hours at least.")
    hours = list(_hours(lessons, number))
    parts = (hours[int(number * share)] for share in (RETITLED, CHANGES_CHANNEL, CALLED_OFF, UNATTENDED, OUTAGE))
    return Timetable(hours, *parts)


def _hours(lessons: Lessons, number: int) -> Iterator[Hour]:
    clock, titles, length = zone(lessons.school.ZONE), lessons.fill.TITLES, lessons.fill.DURATION
    everybody = lessons.school.pupils()
    for index in range(number):
        week, day = divmod(index, len(DAYS))
        begins = datetime.combine(FIRST_DAY + week * timedelta(weeks=1) + DAYS[day], BEGINS[day], clock).astimezone(UTC)
        class_name = lessons.school.CLASSES[index % len(lessons.school.CLASSES)]
        pupils = [pupil for pupil in everybody if pupil.class_name == class_name]
        half = len(pupils) // 2
        groups = []
        for place, members in enumerate((pupils[:half], pupils[half:])):
            lesson = 2 * index + place + 1
            # A room of its own for each lesson, so that no two prompts say the same to one pupil.
            title, room = titles[(index + place) % len(titles)], f"A{lesson}"
            each = lessons.school.Lesson(f"L-{lesson:03}", class_name, title, room, begins, begins + length)
            groups.append(Group(each, members))
        yield Hour((groups[0], groups[1]), begins - lessons.app.AHEAD, begins, begins + length)
