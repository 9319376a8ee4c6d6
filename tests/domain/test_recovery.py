from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Move
from duebook.domain.policy import Kind
from duebook.domain.recovery import LOOK_AGAIN, SPREAD, Evidence, expire, lose, reconcile
from duebook.domain.retry import Backoff
from tests.domain.builders import DAY, HOUR, KEYED, NOW, PLAIN, QUIET, SECOND, doubted, make

CLAIMED, SENDING, UNCERTAIN = State.CLAIMED, State.SENDING, State.UNCERTAIN
HOLD, RESEND, ASSUME = (Kind("mail", "mail", on_uncertain=policy) for policy in ("hold", "resend", "assume_sent"))


def lost(n: Any, attempts: int = 5) -> Move:
    return lose(n, attempts, NOW, "rescuer", QUIET)


def learned(says: Any, number: int = 1, source: Any = "lookup", provider_id: str | None = None) -> Evidence:
    return Evidence(7, number, NOW, source, says, provider_id)


def reconciled(n: Any, *evidence: Evidence, kind: Kind | None = HOLD, channel: Any = KEYED) -> Move | datetime:
    return reconcile(n, evidence, kind, channel, NOW, "reconciler")


def made(verdict: Move | datetime) -> Move:
    assert isinstance(verdict, Move)
    return verdict


# Whose worker vanished


@pytest.mark.parametrize(
    ("used", "alone", "event", "after"),
    [
        (0, False, Event.LOSE, 0),
        (4, False, Event.LOSE, 4),
        (0, True, Event.LOSE, 1),
        (3, True, Event.LOSE, 4),
        (4, True, Event.EXHAUST, 5),
        (5, False, Event.EXHAUST, 5),
    ],
)
def test_only_losses_suffered_alone_use_up_attempts(used: int, alone: bool, event: Event, after: int) -> None:
    move = lost(make(CLAIMED, budget_used=used, alone=alone))
    assert (move.event, move.budget_used) == (event, after)
    assert move.next is (State.SCHEDULED if event is Event.LOSE else State.REVIEW)
    assert move.reason
    assert move.attempt is None


def test_one_that_was_lost_is_next_claimed_alone_and_no_longer_once_it_moves_on() -> None:
    assert lost(make(CLAIMED)).alone is True
    assert made(reconciled(doubted(), learned("accepted"))).alone is False


def test_one_that_kills_workers_reaches_review_and_its_neighbours_do_not() -> None:
    poison, claims = make(CLAIMED), 1
    while (move := lost(poison)).next is State.SCHEDULED:
        poison, claims = make(CLAIMED, budget_used=move.budget_used, alone=move.alone), claims + 1
    assert (claims, move.next) == (6, State.REVIEW)
    neighbour = lost(make(CLAIMED))
    assert (neighbour.next, neighbour.budget_used) == (State.SCHEDULED, 0)


@given(st.integers(1, 2**62))
def test_the_lost_do_not_all_come_back_at_once(id: int) -> None:
    move = lost(make(CLAIMED, id=id))
    assert move.wake_at is not None
    assert NOW <= move.wake_at < NOW + SPREAD


@pytest.mark.parametrize(("used", "doubt"), [(0, 0), (4, 0), (9, 0), (1, 2)])
def test_what_was_on_the_wire_is_left_in_doubt_after_a_quiet_time(used: int, doubt: int) -> None:
    n = make(SENDING, budget_used=used, doubt=doubt, number=doubt + 1, begun_at=NOW - HOUR)
    move = lost(n)
    assert (move.event, move.next, move.doubt, move.budget_used) == (Event.LOSE, UNCERTAIN, doubt + 1, used + 1)
    assert (move.attention_at, move.wake_at) == (NOW + QUIET, None)
    assert move.attempt is not None
    assert (move.attempt.outcome, move.attempt.number, move.attempt.begun_at) == ("lost", doubt + 1, NOW - HOUR)
    assert (move.attempt.holder, move.attempt.ended_at) == ("worker-1", NOW)
    assert move.attempt.reason


def test_a_claim_lost_for_good_while_an_attempt_is_in_doubt_is_uncertain() -> None:
    move = lost(doubted(CLAIMED, budget_used=4, alone=True))
    assert (move.event, move.next, move.wanted) == (Event.DOUBT, UNCERTAIN, State.REVIEW)


# Worth nothing any more


def test_what_is_worth_nothing_any_more_is_skipped_unless_it_may_have_been_sent() -> None:
    move = expire(make(expires_at=NOW - SECOND), NOW, "sweeper")
    assert (move.event, move.next) == (Event.EXPIRE, State.SKIPPED)
    assert move.reason == "expired: worth nothing after 2030-01-07T11:59:59+00:00"
    assert expire(doubted(State.SCHEDULED, expires_at=NOW), NOW, "sweeper").wanted is State.SKIPPED


# Ways out of uncertainty


@pytest.mark.parametrize("state", [State.SCHEDULED, CLAIMED, UNCERTAIN])
@pytest.mark.parametrize("kind", [HOLD, RESEND, ASSUME, None])
def test_evidence_of_acceptance_beats_every_policy_in_every_state(state: State, kind: Kind | None) -> None:
    n = doubted(state, doubt=2, wanted=State.SKIPPED, cancel_request="read")
    evidence = [learned("rejected", 1), learned("accepted", 2, "late_report", "p-9")]
    move = made(reconciled(n, *evidence, kind=kind))
    assert (move.event, move.next, move.basis) == (Event.CONFIRM, State.ACCEPTED, "evidence")
    assert (move.provider_id, move.doubt) == ("p-9", 0)
    assert move.reason == "late report: attempt 2 was accepted"


