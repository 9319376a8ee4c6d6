import os
from collections.abc import Iterator
from datetime import timedelta

import pytest

from duebook import Due, Duebook, Email, Outcome, SendContext
from duebook.testing.plugin import duebook_url, sync_timeline, timeline
from tests import postgres

__all__ = ["duebook_url", "sync_timeline", "timeline"]


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A database of this folder's own: a timeline refuses one in which others have left something."""
    with postgres.fresh_database(os.environ[postgres.VARIABLE]) as url:
        yield url


def a_book() -> Duebook:
    """A book as an application has it: channels that would really send, and handlers of both sorts."""
    book = Duebook("sqlite:///never-opened.db", namespace="shop")

    @book.channel("email")
    async def email(message: Email, context: SendContext) -> Outcome:
        raise AssertionError("a test sends nothing")

    @book.channel("keyed", key_window=timedelta(hours=24))
    async def keyed(message: Email, context: SendContext) -> Outcome:
        raise AssertionError("a test sends nothing")

    @book.kind("renewal", channel="email")
    def renewal(due: Due) -> Email:
        return mail(due)

    @book.kind("receipt", channel="keyed", on_uncertain="resend")
    async def receipt(due: Due) -> Email:
        return mail(due)

    return book


def mail(due: Due) -> Email:
    return Email(to=f"{due.recipient}@example.org", subject=due.key, text=f"attempt {due.number} at {due.now}")


@pytest.fixture
def duebook_book() -> Duebook:
    return a_book()
