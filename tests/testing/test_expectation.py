"""A failing expectation tells the story."""

from dataclasses import replace
from datetime import timedelta

import pytest

from duebook import Rejected, Retry, Skip, local
from duebook.testing import Expectation, Timeline


async def settled(timeline: Timeline) -> None:
    timeline.at("2027-03-14 01:59", "America/New_York")
    timeline.channel("email").next(Retry("451 busy"), Rejected("550 no such user"))
    at = local("2027-03-14 09:00", "America/New_York")
    await timeline.book.schedule("renewal", "sub-1", recipient="ann", at=at)
    await timeline.advance(days=1)


async def test_the_message_is_the_story(timeline: Timeline) -> None:
    await settled(timeline)
    with pytest.raises(AssertionError) as failed:
        timeline.expect("renewal", "sub-1").accepted()
    said = str(failed.value)
    assert said.startswith("renewal/sub-1 should be accepted, and is in review\n\n")
    for part in (
        "Sunday 2027-03-14 09:00:00 in America/New_York, which is 2027-03-14 13:00:00 UTC",
        "attempt 1 over email: provably not accepted",
        "attempt 2 over email: the provider refused it for good",
        "550 no such user",
    ):
        assert part in said


async def test_every_expectation_says_what_it_wanted(timeline: Timeline) -> None:
    await settled(timeline)
    expectation = timeline.expect("renewal", "sub-1").in_review(reason="550").attempts(2)
    for wanted in ("skipped", "cancelled", "dropped", "uncertain", "scheduled"):
        with pytest.raises(AssertionError, match=f"should be {wanted}, and is in review"):
            getattr(expectation, wanted)()
    with pytest.raises(AssertionError, match="should have 1 attempts, and has 2"):
        expectation.attempts(1)
    with pytest.raises(AssertionError, match="in review because of '551', and the reason is '550 no such user'"):
        expectation.in_review(reason="551")


async def test_a_wrong_time_is_shown_beside_the_right_one(timeline: Timeline) -> None:
    await timeline.book.schedule("renewal", "sub-1", recipient="ann", after=timedelta(hours=1))
    expectation = timeline.expect("renewal", "sub-1").scheduled(at=timeline.now + timedelta(hours=1))
    with pytest.raises(AssertionError, match=r"should wait until 2027-01-04 11:00.*waits until 2027-01-04 10:00"):
        expectation.scheduled(at=timeline.now + timedelta(hours=2))


async def test_an_identity_nobody_scheduled(timeline: Timeline) -> None:
    with pytest.raises(AssertionError, match=r"renewal/sub-2 was never scheduled. On record: nothing at all"):
        timeline.expect("renewal", "sub-2")
    await settled(timeline)
    with pytest.raises(AssertionError, match=r"On record: renewal/sub-1 \(review\)"):
        timeline.expect("renewal", "sub-2")
    assert timeline.story("renewal", "sub-2") is None


async def test_the_ends_a_person_or_a_handler_chooses(timeline: Timeline) -> None:
    await settled(timeline)
    book = timeline.book
    await book.drop("renewal", "sub-1", reason="she left")
    timeline.expect("renewal", "sub-1").dropped(reason="left")
    book.kind("read", channel="email")(lambda due: Skip("she has read it"))
    await book.schedule("read", "a", recipient="ann", after=timedelta(0))
    await timeline.run_due()
    timeline.expect("read", "a").skipped(reason="has read").attempts(0)


async def test_a_story_of_which_retention_left_the_identity(timeline: Timeline) -> None:
    await settled(timeline)
    story = timeline.story("renewal", "sub-1")
    assert story is not None
    left = Expectation(replace(story, notification=None, attempts=(), resolutions=()), timeline.now)
    left.in_review().attempts(0)
    with pytest.raises(AssertionError, match="What is no longer on record"):
        left.accepted()
