from datetime import datetime, timedelta
from typing import Any

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.message import fingerprint
from duebook.domain.notification import Intent, Move
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain, from_exception
from duebook.domain.policy import ChannelPolicy, Kind
from duebook.domain.settling import settle, throttled_until
from tests.domain.builders import DAY, HOUR, KIND, MINUTE, NOW, PLAIN, QUIET, SECOND, doubted, intent, make

PAUSE = PLAIN.pause
BACKOFF = KIND.retry.delay(1, 1.0)


def on_the_wire(used: int = 0, age: timedelta = MINUTE, doubt: int = 0, **changes: Any) -> Intent:
    values = {"budget_used": used, "age_from": NOW - age, **changes}
    return intent(doubted(State.CLAIMED, doubt, **values) if doubt else make(State.CLAIMED, **values))


def settled(outcome: Outcome, one: Intent | None = None, kind: Kind = KIND, jitter: float = 1.0) -> Move:
    return settle(one or on_the_wire(), outcome, kind, PLAIN, NOW, jitter, QUIET)


TABLE: list[tuple[str, Outcome, dict[str, Any], Event, State, dict[str, Any]]] = [
    ("accepted", Accepted("p-1"), {}, Event.ACCEPT, State.ACCEPTED, {"basis": "reported", "provider_id": "p-1"}),
    ("accepted without a name", Accepted(), {}, Event.ACCEPT, State.ACCEPTED, {"basis": "reported"}),
    ("accepted with doubt", Accepted(), {"doubt": 1}, Event.ACCEPT, State.ACCEPTED, {"basis": "reported"}),
    ("rejected", Rejected("550"), {}, Event.REJECT, State.REVIEW, {"reason": "550"}),
    ("rejected with doubt", Rejected("550"), {"doubt": 1}, Event.DOUBT, State.UNCERTAIN, {"wanted": State.REVIEW}),
    ("retry", Retry("451"), {}, Event.RETRY, State.SCHEDULED, {"budget_used": 1, "wake_at": NOW + BACKOFF}),
    ("retry as wished", Retry("451", HOUR), {}, Event.RETRY, State.SCHEDULED, {"wake_at": NOW + HOUR}),
    ("retry wished for the past", Retry("", -HOUR), {}, Event.RETRY, State.SCHEDULED, {"wake_at": NOW + BACKOFF}),
    ("retry wished in 56 years", Retry("", 20_454 * DAY), {}, Event.RETRY, State.SCHEDULED, {"wake_at": NOW + DAY}),
    ("retry, one left", Retry("451"), {"used": 3}, Event.RETRY, State.SCHEDULED, {"budget_used": 4}),
    ("retry, none left", Retry("451"), {"used": 4}, Event.EXHAUST, State.REVIEW, {"budget_used": 5, "reason": "451"}),
    ("retry, nearly too old", Retry("451"), {"age": 2 * DAY - SECOND}, Event.RETRY, State.SCHEDULED, {}),
    ("retry, too old", Retry("451"), {"age": 2 * DAY}, Event.EXHAUST, State.REVIEW, {"reason": "451"}),
    ("retry with doubt", Retry("451"), {"doubt": 1}, Event.RETRY, State.SCHEDULED, {"budget_used": 1, "doubt": None}),
    ("last retry with doubt", Retry("451"), {"doubt": 1, "used": 4}, Event.DOUBT, State.UNCERTAIN,
     {"wanted": State.REVIEW, "doubt": 1}),
    ("throttled", Throttled(), {}, Event.THROTTLE, State.SCHEDULED, {"budget_used": 0, "wake_at": NOW + PAUSE}),
    ("throttled at the end of its budget", Throttled(), {"used": 4}, Event.THROTTLE, State.SCHEDULED,
     {"budget_used": 4}),
    ("throttled until", Throttled("", NOW + HOUR), {}, Event.THROTTLE, State.SCHEDULED, {"wake_at": NOW + HOUR}),
    ("throttled, too old", Throttled("429"), {"age": 2 * DAY}, Event.EXHAUST, State.REVIEW, {"reason": "429"}),
    ("throttled with doubt", Throttled("429"), {"doubt": 1}, Event.THROTTLE, State.SCHEDULED, {}),
    ("uncertain", Uncertain("cut off"), {}, Event.TIME_OUT, State.UNCERTAIN,
     {"doubt": 1, "attention_at": NOW + QUIET, "reason": "cut off", "wanted": None}),
    ("uncertain again", Uncertain("cut off"), {"doubt": 2}, Event.TIME_OUT, State.UNCERTAIN, {"doubt": 3}),
]  # fmt: skip


@pytest.mark.parametrize(("outcome", "given", "event", "end", "changes"), [row[1:] for row in TABLE],
                         ids=[row[0] for row in TABLE])  # fmt: skip
