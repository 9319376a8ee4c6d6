from datetime import timedelta
from typing import Any

import pytest

from duebook.domain import deciding
from duebook.domain.decision import Cancel, Defer, Reject, Skip
from duebook.domain.lifecycle import Event, State
from duebook.domain.message import freeze
from duebook.domain.notification import Intent, Move
from duebook.domain.policy import ChannelPolicy, Kind
from duebook.domain.retry import Backoff
from duebook.errors import InvalidInput, InvalidMessage
from tests.domain.builders import DAY, HOUR, KEYED, KIND, MINUTE, NOW, PLAIN, SECOND, doubted, email, make

CLAIMED = State.CLAIMED
MARGIN = deciding.KEY_WINDOW_MARGIN


def judged(decision: Any, kind: Kind = KIND, mode: Any = "live", **changes: Any) -> Move:
    verdict = deciding.judge(make(CLAIMED, **changes), decision, kind, mode, NOW, "worker-1")
    assert isinstance(verdict, Move)
    return verdict


def intended(n: Any, channel: ChannelPolicy = PLAIN, text: str = "new words") -> Intent | Move:
    return deciding.intend(n, None, email(text), channel, NOW, "worker-1")


# Before the handler is asked


@pytest.mark.parametrize(
    ("mode", "expires", "reason"),
    [
        ("live", None, None),
        ("shadow", None, None),
        ("live", SECOND, None),
        ("live", timedelta(0), "expired: worth nothing after 2030-01-07T12:00:00+00:00"),
        ("live", -SECOND, "expired: worth nothing after 2030-01-07T11:59:59+00:00"),
        ("off", None, "kind mail is switched off"),
        ("off", -SECOND, "expired: worth nothing after 2030-01-07T11:59:59+00:00"),
    ],
)
def test_what_is_expired_or_switched_off_is_skipped_unasked(
    mode: Any, expires: timedelta | None, reason: str | None
) -> None:
    n = make(CLAIMED, expires_at=None if expires is None else NOW + expires)
    move = deciding.precheck(n, mode, NOW, "worker-1")
    if reason is None:
        assert move is None
    else:
        assert move is not None
        assert (move.event, move.next, move.reason) == (Event.SKIP, State.SKIPPED, reason)


def test_what_may_have_been_sent_does_not_expire_into_skipped() -> None:
    move = deciding.precheck(doubted(CLAIMED, expires_at=NOW), "live", NOW, "worker-1")
    assert move is not None
    assert (move.event, move.next, move.wanted) == (Event.DOUBT, State.UNCERTAIN, State.SKIPPED)


def test_a_handler_is_given_what_was_promised_and_how_late_it_is() -> None:
    n = make(
        CLAIMED, number=2, tenant="acme", data='{"id": 7}', wall="2030-01-07T13:59:00", zone="Europe/Kyiv",
        due_at=NOW - MINUTE,
    )  # fmt: skip
    due = deciding.due(n, None, NOW)
    assert (due.kind, due.key, due.recipient, due.tenant, due.number) == ("mail", "a", "ann", "acme", 3)
    assert (due.data, due.due_at, due.now, due.lateness) == ({"id": 7}, NOW - MINUTE, NOW, MINUTE)
    assert (str(due.wall), due.zone, due.in_doubt) == ("2030-01-07 13:59:00", "Europe/Kyiv", False)
    assert deciding.due(doubted(CLAIMED), None, NOW).in_doubt is True
    assert deciding.due(make(CLAIMED), None, NOW).wall is None


# What a decision becomes


def test_a_message_is_sent_over_its_own_channel() -> None:
    for message in (email(), email(channel="mail")):
        assert deciding.judge(make(CLAIMED), message, KIND, "live", NOW, "worker-1") is message


@pytest.mark.parametrize("mode", ["live", "shadow"])
def test_a_message_for_another_channel_moves_there_at_once_and_costs_nothing(mode: Any) -> None:
    move = judged(email(channel="post"), mode=mode)
    assert (move.event, move.channel, move.wake_at, move.budget_used) == (Event.DEFER, "post", NOW, None)


def test_a_message_in_shadow_is_recorded_and_not_sent() -> None:
    move = judged(email(), mode="shadow")
    assert (move.event, move.next) == (Event.SKIP, State.SKIPPED)
    assert move.reason == "shadow: it would have been sent"
    assert move.message == freeze(email())


