"""Promises prompts of lessons that are minutes to months away. What is promised already stays as it is.

python fill.py --count 1000
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from math import ceil
from time import perf_counter
from typing import NamedTuple

import school
from app import AHEAD, book, prompts

from duebook import New

BATCH = 5_000
LINES = 10
FARTHEST = timedelta(days=180)
DURATION = timedelta(minutes=45)
TITLES = ("Algebra", "Chemistry", "History", "Music", "Physics")


class Progress(NamedTuple):
    promised: int
    new: int


def timetable(number: int, now: datetime) -> Iterator[school.Lesson]:
    """Yield so many lessons. The prompts of the first are due in a minute; the farther away, the sparser they lie."""
    first = now.replace(microsecond=0) + AHEAD + timedelta(minutes=1)
    for index, class_name, title in zip(range(number), cycle(school.CLASSES), cycle(TITLES)):
        starts_at = first + FARTHEST * (index / number) ** 2
        yield school.Lesson(
            f"L-{index + 1:06}", class_name, title, f"A{index % 30 + 1}", starts_at, starts_at + DURATION
        )


def wanted() -> Iterator[New]:
    """Yield a prompt for each pupil of each lesson on the timetable, one lesson in memory at a time."""
    classes = defaultdict(list)
    for pupil in school.pupils():
        classes[pupil.class_name].append(pupil)
    for lesson in school.lessons():
        yield from prompts(lesson, classes[lesson.class_name])


def fill(count: int, now: datetime) -> Iterator[Progress]:
    """Promise so many prompts, a batch in each transaction; yields how far it has come after each."""
    school.add_lessons(timetable(ceil(count / school.CLASS_SIZE), now))
    upcoming, promised, new = islice(wanted(), count), 0, 0
    while batch := list(islice(upcoming, BATCH)):
        answers = book.sync.schedule_many(batch)
        promised += len(answers)
        new += sum(answer.created for answer in answers)
        yield Progress(promised, new)


def main() -> None:
    parser = argparse.ArgumentParser(description="Promise prompts of lessons that are minutes to months away.")
    parser.add_argument("--count", type=int, default=1_000, help="how many (default: 1000)")
    count = parser.parse_args().count
    if count < 1:
        parser.error("--count must be at least 1")
    started, told = perf_counter(), 0
    for progress in fill(count, datetime.now(UTC)):
        tenth = progress.promised * LINES // count
        if tenth > told:
            told, seconds = tenth, perf_counter() - started
            rate = progress.promised / seconds
            print(f"{progress.promised:,} promised, {progress.new:,} of them new; {rate:,.0f} a second", flush=True)
    book.sync.close()


if __name__ == "__main__":
    main()
