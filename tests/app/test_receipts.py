"""What providers say later: kept once, matched, and heeded; and addresses that are written to no more."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from duebook import Accepted, Due, Duebook, Email, State, Uncertain
from duebook.domain.identity import reference
from duebook.domain.receipt import Receipt
from duebook.engine.matcher import Matcher
from duebook.errors import InvalidInput, UnknownName
from duebook.features.receipts import match
from duebook.testing import Timeline
from tests.app.desk import START
from tests.app.places import Place

ANN = "ann@example.org"


def a_book() -> Duebook:
    book = Duebook("sqlite:///never-opened.db", namespace="test")
    book.kind("news", channel="mail")(told)
    book.kind("reset", channel="mail")(told)
    return book


def told(due: Due) -> Email:
    return Email(to="Ann@Example.org", subject=due.key, text="…")


@pytest.fixture
def post(place: Place) -> Iterator[Timeline]:
    with Timeline(a_book(), place.url, start=START, wipe=True) as timeline:
        yield timeline


def receipt(event: Any, *, id: str = "e1", **changes: Any) -> Receipt:
    values: dict[str, Any] = {"provider_id": "p-1", "address": ANN, **changes}
    return Receipt("resend", id, event, START + timedelta(minutes=1), **values)


async def send(post: Timeline, outcome: Any = None, key: str = "k", kind: str = "news") -> int:
    post.channel("mail").next(outcome or Accepted("p-1"))
    scheduled = await post.book.schedule(kind, key, recipient="ann", after=timedelta(0))
    await post.run_due()
    assert scheduled.id is not None
    return scheduled.id


async def test_the_same_news_twice_is_one_and_is_told_with_the_message(post: Timeline) -> None:
    id = await send(post)
    first = await post.book.receipts.record([receipt("delivered"), receipt("delivered")])
    again = await post.book.receipts.record([receipt("delivered")])
    assert ((first.new, first.matched), (again.new, again.matched)) == ((1, 1), (0, 0))
    ((number, one),) = await post.book.receipts.of(id)
    assert (number, one.event) == (1, "delivered")


async def test_it_confirms_what_was_uncertain_by_the_reference_the_message_carried(post: Timeline) -> None:
    id = await send(post, Uncertain("no reply", "data"))
    story = await post.book.explain("news", "k")
    assert story is not None
    said = receipt("delivered", provider_id="p-9", reference=reference(id, "test:news:k"))
    assert (await post.book.receipts.record([said])).matched == 1
    await post.run_due()
    found = await post.book.find("news", "k")
    assert found is not None
    assert (found.state, found.basis, found.provider_id, found.doubt) == (State.ACCEPTED, "evidence", "p-9", 0)


@pytest.mark.parametrize("said", ["1.deadbeef", "1", "x.y", "99999999999999999999.aaaaaaaa", ""])
async def test_a_reference_of_another_environment_matches_nothing(post: Timeline, said: str) -> None:
    await send(post)
    recorded = await post.book.receipts.record([receipt("delivered", provider_id=None, reference=said)])
    assert (recorded.new, recorded.matched) == (1, 0)


async def test_one_that_came_before_its_message_was_on_record_is_matched_later(post: Timeline) -> None:
    assert (await post.book.receipts.record([receipt("bounced", permanent=True)])).matched == 0
    id = await send(post)
    wired = post.book.wired
    await Matcher(wired.database, wired.store, wired.clock, wired.settings, "matcher", match).step()
    assert [one.event for _, one in await post.book.receipts.of(id)] == ["bounced"]
    assert len(await post.book.receipts.suppressions()) == 1


async def test_an_address_that_bounced_for_good_is_written_to_no_more_by_any_kind(post: Timeline) -> None:
    await send(post)
    assert (await post.book.receipts.record([receipt("bounced", permanent=True, detail="550 5.1.1")])).suppressed == 1
    await post.book.schedule("reset", "r", recipient="ann", after=timedelta(0))
    await post.run_due()
    found = await post.book.find("reset", "r")
    assert found is not None
    assert (found.state, found.number) == (State.SKIPPED, 0)
    assert found.reason == "suppressed: it bounced for good: 550 5.1.1"
    assert len(post.attempts()) == 1


async def test_a_complaint_spares_the_reader_that_kind_and_no_other(post: Timeline) -> None:
    await send(post)
    await post.book.receipts.record([receipt("complained")])
    await post.book.schedule("news", "n", recipient="ann", after=timedelta(0))
    await post.book.schedule("reset", "r", recipient="ann", after=timedelta(0))
    await post.run_due()
    news, reset = await post.book.find("news", "n"), await post.book.find("reset", "r")
    assert news is not None
    assert reset is not None
    assert (news.state, reset.state) == (State.SKIPPED, State.ACCEPTED)


async def test_a_bounce_that_may_pass_stops_nothing(post: Timeline) -> None:
    await send(post)
    assert (await post.book.receipts.record([receipt("bounced")])).suppressed == 0


async def test_a_person_suppresses_and_lifts_it_again(post: Timeline) -> None:
    room = post.book.receipts
    await room.suppress("mail", "ANN@example.org", reason="she asked us on the phone")
    (record,) = await room.suppressions(address="Ann@example.org")
    assert (record.suppression.address, record.suppression.scope) == (ANN, "everything")
    assert await room.unsuppress("mail", ANN) == 1
    await send(post)
    assert len(post.sent()) == 1


async def test_what_cannot_be_used_is_refused_by_field(post: Timeline) -> None:
    room = post.book.receipts
    with pytest.raises(InvalidInput, match="address"):
        await room.suppress("mail", "", reason="x")
    with pytest.raises(InvalidInput, match="reason"):
        await room.suppress("mail", ANN, reason="")
    with pytest.raises(UnknownName, match="kind"):
        await room.suppress("mail", ANN, reason="x", kind="nwes")
    assert await room.suppressions() == []
