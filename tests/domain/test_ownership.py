from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from duebook.domain import ownership
from duebook.domain.lifecycle import CLOSED, Event, State
from duebook.domain.notification import Move, Notification
from duebook.domain.ownership import Answer
from duebook.domain.walltime import Promise
from tests.domain.builders import DAY, HOUR, NOW, doubted, make

S = State
LATER = Promise(NOW + HOUR)
Verdict = Move | Answer

WISHES: dict[str, Callable[[Notification], Verdict]] = {
    "cancel": lambda n: ownership.cancel(n, "read", NOW, "app"),
    "reschedule": lambda n: ownership.reschedule(n, LATER, None, NOW, "app"),
    "rearm": lambda n: ownership.rearm(n, LATER, None, "{}", NOW, "app"),
    "send_now": lambda n: ownership.send_now(n, NOW, "app"),
    "redrive": lambda n: ownership.redrive(n, "fixed", NOW, "app"),
    "drop": lambda n: ownership.drop(n, "no use", NOW, "app"),
    "rule sent": lambda n: ownership.rule(n, "sent", "she has it", NOW, "app"),
    "rule resend": lambda n: ownership.rule(n, "resend", "never came", NOW, "app"),
    "rule drop": lambda n: ownership.rule(n, "drop", "no use", NOW, "app"),
}

DONE: dict[tuple[str, State], tuple[Event, State]] = {
    ("cancel", S.SCHEDULED): (Event.CANCEL, S.CANCELLED),
    ("cancel", S.CLAIMED): (Event.CANCEL, S.CANCELLED),
    ("cancel", S.REVIEW): (Event.CANCEL, S.CANCELLED),
    ("reschedule", S.SCHEDULED): (Event.RESCHEDULE, S.SCHEDULED),
    ("reschedule", S.CLAIMED): (Event.RESCHEDULE, S.SCHEDULED),
    ("rearm", S.SCHEDULED): (Event.RESCHEDULE, S.SCHEDULED),
    ("rearm", S.CLAIMED): (Event.RESCHEDULE, S.SCHEDULED),
    ("rearm", S.CANCELLED): (Event.REARM, S.SCHEDULED),
    ("send_now", S.SCHEDULED): (Event.RESCHEDULE, S.SCHEDULED),
    ("redrive", S.REVIEW): (Event.REDRIVE, S.SCHEDULED),
    ("drop", S.REVIEW): (Event.DROP, S.DROPPED),
    ("rule sent", S.UNCERTAIN): (Event.RESOLVE_SENT, S.ACCEPTED),
    ("rule resend", S.UNCERTAIN): (Event.RESOLVE_RESEND, S.SCHEDULED),
    ("rule drop", S.UNCERTAIN): (Event.RESOLVE_DROP, S.DROPPED),
}


def refused(wish: str, state: State) -> str:
    if wish.startswith("rule"):
        return "not_uncertain"
    if wish in ("redrive", "drop"):
        return "not_in_review"
    return "already_closed" if state in CLOSED else "too_late"


def move(verdict: Verdict) -> Move:
    assert isinstance(verdict, Move)
    return verdict


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("wish", WISHES)
def test_every_wish_is_done_or_answered_with_the_truth(wish: str, state: State) -> None:
    verdict = WISHES[wish](make(state, reason="as it was"))
    if (wish, state) in DONE:
        one = move(verdict)
        assert (one.event, one.next) == DONE[wish, state]
        assert one.reason
        assert one.by == "app"
    else:
        assert verdict == Answer(refused(wish, state), state, "as it was")  # type: ignore[arg-type]
        assert not verdict


@pytest.mark.parametrize("state", [S.SCHEDULED, S.CLAIMED])
def test_a_cancel_while_an_attempt_is_in_doubt_is_kept_as_what_was_wanted(state: State) -> None:
    one = move(WISHES["cancel"](doubted(state)))
    assert (one.event, one.next, one.wanted, one.reason) == (Event.DOUBT, S.UNCERTAIN, S.CANCELLED, "read")


@pytest.mark.parametrize(("wish", "state"), [("reschedule", S.SCHEDULED), ("rearm", S.CANCELLED)])
@pytest.mark.parametrize(("due", "wakes"), [(HOUR, HOUR), (timedelta(0), timedelta(0)), (-DAY, timedelta(0))])
def test_another_time_is_another_promise_with_a_fresh_budget(
    wish: str, state: State, due: timedelta, wakes: timedelta
) -> None:
    promise = Promise(NOW + due, "2030-01-07T13:00:00", "Europe/Kyiv", "compatible", "2026f")
    n = make(state, budget_used=4)
    if wish == "rearm":
        one = move(ownership.rearm(n, promise, NOW + DAY, '{"n": 2}', NOW, "app"))
    else:
        one = move(ownership.reschedule(n, promise, NOW + DAY, NOW, "app", '{"n": 2}'))
    assert (one.promise, one.expires_at, one.data) == (promise, NOW + DAY, '{"n": 2}')
    assert (one.wake_at, one.budget_used) == (NOW + wakes, 0)


