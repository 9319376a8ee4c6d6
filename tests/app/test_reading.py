"""Whoever asks is told what is on record: one, a page of them, or the whole story."""

from typing import Any

import pytest

from duebook import Accepted, Event, Retry, Skip, State, Uncertain
from tests.app.desk import HOUR, MINUTE, SECOND, START, Desk


async def test_what_is_not_there_is_none(desk: Desk) -> None:
    assert await desk.book.find("note", "nobody") is None
    assert await desk.book.find("no such kind", "nobody") is None
    assert await desk.book.explain("note", "nobody") is None
    assert await desk.book.search() == []
    assert await desk.book.search(recipient="nobody") == []


@pytest.fixture
async def several(bare: Desk) -> Desk:
    bare.channel("mail")
    bare.channel("post")
    bare.kind("note")
    bare.kind("other", channel="post")
    await bare.schedule("a", after=HOUR, tenant="acme")
    await bare.schedule("b", after=HOUR, recipient="bob", tenant="acme")
    await bare.schedule("c", after=HOUR, kind="other")
    await bare.schedule("d", after=HOUR, recipient="bob", kind="other")
    await bare.book.cancel("note", "a")
    return bare


FILTERS: list[tuple[dict[str, Any], str]] = [
    ({}, "dcba"),
    ({"kind": "note"}, "ba"),
    ({"state": "scheduled"}, "dcb"),
    ({"state": State.CANCELLED}, "a"),
    ({"channel": "post"}, "dc"),
    ({"tenant": "acme"}, "ba"),
    ({"tenant": "acme", "state": "scheduled"}, "b"),
    ({"kind": "zzz"}, ""),
    ({"recipient": "ann"}, "ca"),
    ({"recipient": "ann", "kind": "note"}, "a"),
    ({"recipient": "ann", "state": "scheduled"}, "c"),
    ({"recipient": "bob", "channel": "post"}, "d"),
    ({"recipient": "ann", "tenant": "acme"}, "a"),
    ({"recipient": "nobody"}, ""),
    ({"limit": 2}, "dc"),
    ({"recipient": "bob", "limit": 1}, "d"),
]


@pytest.mark.parametrize(("filters", "keys"), FILTERS, ids=[str(filters) for filters, _ in FILTERS])
async def test_every_filter_that_is_given_counts(several: Desk, filters: dict, keys: str) -> None:
    assert "".join(n.key for n in await several.book.search(**filters)) == keys


@pytest.mark.parametrize("filters", [{}, {"recipient": "ann"}])
async def test_pages_follow_each_other_without_gap_or_overlap(desk: Desk, filters: dict) -> None:
    keys = [f"k{n:02}" for n in range(25)]
    for key in keys:
        await desk.schedule(key, after=HOUR)
    found: list[str] = []
    before = 2**62
    while page := await desk.book.search(before=before, limit=10, **filters):
        found += [n.key for n in page]
        before = page[-1].id
    assert found == keys[::-1]


async def test_an_address_is_found_in_what_was_sent(bare: Desk) -> None:
    desk = bare
    desk.channel()
    desk.kind(keep_copy="full")
    async with desk.worker():
        await desk.schedule("a", recipient="account-1")
        await desk.until(State.ACCEPTED, "a")
        await desk.schedule("b", recipient="ann@example.org", after=HOUR)
    found = await desk.book.search_address("ANN@example.org")
    assert [n.key for n in found] == ["b", "a"]
    assert await desk.book.search_address("bob@example.org") == []
    assert await desk.book.search_address("ann_example.org") == []


async def test_a_story_tells_every_attempt_and_every_move_in_order(desk: Desk) -> None:
    outcomes = iter([Retry("451 later"), Uncertain("cut off", phase="data"), Accepted("p-9")])
    desk.outcomes["a"] = lambda _: next(outcomes)
    async with desk.worker():
        await desk.schedule("a", after=MINUTE)
        await desk.book.reschedule("note", "a", after=2 * MINUTE)
        desk.clock.advance(2 * MINUTE)
        await desk.until_put_off("a", 1)
        desk.clock.advance(2 * SECOND)
        await desk.until(State.UNCERTAIN, "a")
        assert await desk.book.resolve("note", "a", "resend", reason="she says it never came")
        await desk.until(State.ACCEPTED, "a")
    story = await desk.story("a")
    assert [(entry.event, entry.by) for entry in story.history if entry.by == "app"] == [
        (Event.RESCHEDULE, "app"),
        (Event.RESOLVE_RESEND, "app"),
    ]
    assert [(one.number, one.outcome, one.reason, one.phase) for one in story.attempts] == [
        (1, "retry", "451 later", None),
        (2, "uncertain", "cut off", "data"),
        (3, "accepted", None, None),
    ]
    assert story.notification is not None
    assert (story.notification.provider_id, story.identity.state, story.pruned) == ("p-9", State.ACCEPTED, 0)
    assert story.attempts[1].message_hash == story.attempts[2].message_hash
    versions = [entry.version for entry in story.history]
    assert versions == sorted(versions)


async def test_a_story_says_why_nothing_was_sent(desk: Desk) -> None:
    desk.decisions["a"] = Skip("she has read it")
    async with desk.worker():
        await desk.schedule("a", at=START - MINUTE)
        await desk.until(State.SKIPPED, "a")
    story = await desk.story("a")
    assert story.identity.reason == "she has read it"
    assert [(entry.event, entry.reason) for entry in story.history] == [(Event.SKIP, "she has read it")]
    assert list(story.attempts) == []