def test_each_outcome_makes_one_move(outcome: Outcome, given: dict, event: Event, end: State, changes: dict) -> None:
    move = settled(outcome, on_the_wire(**given))
    assert (move.event, move.next, move.state) == (event, end, State.SENDING)
    assert {name: getattr(move, name) for name in changes} == changes
    assert (move.by, move.at) == ("worker-1", NOW)


def test_an_attempt_that_timed_out_is_an_attempt_used() -> None:
    """Or else a kind that resends would repeat for as long as the provider remembers the key."""
    assert settled(Uncertain("cut off"), on_the_wire(used=2)).budget_used == 3


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        (Accepted("p-1"), "accepted"), (Rejected("550"), "rejected"), (Retry("451"), "retry"),
        (Throttled("429"), "throttled"), (Uncertain("cut off"), "uncertain"),
    ],
)  # fmt: skip
def test_each_attempt_has_its_line_in_the_ledger(outcome: Outcome, name: str) -> None:
    begun = intent(at=NOW - SECOND, number=3)
    entry = settled(outcome, begun).attempt
    assert entry is not None
    assert (entry.notification_id, entry.number, entry.outcome, entry.channel) == (7, 3, name, "mail")
    assert (entry.begun_at, entry.ended_at, entry.holder) == (NOW - SECOND, NOW, "worker-1")
    assert entry.reason == getattr(outcome, "reason", None)
    assert entry.provider_id == ("p-1" if name == "accepted" else None)


def test_the_ledger_says_where_a_conversation_broke() -> None:
    entry = settled(Uncertain("no reply", phase="after the final dot")).attempt
    assert entry is not None
    assert entry.phase == "after the final dot"


@pytest.mark.parametrize(("keep", "hashed", "discards"), [("none", False, True), ("hash", True, True),
                                                          ("full", True, False)])  # fmt: skip
def test_a_kind_says_what_is_kept_of_a_message_once_it_is_accepted(keep: Any, hashed: bool, discards: bool) -> None:
    one, kind = intent(), Kind("mail", "mail", keep_copy=keep)
    move = settled(Accepted(), one, kind)
    assert move.attempt is not None
    assert move.attempt.message_hash == (fingerprint(one.message) if hashed else None)
    assert move.discard is discards
    for open_end in (Rejected("550"), Retry("451"), Uncertain("cut off")):
        assert settled(open_end, one, kind).discard is False


@pytest.mark.parametrize(
    ("until", "rests_until"),
    [
        (None, NOW + PAUSE), (NOW, NOW + PAUSE), (NOW - DAY, NOW + PAUSE), (NOW + SECOND, NOW + SECOND),
        (NOW + HOUR, NOW + HOUR), (NOW + 20_000 * DAY, NOW + DAY),
    ],
)  # fmt: skip
def test_a_throttled_channel_rests_as_long_as_asked_within_reason(
    until: datetime | None, rests_until: datetime
) -> None:
    assert throttled_until(Throttled("429", until), PLAIN, NOW) == rests_until


def test_a_channel_states_its_own_pause() -> None:
    assert throttled_until(Throttled(), ChannelPolicy("mail", pause=HOUR), NOW) == NOW + HOUR


DIRTY = "550 \x00no\ud800" + "x" * 5_000


@pytest.mark.parametrize("outcome", [Rejected(DIRTY), Retry(DIRTY), Throttled(DIRTY), Uncertain(DIRTY)], ids=repr)
def test_what_a_provider_said_is_made_storable(outcome: Outcome) -> None:
    move = settled(outcome)
    assert move.reason is not None
    assert move.attempt is not None
    assert len(move.reason) <= 1_000
    assert "\x00" not in move.reason
    assert move.reason == move.attempt.reason


def test_a_providers_name_for_a_message_is_made_storable_too() -> None:
    move = settled(Accepted(DIRTY))
    assert move.attempt is not None
    for provider_id in (move.provider_id, move.attempt.provider_id):
        assert provider_id is not None
        assert "\x00" not in provider_id
        assert "\ud800" not in provider_id
        assert len(provider_id) <= 1_000


def test_the_phase_of_an_attempt_is_made_storable_too() -> None:
    entry = settled(Uncertain("cut off", phase=DIRTY)).attempt
    assert entry is not None
    assert entry.phase is not None
    assert "\x00" not in entry.phase


@pytest.mark.parametrize(
    ("outcome", "used"), [(Rejected(""), 0), (Retry(""), 4), (Throttled(""), 4)], ids=["rejected", "retry", "throttled"]
)
def test_what_goes_to_review_always_says_why(outcome: Outcome, used: int) -> None:
    move = settled(outcome, on_the_wire(used=used, age=3 * DAY))
    assert move.next is State.REVIEW
    assert move.reason


def test_an_exception_nobody_mapped_is_uncertain() -> None:
    outcome = from_exception(ConnectionResetError("peer\x00 hung up"))
    assert isinstance(outcome, Uncertain)
    assert outcome.reason == "ConnectionResetError: peer\N{REPLACEMENT CHARACTER} hung up"
    assert len(from_exception(ValueError("x" * 5_000)).reason) == 1_000
