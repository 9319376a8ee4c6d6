"""What providers said later, from the command line."""

import asyncio
from datetime import UTC, datetime

import pytest

from duebook import Duebook
from duebook.domain.receipt import Receipt

from .support import deliver, duebook


def send(url: str) -> None:
    duebook("schedule", "renewal", "sent-1", "--recipient", "ann", "--after", "0s")
    deliver(url, 1)


def say(url: str, *receipts: Receipt) -> None:
    """Record receipts as the endpoint of a provider does."""

    async def go() -> None:
        book = Duebook(url)
        await book.receipts.record(receipts)
        await book.close()

    asyncio.run(go())


BOUNCED = Receipt(
    "resend", "e-1", "bounced", datetime(2030, 1, 7, tzinfo=UTC), "provider-sent-1", address="ann@example.com",
    permanent=True, detail="550 5.1.1 no such user",
)  # fmt: skip


def test_a_bounce_is_shown_and_told_and_stops_what_comes_later(either_url: str) -> None:
    send(either_url)
    assert duebook("receipts", "show", "renewal", "sent-1").out == "Nothing has been said about it.\n"
    say(either_url, BOUNCED)
    (one,) = duebook("receipts", "show", "renewal", "sent-1", "--json").json["receipts"]
    assert (one["number"], one["event"], one["permanent"]) == (1, "bounced", True)
    assert "550 5.1.1 no such user" in duebook("receipts", "show", "renewal", "sent-1").out

    story = duebook("explain", "renewal", "sent-1")
    assert "resend says about attempt 1: it came back for good: the address takes no mail" in story.out
    assert "Attempt 1 did not arrive, says resend." in story.out
    (told,) = duebook("explain", "renewal", "sent-1", "--json").json["stories"]
    assert [receipt["id"] for receipt in told["receipts"]] == ["e-1"]
    assert "it bounced for good: 550 5.1.1 no such user" in duebook("suppressions", "list").out


@pytest.mark.usefixtures("url")
def test_of_what_is_not_there_nothing_can_be_shown() -> None:
    answer = duebook("receipts", "show", "renewal", "never", "--json")
    assert (answer.code, answer.json["result"], answer.json["receipts"]) == (1, "not_found", [])
