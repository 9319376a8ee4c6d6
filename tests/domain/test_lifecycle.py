import pytest

from duebook.domain.lifecycle import CLOSED, EDGES, Event, State, step
from duebook.errors import IllegalMove

PAIRS = [(state, event) for state in State for event in Event]
NEXT = {(edge.state, edge.event): edge.next for edge in EDGES}


def following(state: State) -> set[State]:
    return {edge.next for edge in EDGES if edge.state is state}


def reachable(start: State) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        new = following(todo.pop()) - seen
        seen |= new
        todo += new
    return seen


def test_every_pair_of_state_and_event_is_one_edge_or_refused() -> None:
    assert len(PAIRS) == len(State) * len(Event)
    for state, event in PAIRS:
        if (state, event) in NEXT:
            assert step(state, event) is NEXT[state, event]
        else:
            with pytest.raises(IllegalMove) as refused:
                step(state, event)
            assert (refused.value.state, refused.value.event) == (state, event)


def test_no_pair_of_state_and_event_is_listed_twice() -> None:
    assert len(NEXT) == len(EDGES)


def test_every_event_but_birth_is_used() -> None:
    assert set(Event) - {edge.event for edge in EDGES} == {Event.SCHEDULE}


def test_every_state_can_be_reached_from_scheduled() -> None:
    assert reachable(State.SCHEDULED) == set(State)


@pytest.mark.parametrize("state", State)
def test_an_end_can_be_reached_from_every_state(state: State) -> None:
    assert reachable(state) & CLOSED


def test_no_closed_state_leads_anywhere_but_cancelled_which_may_be_rearmed() -> None:
    out = {(edge.state, edge.event) for edge in EDGES if edge.state in CLOSED}
    assert out == {(State.CANCELLED, Event.REARM)}


def test_only_sending_becomes_uncertain_by_a_time_out_or_a_loss() -> None:
    into = {(edge.state, edge.event) for edge in EDGES if edge.next is State.UNCERTAIN}
    assert {pair for pair in into if pair[1] is not Event.DOUBT} == {
        (State.SENDING, Event.TIME_OUT),
        (State.SENDING, Event.LOSE),
    }
    assert {state for state, event in into if event is Event.DOUBT} == {State.SCHEDULED, State.CLAIMED, State.SENDING}


def test_a_lost_claim_is_harmless() -> None:
    assert step(State.CLAIMED, Event.LOSE) is State.SCHEDULED


def test_only_a_begun_one_can_be_accepted_without_evidence_policy_or_person() -> None:
    ways = {edge.event for edge in EDGES if edge.next is State.ACCEPTED and edge.state is not State.SENDING}
    assert ways == {Event.CONFIRM, Event.ASSUME, Event.RESOLVE_SENT}


def test_uncertainty_is_left_by_evidence_policy_or_a_person_alone() -> None:
    assert {edge.who for edge in EDGES if edge.state is State.UNCERTAIN} == {"reconciler", "reviewer"}


def test_nothing_on_the_wire_or_in_doubt_can_be_cancelled_or_moved_by_its_owner() -> None:
    for state in (State.SENDING, State.UNCERTAIN):
        for event in (Event.CANCEL, Event.RESCHEDULE, Event.SKIP, Event.EXPIRE):
            with pytest.raises(IllegalMove):
                step(state, event)


def test_every_edge_names_who_makes_it() -> None:
    known = {"lane", "app", "sweeper", "reconciler", "any", "rescuer", "reviewer"}
    assert {who for edge in EDGES for who in edge.who.split(",")} <= known
