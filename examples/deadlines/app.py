"""Reminders before tax deadlines, of unread messages and of new documents: the module of an application that uses
duebook.

    duebook worker app:book

The application's own tables, accounts and filings, live in the same SQLite file as duebook's. What is scheduled carries
ids; whether the return was filed meanwhile, and where the mail goes, is read when the reminder is due.
"""

from __future__ import annotations

import csv
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from datetime import date, time, timedelta
from pathlib import Path

from duebook import (
    Cancel,
    DigestPolicy,
    Due,
    Duebook,
    Email,
    GroupAnswer,
    Item,
    Skip,
    State,
    UnreadPolicy,
    local,
)
from duebook.channels.smtp import Smtp

DATABASE = os.environ.get("DEADLINES_DB", "deadlines.db")

book = Duebook(f"sqlite:///{DATABASE}", namespace="deadlines", message_domain="tallyroom.example.com")
book.add_channel(
    "email",
    Smtp.from_url(
        os.environ.get("SMTP_URL", "smtp://localhost:25?tls=opportunistic"),
        sender="deadlines@tallyroom.example.com",
        sender_name="Tallyroom Deadlines",
        concurrency=5,
    ),
)


# A reminder that is a day late would arrive after the deadline, so it is worth nothing.
@book.kind("deadline", channel="email", max_lateness=timedelta(hours=24))
def deadline(due: Due) -> Email | Skip | Cancel:
    form, period = due.data["form"], due.data["period"]
    with closing(sqlite3.connect(DATABASE)) as db:
        filed = db.execute(
            "select filed_on from filings where account = ? and form = ? and period = ?", [due.recipient, form, period]
        ).fetchone()
    if filed is not None:
        return Skip(f"{form} for {period} was filed on {filed[0]}")
    day = date.fromisoformat(due.data["deadline"])
    left = int(due.data["days_before"])
    when = "tomorrow" if left == 1 else f"in {left} days"
    text = f"{form} for {period} is due on {day:%A} {day.day} {day:%B %Y}, {when}."
    return _mail(due.recipient, f"{form} for {period} is due {when}", text)


# A burst of messages is told once. Whoever has read them within a quarter of an hour is not told at all.
@book.kind("message", channel="email", unread=UnreadPolicy(after=timedelta(minutes=15)))
def message(due: Due) -> Email | Cancel:
    assert due.unread is not None
    number = due.unread.total
    what = "an unread message" if number == 1 else f"{number} unread messages"
    return _mail(due.recipient, f"You have {what} from Tallyroom", "Please read and answer in your folder.")


# Documents are told once a day. What does not fit is told the next day.
@book.kind("documents", channel="email", digest=DigestPolicy(daily_at=time(17), zone="America/New_York", limit=20))
def documents(due: Due) -> Email | Cancel:
    assert due.digest is not None
    told = due.digest
    names = "\n".join(one.item for one in told.items)
    return _mail(due.recipient, f"{len(told.items)} of {told.total} new documents", f"New in your folder:\n\n{names}")


def _mail(account: str, subject: str, text: str) -> Email | Cancel:
    with closing(sqlite3.connect(DATABASE)) as db:
        found = db.execute("select name, email from accounts where account = ?", [account]).fetchone()
    if found is None:
        return Cancel("the account is closed")
    name, address = found
    return Email(to=address, to_name=name, subject=subject, text=f"Dear {name},\n\n{text}\n\nTallyroom\n")


# What the application does itself, in its own transactions.


def write(account: str, thread: str, name: str) -> None:
    """Put a message from Tallyroom into a thread of an account."""
    with tables() as db:
        book.using(db).unread.posted("message", thread, name, author="tallyroom", recipients=[account])


def read(account: str, thread: str) -> None:
    """Note that an account has read all of a thread."""
    with tables() as db:
        book.using(db).unread.mark_read("message", thread, account)


def file_documents(account: str, names: Iterable[str]) -> None:
    """Put documents into an account's folder; each is told once."""
    with tables() as db:
        book.using(db).digests.add_many(Item(kind="documents", recipient=account, item=name) for name in names)


def file_return(account: str, form: str, period: str, day: date) -> None:
    """Note that a return was filed. Reminders still pending find out when they are due."""
    with tables() as db:
        db.execute("insert into filings values (?, ?, ?, ?)", [account, form, period, day.isoformat()])


def close_account(account: str, reason: str) -> GroupAnswer:
    """Delete an account and withdraw its reminders: both happen or neither does."""
    with tables() as db:
        db.execute("delete from accounts where account = ?", [account])
        return book.using(db).cancel_group(account, reason=reason)


def move_account(account: str, zone: str) -> int:
    """Note an account's new zone and keep the promise of nine o'clock there; answers how many reminders moved."""
    moved = 0
    with tables() as db:
        db.execute("update accounts set zone = ? where account = ?", [zone, account])
        verbs = book.using(db)
        for n in verbs.search(recipient=account):
            if n.state is State.SCHEDULED and n.wall is not None:
                moved += bool(verbs.reschedule("deadline", n.key, at=local(n.wall, zone)))
    return moved


def open_accounts(file: Path) -> int:
    """Create the application's tables and fill them from a file with the columns account, name, email and zone."""
    with file.open(encoding="utf-8", newline="") as lines, tables() as db:
        db.execute("create table accounts (account text primary key, name text, email text, zone text) strict")
        db.execute("create table filings (account text, form text, period text, filed_on text) strict")
        opened = db.executemany("insert into accounts values (:account, :name, :email, :zone)", csv.DictReader(lines))
        return opened.rowcount


@contextmanager
def tables() -> Iterator[sqlite3.Connection]:
    """Open the database for one transaction, which is committed at the end."""
    connection = sqlite3.connect(DATABASE, isolation_level=None)
    try:
        connection.execute("begin immediate")
        yield connection
        connection.execute("commit")
    finally:
        connection.close()


if __name__ == "__main__":
    print(open_accounts(Path(__file__).with_name("accounts.csv")), "accounts are open")
