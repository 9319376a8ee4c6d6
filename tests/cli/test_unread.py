"""Unread messages from the command line: posted, read, deleted, looked at; and the story of a reminder that spoke for
several."""

import asyncio
from datetime import timedelta

import pytest

from duebook import Accepted, Due, Duebook, Email, Outcome, SendContext, UnreadPolicy

from .support import duebook

ROOM = ("chat", "room-7")


def post(*messages: str) -> None:
    for message in messages:
        assert duebook("unread", "posted", *ROOM, message, "--author", "bob", "--recipient", "ann").code == 0


@pytest.mark.usefixtures("either_url", "newsroom")
def test_a_message_is_posted_once_and_reminds_everybody_but_its_author() -> None:
    call = ("unread", "posted", *ROOM, "m-1", "--author", "bob", *("--recipient", "ann"), *("--recipient", "bob"))
    made = duebook(*call, "--json")
    assert (made.code, made.json) == (0, {"created": True, "position": 1, "reminders": 1})
    assert duebook(*call).out == "Message m-1 is known already; nothing was changed.\n"
    found = duebook("find", "--kind", "chat", "--json").json["notifications"]
    assert [one["recipient"] for one in found] == ["ann"]


@pytest.mark.usefixtures("either_url", "newsroom")
def test_reading_withdraws_what_is_pending_up_to_there() -> None:
    post("m-1", "m-2", "m-3")
    told = duebook("unread", "show", *ROOM, "ann").out
    assert told == "ann has read nothing of room-7.\nUnread: 3 messages, 3 of them in no reminder yet.\n"
    read = duebook("unread", "mark-read", *ROOM, "ann", "--up-to", "m-2")
    assert read.out == "ann has read room-7 up to position 2.\n"
    states = {one["key"]: one["state"] for one in duebook("find", "--kind", "chat", "--json").json["notifications"]}
    assert states == {
        "room-7/m-1/ann": "cancelled", "room-7/m-2/ann": "cancelled", "room-7/m-3/ann": "scheduled",
    }  # fmt: skip
    back = duebook("unread", "mark-read", *ROOM, "ann", "--position", "1")
    assert back.out == "Nothing changed: it was read before, or there is no such message.\n"
    duebook("unread", "mark-read", *ROOM, "ann")
    state = duebook("unread", "show", *ROOM, "ann", "--json").json
    assert (state["up_to"], state["total"], state["new"]) == (3, 0, 0)


@pytest.mark.usefixtures("url", "newsroom")
def test_a_message_named_by_a_number_is_no_position() -> None:
    post("900", "901")
    duebook("unread", "mark-read", *ROOM, "ann", "--up-to", "900")
    assert duebook("unread", "show", *ROOM, "ann", "--json").json["up_to"] == 1
    both = duebook("unread", "mark-read", *ROOM, "ann", "--up-to", "901", "--position", "2", "--json")
    assert (both.code, both.failure["field"]) == (2, "position")


@pytest.mark.usefixtures("url", "newsroom")
def test_a_deleted_message_counts_for_nobody() -> None:
    post("m-1", "m-2")
    assert duebook("unread", "deleted", *ROOM, "m-1").out == "Message m-1 is deleted and counts for nobody.\n"
    assert duebook("unread", "deleted", *ROOM, "m-9").out == "Message m-9 is unknown.\n"
    assert duebook("unread", "show", *ROOM, "ann", "--json").json["total"] == 1


@pytest.mark.usefixtures("url")
def test_without_the_app_nobody_knows_how_long_a_message_may_wait() -> None:
    answer = duebook("unread", "show", *ROOM, "ann", "--json")
    assert (answer.code, answer.failure["field"]) == (2, "app")


def remind(url: str) -> None:
    """Post three messages a while ago, and let a worker remind of them once."""

    async def go() -> None:
        book = Duebook(url)
        sent = asyncio.Event()

        @book.channel("email")
        async def email(message: Email, context: SendContext) -> Outcome:
            sent.set()
            return Accepted()

        @book.kind("chat", channel="email", unread=UnreadPolicy(after=timedelta(0)))
        def chat(due: Due) -> Email:
            return Email(to="ann@example.com", subject="Unread", text="Look")

        for message in ("m-1", "m-2", "m-3"):
            await book.unread.posted(*ROOM, message, author="bob", recipients=["ann"])
        async with book.worker():
            await sent.wait()
        await book.close()

    asyncio.run(go())


@pytest.mark.usefixtures("newsroom")
def test_the_story_of_a_reminder_says_how_many_it_named(either_url: str) -> None:
    remind(either_url)
    accepted = duebook("find", "--kind", "chat", "--state", "accepted", "--json").json["notifications"]
    (key,) = [one["key"] for one in accepted]
    story = duebook("explain", "chat", key)
    assert f"It reminds of message {key.split('/')[1]} of room-7, at position " in story.out
    assert "It spoke for room-7 up to position 3, as of " in story.out
    assert ": 3 messages unread, 3 of them in no reminder before." in story.out
    cover = duebook("explain", "chat", key, "--json").json["stories"][0]["cover"]
    assert (cover["conversation"], cover["to"], cover["total"], cover["fresh"]) == ("room-7", 3, 3, 3)
    shown = duebook("unread", "show", *ROOM, "ann").out
    assert "Unread: 3 messages, 0 of them in no reminder yet." in shown
    assert "Reminders have told of it up to position 3." in shown