@pytest.mark.parametrize(
    ("decision", "event", "end"),
    [
        (Skip("read"), Event.SKIP, State.SKIPPED),
        (Cancel("read"), Event.CANCEL, State.CANCELLED),
        (Reject("read"), Event.REJECT, State.REVIEW),
    ],
)
@pytest.mark.parametrize("mode", ["live", "shadow"])
def test_a_decision_not_to_send_ends_it_with_its_reason(decision: Any, event: Event, end: State, mode: Any) -> None:
    move = judged(decision, mode=mode)
    assert (move.event, move.next, move.reason) == (event, end, "read")
    doubtful = deciding.judge(doubted(CLAIMED), decision, KIND, mode, NOW, "worker-1")
    assert isinstance(doubtful, Move)
    assert (doubtful.event, doubtful.wanted, doubtful.reason) == (Event.DOUBT, end, "read")


@pytest.mark.parametrize(
    ("until", "wake"),
    [
        (None, deciding.DEFERRAL),
        (HOUR, HOUR),
        (timedelta(0), SECOND),
        (timedelta(milliseconds=10), SECOND),
        (-DAY, SECOND),
        (6 * DAY, 6 * DAY),
    ],
)
def test_a_deferral_has_a_smallest_step(until: timedelta | None, wake: timedelta) -> None:
    move = judged(Defer("quiet hours", None if until is None else NOW + until), budget_used=2)
    assert (move.event, move.next, move.wake_at) == (Event.DEFER, State.SCHEDULED, NOW + wake)
    assert (move.reason, move.budget_used) == ("quiet hours", 2)


@pytest.mark.parametrize(
    ("used", "counts", "event", "after"),
    [(0, True, Event.DEFER, 1), (3, True, Event.DEFER, 4), (4, True, Event.EXHAUST, 5), (4, False, Event.DEFER, 4)],
)
def test_a_deferral_may_use_an_attempt(used: int, counts: bool, event: Event, after: int) -> None:
    move = judged(Defer("not yet", uses_attempt=counts), budget_used=used)
    assert (move.event, move.budget_used) == (event, after)


@pytest.mark.parametrize(("age", "event"), [(7 * DAY - SECOND, Event.DEFER), (7 * DAY, Event.EXHAUST)])
def test_a_deferral_has_a_longest_patience(age: timedelta, event: Event) -> None:
    assert judged(Defer("not yet"), age_from=NOW - age).event is event


def test_patience_is_counted_from_the_first_look_and_not_from_the_promise() -> None:
    """Or else an outage of the workers would use it up."""
    move = judged(Defer("not yet"), due_at=NOW - 30 * DAY, age_from=None)
    assert (move.event, move.age_from) == (Event.DEFER, NOW)
    assert judged(Defer("not yet"), age_from=NOW - HOUR).age_from == NOW - HOUR


def test_a_deferral_without_a_zone_is_refused() -> None:
    with pytest.raises(InvalidInput, match="until"):
        Defer("not yet", NOW.replace(tzinfo=None))


@pytest.mark.parametrize("nonsense", [None, "sent", True, 42, {"to": "ann"}, Skip, object(), Skip(None)])  # type: ignore[arg-type]
def test_an_answer_that_is_no_decision_is_a_fault_of_the_handler(nonsense: Any) -> None:
    with pytest.raises(TypeError):
        judged(nonsense)


# What a handler that failed becomes


@pytest.mark.parametrize(
    ("used", "age", "event"),
    [
        (0, MINUTE, Event.DEFER),
        (3, MINUTE, Event.DEFER),
        (4, MINUTE, Event.EXHAUST),
        (0, 2 * DAY - SECOND, Event.DEFER),
        (0, 2 * DAY, Event.EXHAUST),
    ],
)
def test_a_handler_that_failed_uses_an_attempt_and_keeps_the_traceback(used: int, age: timedelta, event: Event) -> None:
    n = make(CLAIMED, budget_used=used, age_from=NOW - age)
    move = deciding.failed(n, ValueError("x"), "Traceback …\nValueError: x", KIND, NOW, "worker-1", 1.0)
    assert (move.event, move.budget_used, move.reason) == (event, used + 1, "Traceback …\nValueError: x")
    assert move.wake_at == (NOW + KIND.retry.delay(used + 1, 1.0) if event is Event.DEFER else None)


def test_a_message_that_can_never_be_sent_goes_to_review_at_once() -> None:
    error = InvalidMessage("to", "'ann' is not one e-mail address")
    move = deciding.failed(make(CLAIMED), error, "Traceback …", KIND, NOW, "worker-1", 0.5)
    assert (move.event, move.next, move.budget_used) == (Event.REJECT, State.REVIEW, None)
    assert "to: 'ann' is not one e-mail address" in (move.reason or "")


