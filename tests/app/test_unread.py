"""Reminders of unread messages: who gets one, what it says, and what makes it needless."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from duebook import Due, Duebook, Email, Rejected, Retention, Retry, State, Uncertain, UnreadPolicy
from duebook.domain.recovery import Evidence
from duebook.errors import InvalidInput
from duebook.testing import Crash, Timeline, accept_then
from tests.app.desk import HOUR, MINUTE, START
from tests.app.gathered import CHAT, a_book, post, read_but_withdraw_nothing, reminding
from tests.app.places import Place
from tests.app.times import at, subjects, transaction

BAD: list[tuple[str, dict[str, Any], str, str]] = [
    ("an unknown kind", {"kind": "chta"}, "kind", "Did you mean 'chat'"),
    ("a kind that reminds of nothing", {"kind": "news"}, "kind", "UnreadPolicy"),
    ("no conversation", {"conversation": ""}, "conversation", "must not be empty"),
    ("a long message", {"message": "x" * 101}, "message", "the limit is 100"),
    ("no author", {"author": None}, "author", "must be text"),
    ("one recipient as text", {"recipients": "ann"}, "recipients", "['ann']"),
    ("an empty recipient", {"recipients": [""]}, "recipients", "must not be empty"),
    ("position nought", {"position": 0}, "position", "from 1"),
    ("half a position", {"position": 1.5}, "position", "whole number"),
    ("a tenant with an escape", {"tenant": "\x1b"}, "tenant", "U+001B"),
]


@pytest.fixture
def chat(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


def reasons(place: Place) -> list[tuple[str, str]]:
    """Of each reminder how it ended and why, in the order of the messages."""
    return [(state, reason) for state, reason in place.ask("select state, reason from @notifications order by id")]


def covers(place: Place) -> list[tuple[int, ...]]:
    """After which position, up to which, how many in all, and how many new: of each reminder that began."""
    columns = "after_position, to_position, total, fresh"
    return [tuple(row) for row in place.ask(f"select {columns} from @covers order by notification_id")]


# Who is reminded


async def test_each_recipient_but_the_author_is_reminded_once(chat: Timeline) -> None:
    await post(chat, "m1", to=["ann", "bob", "cid", "ann"])
    sent = await chat.advance(minutes=15)
    assert [(one.key, one.recipient) for one in sent] == [("room/m1/ann", "ann"), ("room/m1/cid", "cid")]
    assert await chat.advance(days=3) == []


async def test_a_message_that_is_known_schedules_nothing(chat: Timeline, place: Place) -> None:
    await post(chat, "m1")
    await chat.advance(minutes=20)
    again = await chat.book.unread.posted(*CHAT, "m1", author="bob", recipients=["ann", "cid"])
    assert (again.created, again.position, again.reminders) == (False, None, 0)
    assert await chat.advance(days=3) == []
    assert place.count() == 1


async def test_the_delay_goes_by_the_class_of_the_recipient(place: Place) -> None:
    delays = {"member": 15 * MINUTE, "guest": HOUR}
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("chat", channel="mail", unread=UnreadPolicy(after=delays))(reminding)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        classes = {"ann": "member", "cid": "guest"}
        await book.unread.posted(*CHAT, "m1", author="bob", recipients=classes)
        assert at(await timeline.advance(days=1)) == ["01-07 12:15", "01-07 13:00"]
        with pytest.raises(InvalidInput, match="member"):
            await book.unread.posted(*CHAT, "m2", author="bob", recipients={"ann": "friend"})
        assert place.count("messages") == 1


async def test_who_writes_has_read_what_came_before(chat: Timeline, place: Place) -> None:
    await post(chat, "m1", "m2")
    await post(chat, "m3", author="ann", to=["bob", "ann"])
    sent = await chat.advance(hours=1)
    assert [(one.recipient, *subjects([one])) for one in sent] == [("bob", "1 unread, 1 new")]
    assert reasons(place)[:2] == [("cancelled", "its recipient has written there since")] * 2


async def test_an_accepted_message_over_another_channel_withdraws_nothing(place: Place) -> None:
    book = a_book()
    book.kind("push", channel="push", unread=UnreadPolicy(after=MINUTE))(reminding)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        await post(timeline, "m1")
        await book.unread.posted("push", "room", "m1", author="bob", recipients=["ann"])
        assert [(one.channel, one.kind) for one in await timeline.advance(hours=1)] == [
            ("push", "push"), ("mail", "chat"),
        ]  # fmt: skip


# Reading


async def test_reading_withdraws_what_is_pending_up_to_there(chat: Timeline, place: Place) -> None:
    await post(chat, "m1", "m2", "m3", to=["ann", "cid"])
    answer = await chat.book.unread.mark_read(*CHAT, "ann", up_to="m2")
    assert (answer.moved, answer.up_to) == (True, 2)
    back = await chat.book.unread.mark_read(*CHAT, "ann", up_to=1)
    assert (back.moved, (await chat.book.unread.state(*CHAT, "ann")).up_to) == (False, 2)
    assert reasons(place).count(("cancelled", "read")) == 2
    sent = await chat.advance(hours=1)
    assert [(one.recipient, *subjects([one])) for one in sent] == [
        ("cid", "3 unread, 3 new"),
        ("ann", "1 unread, 1 new"),
    ]


async def test_reading_all_is_the_end_of_it(chat: Timeline) -> None:
    await post(chat, "m1", "m2", "m3")
    await chat.book.unread.mark_read(*CHAT, "ann")
    assert await chat.advance(days=30) == []


@pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])
async def test_reading_and_withdrawing_are_one_even_if_the_reader_dies(
    chat: Timeline, place: Place, commit: bool
) -> None:
    await post(chat, "m1", "m2")
    with transaction(place, commit=commit) as connection:
        chat.book.using(connection).unread.mark_read(*CHAT, "ann")
    assert len(await chat.advance(hours=1)) == (0 if commit else 1)
    assert (await chat.book.unread.state(*CHAT, "ann")).up_to == (2 if commit else 0)


async def test_without_withdrawing_the_watermark_is_read_when_it_fires(chat: Timeline, place: Place) -> None:
    await post(chat, "m1", "m2", "m3")
    read_but_withdraw_nothing(place, 2)
    assert subjects(await chat.advance(hours=1)) == ["1 unread, 1 new"]
    assert reasons(place)[:2] == [("skipped", "read")] * 2
    assert covers(place) == [(2, 3, 1, 1)]


@pytest.mark.parametrize("withdraws", [True, False])
async def test_read_while_the_handler_makes_up_its_mind_is_not_sent(place: Place, withdraws: bool) -> None:
    book = Duebook("sqlite:///never-opened.db", namespace="test")

    async def handler(due: Due) -> Email:
        if not withdraws:
            read_but_withdraw_nothing(place, 1)
        else:
            await book.unread.mark_read(*CHAT, "ann")
        return reminding(due)

    book.kind("chat", channel="mail", unread=UnreadPolicy())(handler)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        await post(timeline, "m1")
        assert await timeline.advance(hours=1) == []
        assert timeline.attempts() == []
    assert place.count("covers") == 0


async def test_what_was_read_between_two_attempts_is_not_tried_again(chat: Timeline, place: Place) -> None:
    await post(chat, "m1")
    chat.channel("mail").next(Retry("not now"))
    await chat.advance(minutes=15)
    await chat.book.unread.mark_read(*CHAT, "ann")
    assert await chat.advance(days=1) == []
    assert reasons(place) == [("cancelled", "read")]


# What counts


async def test_a_deleted_message_counts_for_nobody(chat: Timeline, place: Place) -> None:
    await post(chat, "m1", "m2", "m3")
    assert await chat.book.unread.deleted(*CHAT, "m1")
    assert not await chat.book.unread.deleted(*CHAT, "m9")
    assert subjects(await chat.advance(hours=1)) == ["2 unread, 2 new"]
    assert reasons(place)[0] == ("skipped", "the message was deleted")


async def test_a_burst_gives_one_mail_that_says_how_many(chat: Timeline, place: Place) -> None:
    await post(chat, *"abcde")
    (sent,) = await chat.advance(hours=1)
    assert (sent.key, *subjects([sent])) == ("room/a/ann", "5 unread, 5 new")
    assert covers(place) == [(0, 5, 5, 5)]
    assert reasons(place)[1:] == [("skipped", "covered by room/a/ann")] * 4


async def test_a_later_message_has_a_mail_of_its_own_with_both_numbers(chat: Timeline, place: Place) -> None:
    await post(chat, *"abcde")
    await chat.advance(minutes=20)
    await post(chat, "f")
    assert subjects(await chat.advance(hours=1)) == ["6 unread, 1 new"]
    assert covers(place) == [(0, 5, 5, 5), (0, 6, 6, 1)]
    state = await chat.book.unread.state(*CHAT, "ann")
    assert (state.covered_to, state.total, state.new) == (6, 6, 0)


async def test_a_burst_over_two_lanes_gives_one_mail(place: Place) -> None:
    book = Duebook("sqlite:///never-opened.db", namespace="test")

    def handler(due: Due) -> Email:
        assert due.unread is not None
        channel = "backup" if due.unread.message in "bd" else None
        return Email(to="ann@example.org", subject=f"{due.unread.total}", text="…", channel=channel)

    book.kind("chat", channel="mail", unread=UnreadPolicy())(handler)
    book.kind("other", channel="backup")(handler)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        await post(timeline, *"bade")
        assert subjects(await timeline.advance(hours=1)) == ["4"]


# What became of the one that spoke


async def test_the_next_one_speaks_if_the_first_is_refused(chat: Timeline, place: Place) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(Rejected("no such mailbox"))
    (sent,) = await chat.advance(hours=1)
    assert (sent.key, *subjects([sent])) == ("room/b/ann", "3 unread, 3 new")
    chat.expect("chat", "room/a/ann").in_review()
    assert await chat.book.redrive("chat", "room/a/ann", reason="a new address", force=True)
    assert await chat.advance(hours=1) == []
    chat.expect("chat", "room/a/ann").skipped(reason="covered by room/b/ann")


async def test_nobody_is_covered_by_one_that_only_waits_to_be_repeated(chat: Timeline) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(Retry("not now"))
    (sent,) = await chat.advance(hours=1)
    assert subjects([sent]) == ["3 unread, 3 new"]


async def test_the_others_wait_for_one_in_doubt_and_are_closed_when_it_was_sent(chat: Timeline, place: Place) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(accept_then(Uncertain("no reply")))
    assert len(await chat.advance(hours=1)) == 1
    chat.expect("chat", "room/b/ann").scheduled(reason="may have been sent")
    stories = [chat.story("chat", f"room/{message}/ann") for message in "bc"]
    looks = sum(len(story.history) for story in stories if story is not None)
    assert looks <= 2 * (60 // 5 + 1), "each look is a row of the history"
    await chat.book.resolve("chat", "room/a/ann", "sent", reason="she showed it to me")
    assert await chat.advance(hours=1) == []
    chat.expect("chat", "room/c/ann").skipped(reason="covered by room/a/ann")


async def test_the_next_one_speaks_if_a_person_drops_one_in_doubt(chat: Timeline) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(Uncertain("no reply"))
    assert await chat.advance(hours=1) == []
    await chat.book.resolve("chat", "room/a/ann", "drop", reason="too old")
    # It may have been sent, so what it named is not new.
    assert subjects(await chat.advance(hours=1)) == ["3 unread, 0 new"]


async def test_what_was_in_doubt_and_not_said_after_all_is_said_by_another(chat: Timeline) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(Uncertain("no reply"), Rejected("no such mailbox"))
    await chat.advance(minutes=16)
    await post(chat, "d")
    assert await chat.advance(minutes=16) == []
    chat.expect("chat", "room/d/ann").in_review()
    chat.expect("chat", "room/b/ann").scheduled(reason="may have been sent")
    doubtful = await chat.book.find("chat", "room/a/ann")
    assert doubtful is not None
    refused = Evidence(doubtful.id, 1, chat.now, "receipt", "rejected")
    await chat.book.wired.database.run(chat.book.wired.store.record_evidence([refused]))
    (sent,) = await chat.advance(hours=1)
    assert (sent.key, *subjects([sent])) == ("room/b/ann", "4 unread, 4 new")


async def test_one_whose_worker_died_is_waited_for(chat: Timeline) -> None:
    await post(chat, *"abc")
    chat.channel("mail").next(accept_then(Crash()))
    assert len(await chat.advance(hours=2)) == 1
    chat.expect("chat", "room/a/ann").uncertain()
    chat.expect("chat", "room/b/ann").scheduled(reason="may have been sent")


async def test_what_retention_removes_has_been_told_all_the_same(place: Place) -> None:
    nothing = Retention(timedelta(0), timedelta(0), timedelta(0))
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("chat", channel="mail", unread=UnreadPolicy(after={"first": MINUTE, "then": HOUR}), retention=nothing)(
        reminding
    )
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        await book.unread.posted(*CHAT, "m1", author="bob", recipients={"ann": "then"})
        await book.unread.posted(*CHAT, "m2", author="bob", recipients={"ann": "first"})
        assert subjects(await timeline.advance(minutes=2)) == ["2 unread, 2 new"]
        for _ in range(3):
            await timeline.book.wired.database.run(
                timeline.book.wired.store.prune(book.registry.kinds["chat"], timeline.now, 10)
            )
        assert place.count("covers") == 0
        assert await timeline.advance(hours=2) == []


# An application that counts itself


@pytest.mark.parametrize("awaited", [True, False])
async def test_an_application_says_itself_what_is_unread(place: Place, awaited: bool) -> None:
    read, count = {"ann": 0, "cid": 9}, {"ann": 42, "cid": 0}

    async def count_unread(conversation: str, recipient: str) -> int:
        return count[recipient]

    policy = UnreadPolicy(
        count_unread=count_unread if awaited else lambda conversation, recipient: count[recipient],
        read_up_to=lambda conversation, recipient: read[recipient],
    )
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("chat", channel="mail", unread=policy)(reminding)
    with Timeline(book, place.url, start=START, wipe=True) as timeline:
        await book.unread.posted(*CHAT, "m7", author="bob", recipients=["ann", "cid"], position=7)
        sent = await timeline.advance(hours=1)
        assert [(one.recipient, *subjects([one])) for one in sent] == [("ann", "42 unread, 1 new")]
        assert covers(place) == [(0, 7, 42, 1)]


# What cannot be used


@pytest.mark.parametrize(("bad", "field", "says"), [row[1:] for row in BAD], ids=[row[0] for row in BAD])
async def test_what_cannot_be_used_is_refused_by_field(
    chat: Timeline, place: Place, bad: dict[str, Any], field: str, says: str
) -> None:
    call = {
        "kind": "chat", "conversation": "room", "message": "m1", "author": "bob", "recipients": ["ann"], **bad,
    }  # fmt: skip
    names = [call.pop(name) for name in ("kind", "conversation", "message")]
    with pytest.raises(InvalidInput) as refused:
        await chat.book.unread.posted(*names, **call)
    assert refused.value.field == field
    assert says in refused.value.problem
    assert [place.count(table) for table in ("messages", "conversations", "watermarks", "notifications")] == [0] * 4


@pytest.mark.parametrize("up_to", [0, -1, 2.5, True, 2**70, "", "x" * 101])
async def test_a_place_that_is_none_is_refused(chat: Timeline, up_to: Any) -> None:
    await post(chat, "m1")
    with pytest.raises(InvalidInput) as refused:
        await chat.book.unread.mark_read(*CHAT, "ann", up_to=up_to)
    assert refused.value.field == "up_to"
    assert (await chat.book.unread.state(*CHAT, "ann")).up_to == 0


async def test_a_notification_that_only_looks_like_a_reminder_stops_nobody_else(chat: Timeline) -> None:
    group = "unread:chat:4:room:ann"
    await chat.book.schedule("chat", "mine", recipient="ann", after=timedelta(0), group=group)
    await post(chat, "m1")
    assert subjects(await chat.advance(minutes=20)) == ["1 unread, 1 new"]
    n = await chat.book.find("chat", "mine")
    assert n is not None
    assert n.state is State.REVIEW


async def test_names_with_slashes_are_told_apart(chat: Timeline) -> None:
    room = chat.book.unread
    await room.posted("chat", "a/b", "c", author="bob", recipients=["ann"])
    await room.posted("chat", "a", "b/c", author="bob", recipients=["ann"])
    await room.posted("chat", "%2F" * 33, "/" * 100, author="bob", recipients=["ann"])
    assert len({one.key for one in await chat.advance(hours=1)}) == 3
