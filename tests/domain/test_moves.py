"""One way to change a notification, and what doubt makes of it."""

from typing import Any

import pytest

from duebook.domain.lifecycle import CLOSED, EDGES, NEEDS_CERTAINTY, Edge, Event, State
from duebook.domain.notification import Attempt, Move, move
from duebook.errors import IllegalMove
from tests.domain.builders import HOUR, NOW, doubted, intent, make

INSTANT = dict.fromkeys(CLOSED, "closed_at") | {State.UNCERTAIN: "attention_at", State.REVIEW: "review_at"}
FIELDS = ("closed_at", "attention_at", "review_at")
CLOSING_WITHOUT_CERTAINTY = [
    edge for edge in EDGES if edge.next in NEEDS_CERTAINTY and edge.state not in (State.UNCERTAIN, State.REVIEW)
]
HARMLESS = [edge for edge in EDGES if edge.next not in NEEDS_CERTAINTY and edge.state is not State.CANCELLED]


def name(edge: Edge) -> str:
    return f"{edge.state} {edge.event}"


def made(edge: Edge, **changes: Any) -> Move:
    return move(make(edge.state), edge.event, NOW, "tester", **changes)


@pytest.mark.parametrize("edge", EDGES, ids=name)
def test_a_move_is_fenced_by_the_version_and_state_it_was_made_from(edge: Edge) -> None:
    one = made(edge, reason="because")
    assert (one.id, one.version, one.state, one.event) == (7, 4, edge.state, edge.event)
    assert (one.next, one.at, one.by, one.reason) == (edge.next, NOW, "tester", "because")


@pytest.mark.parametrize("edge", EDGES, ids=name)
def test_a_move_sets_the_instant_its_state_hangs_on(edge: Edge) -> None:
    one = made(edge)
    wanted = INSTANT.get(edge.next)
    fields = ("closed_at", "attention_at", "review_at")
    assert {field: getattr(one, field) for field in fields} == {
        field: NOW if field == wanted else None for field in fields
    }


@pytest.mark.parametrize("edge", CLOSING_WITHOUT_CERTAINTY, ids=name)
def test_doubt_turns_every_end_that_says_not_sent_into_uncertain(edge: Edge) -> None:
    one = move(doubted(edge.state), edge.event, NOW, "tester", reason="because", budget_used=3)
    assert (one.event, one.next, one.wanted) == (Event.DOUBT, State.UNCERTAIN, edge.next)
    assert (one.reason, one.attention_at, one.closed_at, one.wake_at) == ("because", NOW, None, None)
    assert one.doubt == 1


@pytest.mark.parametrize("edge", CLOSING_WITHOUT_CERTAINTY, ids=name)
def test_a_move_that_clears_the_doubt_may_close(edge: Edge) -> None:
    assert move(doubted(edge.state), edge.event, NOW, "tester", doubt=0).next is edge.next


@pytest.mark.parametrize("edge", HARMLESS, ids=name)
def test_doubt_changes_no_move_that_does_not_say_not_sent(edge: Edge) -> None:
    one = move(doubted(edge.state), edge.event, NOW, "tester")
    assert (one.event, one.next) == (edge.event, edge.next)


def test_an_intent_on_the_wire_moves_as_the_notification_it_is() -> None:
    one = move(intent(), Event.ACCEPT, NOW, "worker-1", basis="reported")
    assert (one.id, one.version, one.state, one.next) == (7, 5, State.SENDING, State.ACCEPTED)


def test_an_attempt_in_doubt_keeps_its_ledger_entry_when_its_end_becomes_uncertain() -> None:
    entry = Attempt(7, 2, "mail", NOW, NOW, "worker-1", "retry")
    one = move(intent(doubted(State.CLAIMED)), Event.EXHAUST, NOW, "worker-1", reason="451", attempt=entry)
    assert (one.next, one.wanted, one.attempt) == (State.UNCERTAIN, State.REVIEW, entry)


def test_the_caller_may_state_when_somebody_should_look() -> None:
    assert move(intent(), Event.TIME_OUT, NOW, "w", attention_at=NOW + HOUR).attention_at == NOW + HOUR


@pytest.mark.parametrize("state", [State.UNCERTAIN, State.ACCEPTED, State.SKIPPED, State.DROPPED])
def test_an_illegal_move_is_a_fault(state: State) -> None:
    with pytest.raises(IllegalMove):
        move(make(state), Event.BEGIN, NOW, "tester")


def test_a_reason_is_made_storable() -> None:
    one = made(Edge(State.CLAIMED, Event.SKIP, State.SKIPPED, "", ""), reason="a\x00b\ud800" + "x" * 10_000)
    assert one.reason is not None
    assert one.reason.startswith("a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}x")
    assert len(one.reason) == 9_000