@pytest.mark.parametrize("used", [0, 4])
def test_a_handler_that_fails_while_an_attempt_is_in_doubt_ends_nothing(used: int) -> None:
    move = deciding.failed(doubted(CLAIMED, budget_used=used), ValueError("x"), "x", KIND, NOW, "worker-1", 0.5)
    assert move.event is (Event.DEFER if used < 4 else Event.DOUBT)


def test_a_long_traceback_keeps_within_bounds_and_a_nul_in_it_does_no_harm() -> None:
    move = deciding.failed(make(CLAIMED), ValueError(), "\x00" + "x" * 20_000, KIND, NOW, "w", 0.5)
    assert move.reason is not None
    assert len(move.reason) == 8_000
    assert "\x00" not in move.reason


def test_what_was_not_begun_is_given_back_unused() -> None:
    move = deciding.give_back(make(CLAIMED, budget_used=3), NOW, "worker-1", "the worker stops")
    assert (move.event, move.next, move.wake_at, move.budget_used) == (Event.DEFER, State.SCHEDULED, NOW, None)


# The last look


def test_an_intent_freezes_the_message_and_takes_the_next_number_and_version() -> None:
    n = make(CLAIMED, number=2)
    one = intended(n)
    assert isinstance(one, Intent)
    assert (one.notification, one.id, one.version, one.number) == (n, n.id, n.version + 1, 3)
    assert (one.message, one.rendered_at, one.first_begun_at, one.at) == (freeze(email("new words")), NOW, NOW, NOW)
    assert (one.doubt, one.state, one.holder) == (0, State.SENDING, "worker-1")


def test_a_provably_unaccepted_attempt_is_decided_afresh() -> None:
    n = make(CLAIMED, number=1, message=freeze(email("old words")), rendered_at=NOW - HOUR, first_begun_at=NOW - HOUR)
    one = intended(n)
    assert isinstance(one, Intent)
    assert (one.message, one.rendered_at, one.first_begun_at) == (freeze(email("new words")), NOW, NOW)


@pytest.mark.parametrize(("permit", "channel"), [("key", KEYED), ("ruled", PLAIN)])
def test_while_an_attempt_is_in_doubt_the_same_bytes_go_out_again(permit: Any, channel: ChannelPolicy) -> None:
    n = doubted(CLAIMED, doubt=2, permit=permit)
    one = intended(n, channel)
    assert isinstance(one, Intent)
    assert (one.message, one.rendered_at, one.first_begun_at) == (n.message, NOW - HOUR, NOW - HOUR)
    assert (one.number, one.doubt) == (3, 2)


@pytest.mark.parametrize(
    ("permit", "channel", "ago", "lawful"),
    [
        (None, KEYED, HOUR, False),
        ("key", PLAIN, HOUR, False),
        ("key", KEYED, HOUR, True),
        ("key", KEYED, DAY - MARGIN - SECOND, True),
        ("key", KEYED, DAY - MARGIN, False),
        ("key", KEYED, DAY + HOUR, False),
        ("key", ChannelPolicy("mail", key_window=MARGIN), timedelta(0), False),
        ("ruled", PLAIN, 30 * DAY, True),
    ],
)
def test_a_repeat_is_lawful_only_at_the_moment_it_begins(
    permit: Any, channel: ChannelPolicy, ago: timedelta, lawful: bool
) -> None:
    n = doubted(CLAIMED, permit=permit, first_begun_at=NOW - ago)
    assert deciding.may_repeat(n, channel, NOW) is lawful
    one = intended(n, channel)
    if lawful:
        assert isinstance(one, Intent)
    else:
        assert isinstance(one, Move)
        assert (one.event, one.next, one.attention_at) == (Event.DOUBT, State.UNCERTAIN, NOW)


def test_a_key_protects_nothing_that_never_began() -> None:
    assert not deciding.key_protects(make(CLAIMED), KEYED, NOW)


def test_an_unstorable_message_is_refused_at_the_last_look() -> None:
    with pytest.raises(InvalidMessage):
        intended(make(CLAIMED), text="a\x00b")


def test_a_kind_with_one_attempt_never_tries_again() -> None:
    once = Kind("mail", "mail", retry=Backoff(attempts=1))
    assert judged(Defer("not yet", uses_attempt=True), once).event is Event.EXHAUST
    assert deciding.failed(make(CLAIMED), ValueError(), "x", once, NOW, "w", 0.5).event is Event.EXHAUST