def test_a_new_time_alone_leaves_the_data_as_it_is() -> None:
    assert move(WISHES["reschedule"](make())).data is None


def test_a_cancelled_one_that_reached_the_wire_is_not_armed_again() -> None:
    assert WISHES["rearm"](make(S.CANCELLED, number=1)) == Answer("already_closed", S.CANCELLED, None)


def test_sending_now_keeps_the_promised_instant() -> None:
    one = move(WISHES["send_now"](make(wake_at=NOW + DAY)))
    assert (one.wake_at, one.promise, one.budget_used) == (NOW, None, None)


def test_a_redrive_has_a_fresh_budget() -> None:
    one = move(WISHES["redrive"](make(S.REVIEW, budget_used=5, number=5)))
    assert (one.wake_at, one.budget_used) == (NOW, 0)


REFUSED = make(S.REVIEW, event=Event.REJECT, number=1, moved_at=NOW, reason="550 no such mailbox")
AS_IT_IS = "it was refused as it is: 550 no such mailbox; change its data, its recipient's record, or force it"


@pytest.mark.parametrize(
    ("since", "goes_out"),
    [
        ({}, False),
        ({"recipient_changed_at": NOW - DAY}, False),
        ({"recipient_changed_at": NOW}, False),
        ({"recipient_changed_at": NOW + HOUR}, True),
        ({"data": '{"account": 7}'}, True),
        ({"force": True}, True),
    ],
)
def test_what_was_refused_goes_out_again_only_if_something_is_new(since: dict[str, Any], goes_out: bool) -> None:
    verdict = ownership.redrive(REFUSED, "try again", NOW + DAY, "app", **since)
    if goes_out:
        assert (move(verdict).event, move(verdict).data) == (Event.REDRIVE, since.get("data"))
    else:
        assert verdict == Answer("refused", S.REVIEW, AS_IT_IS)


@pytest.mark.parametrize(
    "n",
    [
        make(S.REVIEW, event=Event.REJECT, number=0, reason="no account"),
        make(S.REVIEW, event=Event.EXHAUST, number=5, reason="451 later"),
        make(S.REVIEW, event=Event.DISPROVE, number=1, reason="evidence says so"),
    ],
)
def test_what_no_provider_refused_goes_out_again_for_the_asking(n: Notification) -> None:
    assert move(ownership.redrive(n, "try again", NOW, "app")).event is Event.REDRIVE


def test_nothing_but_what_is_in_review_is_sent_back_by_force() -> None:
    answer = ownership.redrive(make(S.ACCEPTED), "again", NOW, "app", data="{}", force=True)
    assert answer == Answer("not_in_review", S.ACCEPTED, None)


def test_a_ruling_permits_or_ends_and_proves_nothing() -> None:
    sent, resend, drop = (move(WISHES[f"rule {ruling}"](doubted(doubt=2))) for ruling in ("sent", "resend", "drop"))
    assert (sent.basis, sent.doubt, sent.permit) == ("ruled", None, None)
    assert (resend.permit, resend.doubt, resend.wake_at, resend.budget_used) == ("ruled", None, NOW, 0)
    assert (drop.next, drop.doubt, drop.basis) == (S.DROPPED, None, None)


def test_what_its_owner_withdrew_is_not_sent_again_by_a_ruling() -> None:
    answer = WISHES["rule resend"](doubted(cancel_request="read"))
    assert answer == Answer("refused", S.UNCERTAIN, "its owner has withdrawn it: read")
    assert move(WISHES["rule drop"](doubted(cancel_request="read"))).next is S.DROPPED


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("request_", [None, "read"])
def test_a_cancel_that_came_too_late_is_honoured_on_the_way_back(state: State, request_: str | None) -> None:
    one = ownership.honour(make(state, cancel_request=request_), NOW)
    if request_ and state in (S.SCHEDULED, S.REVIEW):
        assert one is not None
        assert (one.event, one.next, one.reason, one.by) == (Event.CANCEL, S.CANCELLED, "read", "owner")
    else:
        assert one is None


def test_what_comes_back_in_doubt_ends_uncertain_not_cancelled() -> None:
    one = ownership.honour(doubted(S.SCHEDULED, cancel_request="read"), NOW)
    assert one is not None
    assert (one.next, one.wanted) == (S.UNCERTAIN, S.CANCELLED)


@pytest.mark.parametrize(
    ("answer", "truth"),
    [(Answer("done"), True), (Answer("too_late"), False), (Answer("not_found"), False), (ownership.NOT_FOUND, False)],
)
def test_an_answer_is_true_when_the_wish_was_done(answer: Any, truth: bool) -> None:
    assert bool(answer) is truth
