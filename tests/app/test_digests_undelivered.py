"""What becomes of the items of a digest that is not delivered, and of what was read or erased before it was."""

from datetime import timedelta
from typing import Any

import pytest

from duebook import DigestPolicy, Rejected, Retention, Skip, State, Uncertain
from duebook.testing import Timeline
from tests.app.desk import MINUTE
from tests.app.gathered import add, gathering, items
from tests.app.places import Place
from tests.app.times import at


@pytest.mark.parametrize("unsent", ["carry", "undelivered"])
@pytest.mark.parametrize("end", ["dropped", "skipped", "cancelled"])
async def test_items_of_one_that_ended_unsent_are_carried_or_counted(
    of_policy: Any, place: Place, unsent: Any, end: str
) -> None:
    timeline = of_policy(DigestPolicy(unsent=unsent, limit=5))
    await add(timeline, "a", "b")
    if end == "skipped":
        timeline.book.registry.handlers["news"] = _skips_the_first()
    elif end == "dropped":
        timeline.channel("mail").next(Rejected("no such mailbox"))
    else:
        await timeline.book.pause(kind="news", reason="wait")
    await timeline.advance(hours=1)
    (found,) = await timeline.book.search(kind="news")
    if end == "dropped":
        assert await timeline.book.drop("news", found.key, reason="no use")
    elif end == "cancelled":
        assert await timeline.book.cancel("news", found.key, reason="no use")
        await timeline.book.resume(kind="news")
    await add(timeline, "c")
    sent = await timeline.advance(hours=2)
    assert items(sent) == ([["a", "b", "c"]] if unsent == "carry" else [["c"]])
    (record,) = [one for one in await timeline.book.digests.search() if one.notification_id == found.id]
    assert (record.outcome, record.state) == ("released" if unsent == "carry" else "undelivered", State(end))
    expected = {} if unsent == "carry" else {"news": (1, 2)}
    assert await timeline.book.digests.undelivered() == expected


def _skips_the_first() -> Any:
    asked = []

    async def handler(due: Any) -> Any:
        asked.append(due)
        return Skip("not today") if len(asked) == 1 else gathering(due)

    return handler


async def test_items_that_may_have_been_told_are_told_by_no_other(news: Timeline) -> None:
    await add(news, "a", "b")
    news.channel("mail").next(Uncertain("no reply"))
    await news.advance(hours=1)
    (found,) = await news.book.search(kind="news")
    await news.book.resolve("news", found.key, "drop", reason="too old")
    assert await news.advance(hours=3) == []
    assert await news.book.digests.undelivered() == {"news": (1, 2)}


async def test_one_made_again_after_its_items_went_on_says_nothing(news: Timeline) -> None:
    await news.book.pause(kind="news", reason="wait")
    await add(news, "a")
    await news.advance(hours=1)
    (found,) = await news.book.search(kind="news")
    await news.book.cancel("news", found.key, reason="no use")
    await news.book.resume(kind="news")
    again: dict[str, Any] = {"recipient": "ann", "after": MINUTE, "if_exists": "rearm"}
    await news.book.schedule("news", found.key, group="digest:news:ann", **again)
    assert items(await news.advance(hours=2)) == [["a"]]
    news.expect("news", found.key).skipped(reason="in a later one")


async def test_retention_takes_nothing_from_a_digest_that_is_to_be_sent(of_policy: Any, place: Place) -> None:
    timeline = of_policy(DigestPolicy(), retention=Retention(timedelta(0), timedelta(0), timedelta(0)))
    await add(timeline, "a", "b")
    timeline.channel("mail").next(Rejected("no such mailbox"))
    await timeline.advance(hours=1)
    (found,) = await timeline.book.search(kind="news")
    await prune(timeline)
    await timeline.book.redrive("news", found.key, reason="a new address", force=True)
    assert items(await timeline.advance(minutes=5)) == [["a", "b"]]
    await prune(timeline)
    assert [place.count(table) for table in ("digests", "digest_items")] == [0, 0]


async def prune(timeline: Timeline) -> None:
    timeline.at(timeline.now + MINUTE)
    kind = timeline.book.registry.kinds["news"]
    for _ in range(4):
        await timeline.book.wired.database.run(timeline.book.wired.store.prune(kind, timeline.now, 10))


async def test_nobody_is_sent_what_was_gathered_before_they_were_forgotten(news: Timeline, place: Place) -> None:
    await add(news, "a", "b", "c", "d")
    await news.advance(hours=1)
    await news.book.forget("ann")
    assert await news.advance(days=2) == []
    assert [place.count(table) for table in ("digest_items", "digest_cursors")] == [0, 0]


# Unread messages, gathered


async def test_the_daily_digest_of_what_is_unread(news: Timeline) -> None:
    room = news.book.unread
    for conversation, message in (("a", "a1"), ("a", "a2"), ("b", "b1"), ("b", "b2"), ("c", "c1")):
        await room.posted("channel", conversation, message, author="bob", recipients=["ann", "bob"])
    await room.mark_read("channel", "a", "ann", up_to="a1")
    await room.deleted("channel", "b", "b1")
    sent = await news.advance(days=2)
    assert (at(sent), [one.recipient for one in sent]) == (["01-07 17:00"], ["ann"])
    assert items(sent) == [["a/a2", "b/b2", "c/c1"]]


async def test_a_digest_of_which_everything_is_read_in_the_last_moment_is_not_sent(news: Timeline) -> None:
    room = news.book.unread
    await room.posted("channel", "a", "a1", author="bob", recipients=["ann"])
    await news.book.pause(kind="found", reason="wait")
    await news.advance(hours=6)
    await room.mark_read("channel", "a", "ann")
    await news.book.resume(kind="found")
    assert await news.advance(hours=1) == []
    (found,) = await news.book.search(kind="found")
    news.expect("found", found.key).skipped(reason="everything in it has been read")
