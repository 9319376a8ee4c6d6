"""Whether a reminder of an unread message is still wanted, and what it speaks for."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duebook.domain import deciding, unread
from duebook.domain.decision import Defer, Skip, Unread
from duebook.domain.lifecycle import CLOSED, State
from duebook.domain.notification import Intent, Notification
from duebook.domain.policy import UnreadPolicy
from duebook.domain.text import KEY_CHARACTERS
from duebook.domain.unread import WAIT, WAIT_IN_DOUBT, Cover, Seen, Told
from duebook.errors import InvalidInput
from tests.domain.builders import HOUR, MINUTE, NOW, PLAIN, doubted, email, make

# Of five messages the second fires; nothing is read, and nobody has told anything.
_SEEN: dict[str, Any] = {
    "conversation": "room", "message": "m2", "position": 2, "gone": False, "up_to": 0, "version": 3, "told": None,
    "covered_to": 0, "open": [], "last_position": 5, "total": 5, "fresh": 5,
}  # fmt: skip
TABLE = UnreadPolicy(after={"member": MINUTE, "guest": HOUR})
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=100)


def seen(**changes: Any) -> Seen:
    return Seen(**{**_SEEN, **changes})


def reminder(state: State = State.CLAIMED, **changes: Any) -> Notification:
    group, data = unread.group("chat", "room", "ann"), unread.data("room", "m2", 2)
    return make(state, **{"kind": "chat", "group": group, "data": data, **changes})


def other(state: State, to: int = 5, doubt: int = 0, id: int = 8) -> Cover:
    return Cover(id, to, "room/m1/ann", state, doubt)


# Wanted or not


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"gone": True}, "the message was deleted"),
        ({"up_to": 2}, "read"),
        ({"told": Told(2, "room/m1/ann")}, "covered by room/m1/ann"),
        ({"covered_to": 2}, "covered by an earlier one"),
        ({"total": 0, "fresh": 0}, "nothing is unread"),
    ],
)
def test_what_makes_it_needless(changes: dict[str, Any], reason: str) -> None:
    assert unread.foregone(reminder(), seen(**changes), NOW) == Skip(reason)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"up_to": 1},
        {"told": Told(1, "room/m1/ann")},
        {"covered_to": 1},
        {"open": [other(State.UNCERTAIN, to=1, doubt=1)]},
        {"open": [other(State.DROPPED, doubt=1)]},
        {"open": [other(State.SENDING, id=7)]},
        {"open": [other(State.SCHEDULED, doubt=1, id=7)]},
    ],
)
def test_what_leaves_it_wanted(changes: dict[str, Any]) -> None:
    assert unread.foregone(reminder(id=7), seen(**changes), NOW) is None


@pytest.mark.parametrize("to", [1, 5])
def test_it_waits_a_moment_for_any_that_is_on_the_wire(to: int) -> None:
    waiting = unread.foregone(reminder(), seen(open=[other(State.SENDING, to)]), NOW)
    assert isinstance(waiting, Defer)
    assert waiting.until == NOW + WAIT


@pytest.mark.parametrize("state", [State.UNCERTAIN, State.SCHEDULED, State.CLAIMED])
def test_it_waits_longer_for_one_that_may_have_told_it(state: State) -> None:
    waiting = unread.foregone(reminder(), seen(open=[other(state, doubt=1)]), NOW)
    assert isinstance(waiting, Defer)
    assert waiting.until == NOW + WAIT_IN_DOUBT


def test_being_read_is_said_before_anything_else_that_is_so() -> None:
    everything = seen(up_to=2, told=Told(5, "x"), covered_to=5, open=[other(State.SENDING)], total=0)
    assert unread.foregone(reminder(), everything, NOW) == Skip("read")


@given(
    position=st.integers(1, 9),
    up_to=st.integers(0, 9),
    covers=st.lists(st.tuples(st.integers(1, 9), st.sampled_from([*State]), st.integers(0, 2)), max_size=4),
)
def test_it_speaks_exactly_when_it_is_unread_and_no_other_has_told_it_or_might(
    position: int, up_to: int, covers: list[tuple[int, State, int]]
) -> None:
    """Whatever the others do, by the words of the rule."""
    accepted = [to for to, state, _ in covers if state is State.ACCEPTED]
    told = Told(max(accepted), "x") if accepted else None
    rest = [
        other(state, to, doubt, 20 + number)
        for number, (to, state, doubt) in enumerate(covers)
        if state is not State.ACCEPTED and (doubt or state is State.SENDING)
    ]
    answer = unread.foregone(reminder(id=7), seen(position=position, up_to=up_to, told=told, open=rest), NOW)
    silenced = (
        position <= up_to
        or any(position <= to for to in accepted)
        or any(one.state is State.SENDING for one in rest)
        or any(position <= one.to and one.state not in CLOSED for one in rest)
    )
    assert (answer is not None) is silenced


# What it says, and for what it speaks


def test_it_speaks_for_everything_up_to_the_last_message_that_was_seen() -> None:
    found = unread.covering(reminder(recipient="ann"), seen(up_to=1, total=4, fresh=3))
    assert (found.version, found.after, found.to, found.total, found.fresh) == (3, 1, 5, 4, 3)


def test_what_may_have_been_named_is_not_new() -> None:
    assert seen().named_to == 0
    assert seen(told=Told(2, "x"), open=[other(State.UNCERTAIN, 4, 1), other(State.SENDING, 5)]).named_to == 4
    assert seen(told=Told(2, "x"), covered_to=3).named_to == 3


def test_the_handler_is_told_both_numbers_and_the_intent_records_them() -> None:
    facts = seen(total=5, fresh=2)
    due = deciding.due(reminder(), facts, NOW)
    assert due.unread == Unread("room", "m2", 5, 2)
    intent = deciding.intend(reminder(), facts, email(), PLAIN, NOW, "w")
    assert isinstance(intent, Intent)
    assert intent.cover is not None
    assert (intent.cover.total, intent.cover.fresh) == (5, 2)


def test_a_repeat_in_doubt_is_fenced_by_what_was_seen_too() -> None:
    n = doubted(State.CLAIMED, permit="ruled", group=unread.group("chat", "room", "ann"))
    intent = deciding.intend(n, seen(), email(), PLAIN, NOW, "w")
    assert isinstance(intent, Intent)
    assert (intent.doubt, intent.message) == (1, n.message)
    assert intent.cover is not None
    assert intent.cover.version == 3


@pytest.mark.parametrize(
    ("up_to", "total", "expected"),
    [(None, None, (0, 5, 5)), (3, None, (3, 5, 5)), (None, 9, (0, 9, 5)), (4, 2, (4, 2, 2)), (0, 0, (0, 0, 0))],
)
def test_an_application_counts_itself(up_to: int | None, total: int | None, expected: tuple[int, int, int]) -> None:
    found = unread.counted_elsewhere(seen(), up_to, total)
    assert (found.up_to, found.total, found.fresh) == expected


# Names


@given(st.lists(st.tuples(NAMES, NAMES, NAMES), min_size=2, max_size=2, unique=True))
def test_different_reminders_have_different_keys_and_groups(names: list[tuple[str, str, str]]) -> None:
    (one, another) = names
    assert unread.key(*one) != unread.key(*another)
    assert len(unread.key(*one)) <= KEY_CHARACTERS
    if (one[0], one[2]) != (another[0], another[2]):
        assert unread.group("chat", one[0], one[2]) != unread.group("chat", another[0], another[2])


@given(NAMES, NAMES)
def test_the_name_of_a_message_can_be_the_name_of_an_item(conversation: str, message: str) -> None:
    assert len(unread.name(conversation, message)) <= KEY_CHARACTERS


def test_what_it_is_about_is_read_from_its_data() -> None:
    found = unread.about(reminder(recipient="ann"))
    assert found is not None
    assert (found.conversation, found.message, found.position, found.recipient) == ("room", "m2", 2, "ann")


@pytest.mark.parametrize(
    "changes",
    [{"group": None}, {"group": "unread:other:4:room:ann"}, {"data": "{}"}, {"data": json.dumps({"position": 2})}],
)
def test_what_only_looks_like_a_reminder_is_none(changes: dict[str, Any]) -> None:
    assert unread.about(reminder(**changes)) is None


# How long it may stay unread


def test_the_delay_is_a_length_a_table_or_a_function() -> None:
    assert UnreadPolicy(after=HOUR).delay("ann", None) == HOUR
    assert TABLE.delay("ann", "member") == MINUTE
    assert UnreadPolicy(after=lambda recipient, of_class: HOUR).delay("ann", None) == HOUR


@pytest.mark.parametrize("of_class", ["friend", None])
def test_a_class_that_the_table_does_not_know_is_refused(of_class: str | None) -> None:
    with pytest.raises(InvalidInput, match="guest, member") as refused:
        TABLE.delay("ann", of_class)
    assert refused.value.field == "recipients"


@pytest.mark.parametrize("answer", [60, -MINUTE])
def test_a_delay_that_is_none_is_refused(answer: Any) -> None:
    def after(recipient: str, of_class: str | None) -> Any:
        return answer

    with pytest.raises(InvalidInput) as refused:
        UnreadPolicy(after=after).delay("ann", None)
    assert refused.value.field == "after"
