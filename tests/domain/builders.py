"""Values for the domain's tests: whole notifications in any state, without a store."""

from datetime import UTC, datetime, timedelta
from typing import Any

from duebook.domain.lifecycle import CLOSED, Event, State
from duebook.domain.message import Email, Message, freeze
from duebook.domain.notification import Intent, Notification
from duebook.domain.policy import ChannelPolicy, Kind

NOW = datetime(2030, 1, 7, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
QUIET = timedelta(seconds=35)

KIND = Kind("mail", "mail")
PLAIN = ChannelPolicy("mail")
KEYED = ChannelPolicy("mail", key_window=DAY)

_STATED: dict[str, Any] = {
    "id": 7, "kind": "mail", "key": "a", "recipient": "ann", "namespace": "test", "channel": "mail", "priority": 1,
    "data": "{}", "due_at": NOW - MINUTE, "state": State.SCHEDULED, "event": Event.SCHEDULE, "version": 4,
    "wake_at": NOW, "alone": False, "number": 0, "budget_used": 0, "age_from": NOW - MINUTE, "doubt": 0,
    "created_at": NOW - DAY, "moved_at": NOW - MINUTE,
}  # fmt: skip
_BASE = Notification(**{**dict.fromkeys(Notification._fields), **_STATED})


def make(state: State = State.SCHEDULED, **changes: Any) -> Notification:
    """A notification in a state, with the instants that state needs."""
    instants: dict[str, Any] = {"wake_at": None}
    if state is State.SCHEDULED:
        instants = {"wake_at": NOW}
    elif state in (State.CLAIMED, State.SENDING):
        instants |= {"lease_until": NOW + MINUTE, "holder": "worker-1"}
    elif state in CLOSED:
        instants |= {"closed_at": NOW}
    else:
        instants |= {"review_at" if state is State.REVIEW else "attention_at": NOW}
    if state is State.SENDING:
        instants |= {"message": freeze(email()), "begun_at": NOW, "number": 1}
    return _BASE._replace(**{"state": state, **instants, **changes})


def doubted(state: State = State.UNCERTAIN, doubt: int = 1, **changes: Any) -> Notification:
    """One that has `doubt` attempts nobody can vouch for."""
    values: dict[str, Any] = {
        "doubt": doubt, "number": doubt, "message": freeze(email("the first words")), "rendered_at": NOW - HOUR,
        "begun_at": NOW - HOUR, "first_begun_at": NOW - HOUR,
    }  # fmt: skip
    return make(state, **{**values, **changes})


def intent(n: Notification | None = None, **changes: Any) -> Intent:
    """An intent on the wire."""
    n = n or make(State.CLAIMED)
    made = Intent(n, n.id, n.version + 1, n.number + 1, NOW, freeze(email()), NOW, NOW, "worker-1", n.doubt)
    return made._replace(**changes)


def email(text: str = "Hello", **changes: Any) -> Message:
    return Email(**{"to": "ann@example.org", "subject": "A reminder", "text": text, **changes})
