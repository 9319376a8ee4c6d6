"""What leaves the desk besides deadlines: a burst of messages, some that are read in time, and two days' documents.

What is done, and what the inbox must hold of it in the end, stand side by side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from types import ModuleType

from ...domain import digests, unread
from ...domain.identity import idempotency_key, message_id
from ...domain.notification import Notification
from .plot import Plot

BURST = 5
READ = 3
DOCUMENTS = 37
FIT = 20
BETWEEN = timedelta(minutes=1)
READ_AFTER = timedelta(minutes=10)
TOO_LATE = timedelta(hours=8)
"""So long after a day's documents one more comes, when their period has ended."""

Act = tuple[datetime, Callable[[], str]]


@dataclass(frozen=True, slots=True)
class Told:
    """One of the stories: the subjects of the mails it should have led to, and of those in the inbox."""

    name: str
    words: str
    wanted: Sequence[str]
    found: Sequence[str]

    @property
    def sound(self) -> bool:
        return list(self.wanted) == list(self.found)


def acts(app: ModuleType, plot: Plot) -> Iterator[Act]:
    """Yield what is done when. It answers what is worth telling, which may be nothing."""
    when, account = plot.burst
    for number in range(1, BURST + 1):
        news = f"{account} is written {BURST} messages within minutes" if number == 1 else ""
        yield when + number * BETWEEN, partial(_write, app, account, _questions(account), number, news)
    when, account = plot.read
    for number in range(1, READ + 1):
        yield when + number * BETWEEN, partial(_write, app, account, _invoice(account), number, "")
    yield when + READ_AFTER, partial(_read, app, account)
    when, account = plot.documents
    yield when, partial(_file, app, account, 1, DOCUMENTS)
    yield when + TOO_LATE, partial(_file, app, account, DOCUMENTS + 1, 1)


def _questions(account: str) -> str:
    return f"{account}-questions"


def _invoice(account: str) -> str:
    return f"{account}-invoice"


def _write(app: ModuleType, account: str, thread: str, number: int, news: str) -> str:
    app.write(account, thread, f"{number}")
    return news


def _read(app: ModuleType, account: str) -> str:
    app.read(account, _invoice(account))
    return f"{account} reads {READ} messages before anybody reminds of them"


def _file(app: ModuleType, account: str, first: int, number: int) -> str:
    app.file_documents(account, [f"document {place:02}" for place in range(first, first + number)])
    return f"{account} gets {number} documents" if number > 1 else f"{account} gets one more, after the day was closed"


def told(plot: Plot, notifications: Sequence[Notification], subjects: Mapping[str, str], domain: str) -> Sequence[Told]:
    """Return what became of the stories, by the subjects of the mails in an inbox."""

    def mails(group: str) -> Sequence[str]:
        several = (n for n in notifications if n.group == group)
        names = (message_id(idempotency_key(n.namespace, n.kind, n.key), domain) for n in several)
        return [subjects[name] for name in names if name in subjects]

    written, reader, filed = plot.burst[1], plot.read[1], plot.documents[1]
    left = DOCUMENTS - FIT + 1
    return [
        Told(
            "burst", f"{BURST} messages to {written} within minutes",
            [f"You have {BURST} unread messages from Tallyroom"],
            mails(unread.group("message", _questions(written), written)),
        ),
        Told(
            "read", f"{READ} messages to {reader}, read within {READ_AFTER.seconds // 60} minutes", [],
            mails(unread.group("message", _invoice(reader), reader)),
        ),
        Told(
            "digest", f"{DOCUMENTS} documents for {filed}, and one more after the day was closed",
            [f"{FIT} of {DOCUMENTS} new documents", f"{left} of {left} new documents"],
            mails(digests.group("documents", filed)),
        ),
    ]  # fmt: skip