def test_an_acceptance_leaves_the_other_attempts_in_doubt() -> None:
    assert made(reconciled(doubted(doubt=3), learned("accepted", 2))).doubt == 2


ABSENCE: list[tuple[str, Any, list[Evidence], Kind | None, Event | None]] = [
    ("one attempt, not accepted", doubted(), [learned("not_accepted")], HOLD, Event.REPEAT),
    ("one attempt, refused", doubted(), [learned("rejected")], HOLD, Event.DISPROVE),
    ("twice told of one attempt", doubted(doubt=2),
     [learned("not_accepted", 1), learned("not_accepted", 1, "receipt")], HOLD, None),
    ("both attempts", doubted(doubt=2), [learned("not_accepted", 1), learned("not_accepted", 2)], HOLD, Event.REPEAT),
    ("one of two refused", doubted(doubt=2), [learned("not_accepted", 1), learned("rejected", 2)], HOLD,
     Event.DISPROVE),
    ("nobody knows", doubted(), [learned("unknown")], HOLD, None),
    ("no attempt left", doubted(budget_used=5), [learned("not_accepted")], HOLD, Event.DISPROVE),
    ("one attempt left", doubted(budget_used=4), [learned("not_accepted")], HOLD, Event.REPEAT),
    ("it had wanted to close", doubted(wanted=State.SKIPPED), [learned("not_accepted")], HOLD, Event.DISPROVE),
    ("its kind is unknown here", doubted(), [learned("not_accepted")], None, Event.DISPROVE),
    ("while it waits to be repeated", doubted(State.SCHEDULED), [learned("not_accepted")], HOLD, None),
    ("while it is claimed", doubted(CLAIMED), [learned("rejected")], HOLD, None),
]  # fmt: skip


@pytest.mark.parametrize(("n", "evidence", "kind", "event"), [row[1:] for row in ABSENCE], ids=[r[0] for r in ABSENCE])
def test_only_when_every_doubtful_attempt_is_refuted_is_it_unsent(
    n: Any, evidence: list[Evidence], kind: Kind | None, event: Event | None
) -> None:
    verdict = reconciled(n, *evidence, kind=kind)
    if event is None:
        assert verdict == NOW + LOOK_AGAIN
        return
    move = made(verdict)
    assert (move.event, move.doubt) == (event, 0)
    if event is Event.REPEAT:
        assert (move.next, move.wake_at, move.permit) == (State.SCHEDULED, NOW, None)
    else:
        assert move.next is State.REVIEW
    assert move.reason


POLICY: list[tuple[str, Any, Kind | None, Any, Event | None]] = [
    ("hold waits for a person", doubted(), HOLD, KEYED, None),
    ("assume sent", doubted(), ASSUME, PLAIN, Event.ASSUME),
    ("resend within the window", doubted(), RESEND, KEYED, Event.REPEAT),
    ("resend without a window", doubted(), RESEND, PLAIN, None),
    ("resend after the window", doubted(first_begun_at=NOW - DAY), RESEND, KEYED, None),
    ("resend in the margin of the window", doubted(first_begun_at=NOW - DAY + SECOND), RESEND, KEYED, None),
    ("resend with one attempt left", doubted(budget_used=4), RESEND, KEYED, Event.REPEAT),
    ("resend with no attempt left", doubted(budget_used=5), RESEND, KEYED, None),
    ("what wanted to close is not repeated", doubted(wanted=State.SKIPPED), RESEND, KEYED, None),
    ("nor assumed", doubted(wanted=State.REVIEW), ASSUME, KEYED, None),
    ("what its owner withdrew is not repeated", doubted(cancel_request="read"), RESEND, KEYED, None),
    ("nor assumed sent", doubted(cancel_request="read"), ASSUME, KEYED, None),
    ("a kind nobody here knows", doubted(), None, KEYED, None),
    ("a channel nobody here knows", doubted(), ASSUME, None, None),
    ("what is scheduled already", doubted(State.SCHEDULED), ASSUME, KEYED, None),
    ("what is claimed", doubted(CLAIMED), RESEND, KEYED, None),
]  # fmt: skip


@pytest.mark.parametrize(("n", "kind", "channel", "event"), [row[1:] for row in POLICY], ids=[r[0] for r in POLICY])
def test_without_evidence_the_stated_policy_decides_where_it_is_lawful(
    n: Any, kind: Kind | None, channel: Any, event: Event | None
) -> None:
    verdict = reconciled(n, kind=kind, channel=channel)
    if event is None:
        assert verdict == NOW + LOOK_AGAIN
        return
    move = made(verdict)
    assert move.event is event
    if event is Event.ASSUME:
        assert (move.next, move.basis, move.doubt) == (State.ACCEPTED, "assumed", None)
    else:
        assert (move.next, move.permit, move.wake_at, move.doubt) == (State.SCHEDULED, "key", NOW, None)


def test_partial_evidence_leaves_the_rest_to_the_policy() -> None:
    evidence = learned("not_accepted", 1)
    assert made(reconciled(doubted(doubt=2), evidence, kind=ASSUME)).event is Event.ASSUME
    assert made(reconciled(doubted(doubt=2), evidence, kind=RESEND)).permit == "key"
    assert reconciled(doubted(doubt=2), evidence, kind=HOLD) == NOW + LOOK_AGAIN


def test_a_kind_states_its_own_budget() -> None:
    generous = Kind("mail", "mail", on_uncertain="resend", retry=Backoff(attempts=9))
    assert made(reconciled(doubted(budget_used=8), kind=generous)).event is Event.REPEAT
