"""The school's own tables, pupils and lessons, in a small SQLite file. Nothing here knows duebook."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from itertools import cycle
from typing import NamedTuple

DATABASE = os.environ.get("LESSONS_SCHOOL", "school.db")
ZONE = "Europe/Berlin"
CLASSES = [f"{year}{letter}" for year in range(6, 11) for letter in "ab"]
NAMES = (
    "Ada", "Ben", "Cem", "Dora", "Emil", "Fay", "Gus", "Hanna", "Ivo", "Jule",
    "Kim", "Leo", "Mia", "Noor", "Ole", "Pia", "Quinn", "Rosa", "Sami", "Tom",
)  # fmt: skip
CLASS_SIZE = len(NAMES)
CHANNELS = ("email", "sms", "push")

_TABLES = """
    create table if not exists pupils (
        pupil text primary key, class text, name text, language text, email text, phone text, device text,
        reached_by text
    ) strict;
    create table if not exists lessons (
        lesson text primary key, class text, title text, room text, starts_at text, ends_at text, called_off text
    ) strict;
"""


class Pupil(NamedTuple):
    """`phone`: a number kept free for fiction. `reached_by`: the one of CHANNELS that they have chosen."""

    pupil: str
    class_name: str
    name: str
    language: str
    email: str
    phone: str
    device: str
    reached_by: str


class Lesson(NamedTuple):
    """`called_off`: why it does not take place."""

    lesson: str
    class_name: str
    title: str
    room: str
    starts_at: datetime
    ends_at: datetime
    called_off: str | None = None


def create() -> int:
    """Create the tables and enrol the pupils; answers how many are new."""
    with _tables() as db:
        db.executescript(_TABLES)
        return db.executemany("insert or ignore into pupils values (?, ?, ?, ?, ?, ?, ?, ?)", _enrolled()).rowcount


def pupils() -> list[Pupil]:
    with _tables() as db:
        return [Pupil(*row) for row in db.execute("select * from pupils order by pupil")]


def prefer(pupil: str, channel: str) -> Pupil:
    """Note over which channel a pupil is reached from now on; answers the pupil.

    Raises ValueError for a channel that is none of CHANNELS, and KeyError for a pupil nobody enrolled.
    """
    if channel not in CHANNELS:
        raise ValueError(f"channel: {channel!r} is not one of {', '.join(CHANNELS)}")
    with _tables() as db:
        row = db.execute("update pupils set reached_by = ? where pupil = ? returning *", [channel, pupil]).fetchone()
    if row is None:
        raise KeyError(pupil)
    return Pupil(*row)


def add_lessons(lessons: Iterable[Lesson]) -> None:
    """Put lessons on the timetable; one that is there already stays as it is."""
    rows = ((*each[:4], each.starts_at.isoformat(), each.ends_at.isoformat(), each.called_off) for each in lessons)
    with _tables() as db:
        db.executemany("insert or ignore into lessons values (?, ?, ?, ?, ?, ?, ?)", rows)


def lessons() -> Iterator[Lesson]:
    with _tables() as db:
        yield from map(_lesson, db.execute("select * from lessons order by lesson"))


def lesson(name: str) -> Lesson:
    """Return a lesson as it stands now. Raises KeyError for one that is not on the timetable."""
    with _tables() as db:
        row = db.execute("select * from lessons where lesson = ?", [name]).fetchone()
    if row is None:
        raise KeyError(name)
    return _lesson(row)


def retitle(name: str, title: str) -> None:
    with _tables() as db:
        db.execute("update lessons set title = ? where lesson = ?", [title, name])


def call_off(name: str, reason: str) -> None:
    with _tables() as db:
        db.execute("update lessons set called_off = ? where lesson = ?", [reason, name])


def end(name: str, ends_at: datetime) -> None:
    """Note that a lesson ends at another time."""
    with _tables() as db:
        db.execute("update lessons set ends_at = ? where lesson = ?", [ends_at.isoformat(), name])


def why_worthless(name: str, now: datetime) -> str | None:
    """Return why nobody needs to be told of a lesson any more, or None."""
    try:
        each = lesson(name)
    except KeyError:
        return "the lesson is not on the timetable"
    if each.called_off is not None:
        return f"the lesson is called off: {each.called_off}"
    if each.ends_at <= now:
        return f"the lesson was over at {each.ends_at:%Y-%m-%d %H:%M} UTC"
    return None


def _enrolled() -> Iterator[Pupil]:
    ways, languages = cycle(CHANNELS), cycle(("en-GB", "de"))
    everybody = ((class_name, name) for class_name in CLASSES for name in NAMES)
    for number, (class_name, name) in enumerate(everybody, 1):
        pupil = f"p-{number:03}"
        address, phone = f"{pupil}@school.example", f"+493023125{number:03}"
        yield Pupil(pupil, class_name, name, next(languages), address, phone, f"device-{number:03}", next(ways))


def _lesson(row: tuple[str, ...]) -> Lesson:
    name, class_name, title, room, starts_at, ends_at, called_off = row
    return Lesson(
        name, class_name, title, room, datetime.fromisoformat(starts_at), datetime.fromisoformat(ends_at), called_off
    )


@contextmanager
def _tables() -> Iterator[sqlite3.Connection]:
    """Open the school's file for one transaction."""
    connection = sqlite3.connect(DATABASE)
    try:
        with connection:
            yield connection
    finally:
        connection.close()
