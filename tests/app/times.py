"""A book with a kind for schedules and kinds for deadlines, each of whose mails says what its handler was told."""

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg

from duebook import DeadlinePolicy, Due, Duebook, Email
from duebook.domain.missed import Missed
from duebook.testing import Sent, Timeline
from tests.app.places import Place

BERLIN = "Europe/Berlin"
NEW_YORK = "America/New_York"
ONCE = DeadlinePolicy(days=(30, 7, 1), repeat=False)


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    declare(book)
    return book


def declare(book: Duebook) -> None:
    """Register "digest"; "renewal", which reminds 30, 7 and 1 days before; "once", which repeats none of them; and
    "invoice", which reminds a day before and a week after."""
    book.kind("digest", channel="mail")(told)
    book.kind("renewal", channel="mail", deadline=DeadlinePolicy())(told)
    book.kind("once", channel="mail", deadline=ONCE)(told)
    book.kind("invoice", channel="mail", deadline=DeadlinePolicy(days=(1, -7)))(told)


def told(due: Due) -> Email:
    step = f"{due.step.days} days before {due.step.wall}" if due.step else due.key
    return Email(to="ann@example.org", subject=step, text=json.dumps(due.data))


def at(sent: Iterable[Sent]) -> list[str]:
    """When each was sent, in UTC."""
    return [f"{one.at:%m-%d %H:%M}" for one in sent]


def subjects(sent: Iterable[Sent]) -> list[str]:
    return [one.message.subject for one in sent if isinstance(one.message, Email)]


def data(one: Sent) -> dict[str, Any]:
    assert isinstance(one.message, Email)
    found: dict[str, Any] = json.loads(one.message.text)
    return found


async def missed(timeline: Timeline, **filters: Any) -> list[Missed]:
    """What is on record as missed, oldest first."""
    return [one for _, one in reversed(await timeline.book.schedules.missed(**filters))]


@contextmanager
def transaction(place: Place, *, commit: bool) -> Iterator[Any]:
    """A transaction on a connection of the caller's own, and how it ends."""
    if place.dialect == "sqlite":
        connection: Any = sqlite3.connect(place.url.removeprefix("sqlite:///"), isolation_level=None)
    else:
        connection = psycopg.connect(place.url)
    with closing(connection):
        if place.dialect == "sqlite":
            connection.execute("begin")
        yield connection
        connection.execute("commit" if commit else "rollback")
