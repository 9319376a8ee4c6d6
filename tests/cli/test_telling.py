"""The narration, from records alone."""

from typing import Any

import pytest

from duebook.cli.output import Table, aligned, plain, printable
from duebook.cli.telling import tell
from duebook.cli.wording import ahead, first_line, span
from duebook.domain import unread
from duebook.domain.digests import DigestRecord
from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Attempt, Notification
from duebook.domain.receipt import Receipt
from duebook.domain.recovery import Evidence
from duebook.domain.story import Entry, IdentityRecord, Story
from duebook.domain.unread import CoverRecord
from tests.domain.builders import DAY, HOUR, MINUTE, NOW, SECOND, doubted, make


def attempt(number: int, outcome: Any, **more: Any) -> Attempt:
    begun = NOW - HOUR + number * MINUTE
    return Attempt(7, number, "mail", begun, begun + 2 * SECOND, "host:1:ab", outcome, **more)


def told(n: Notification, *attempts: Attempt, full: bool = False, **more: Any) -> str:
    identity = IdentityRecord(n.kind, n.key, n.id, n.recipient, n.state, n.due_at, n.created_at)
    more = {"resolutions": [None] * len(attempts), **more}
    return "\n".join(tell(Story(identity, n, attempts, **more), NOW, full=full))


def test_the_risk_of_two_copies_is_counted() -> None:
    said = told(doubted(doubt=2), attempt(1, "lost"), attempt(2, "uncertain", phase="reply", reason="timeout"))
    assert "its worker never reported" in said
    assert "in phase reply after 2.0 s" in said
    assert "Nobody knows whether attempts 1 and 2 reached ann." in said
    assert "ann may have up to 2 copies; none for certain." in said


def test_evidence_settles_it() -> None:
    late = Evidence(7, 1, NOW, "late_report", "accepted", "provider-9", "after a stall")
    n = make(State.ACCEPTED, basis="evidence", number=1)
    said = told(n, attempt(1, "lost"), evidence=[late], resolutions=["accepted"])
    assert "a worker's late report about attempt 1: accepted" in said
    assert "later evidence about it: accepted" in said
    assert "because later evidence says so" in said
    assert "What is at risk" not in said


def test_each_basis_says_what_it_is_worth() -> None:
    for basis, words in (("reported", "not yet delivered"), ("ruled", "a person ruled"), ("assumed", "policy assumes")):
        assert words in told(make(State.ACCEPTED, basis=basis, number=1), attempt(1, "accepted"))
    doubtful = told(make(State.ACCEPTED, basis="assumed", number=1, doubt=1), attempt(1, "uncertain"))
    assert "It may never have arrived." in doubtful


def test_a_withdrawn_one_on_the_wire() -> None:
    said = told(make(State.SENDING, cancel_request="read", lease_until=NOW - MINUTE))
    assert "attempt 1 over mail began and is on the wire" in said
    assert "its lease ended 1 min ago" in said
    assert "Its owner asked to cancel it when it was too late: read" in said
    assert "it ends cancelled" in said


def test_one_that_was_withdrawn_too_late_says_so_for_good() -> None:
    said = told(make(State.ACCEPTED, basis="reported", number=1, cancel_request="read"), attempt(1, "accepted"))
    assert "Its owner asked to cancel it when it was too late: read" in said
    assert "it ends cancelled" not in said
    assert "too late" not in told(make(State.CANCELLED, reason="read", cancel_request="read"))


def test_what_a_digest_became_of_is_told_with_what_it_held() -> None:
    held = DigestRecord("k", "ann", "2030-01-07", "2030-01-05", 3, NOW, 37, 20, 2, 7, "released", State.CANCELLED, "no")
    said = told(make(State.CANCELLED, reason="no"), digest=held)
    assert "Digest 2030-01-07: what was ready before 2030-01-07 12:00:00 UTC." in said
    assert "It held 20 of 37 items, 2 of them late for their own period; its items wait for the next one." in said
    assert "It stands for 3 periods; 2030-01-05 is the first of them." in said


def test_a_reminder_says_what_it_reminds_of_until_retention_took_that() -> None:
    group = unread.group("k", "room-7", "ann")
    reminder = make(kind="k", group=group, data=unread.data("room-7", "m-1", 4))
    assert "It reminds of message m-1 of room-7, at position 4." in told(reminder)
    assert "It reminds of" not in told(reminder._replace(data="{}"))
    spoken = CoverRecord("room-7", 3, 8, 5, 2, NOW)
    assert (
        "up to position 8, as of 2030-01-07 12:00:00 UTC: 5 messages unread, 2 of them in no reminder before."
        in told(reminder, cover=spoken)
    )


def test_one_that_waits_and_one_that_nobody_takes() -> None:
    assert "It waits until 2030-01-07 13:00:00 UTC, in 1 h." in told(make(wake_at=NOW + HOUR))
    assert "no worker has taken it" in told(make(wake_at=NOW - HOUR))
    assert "claimed by itself" in told(make(alone=True))
    assert "asks its handler" in told(make(State.CLAIMED))


def test_a_wanted_end_is_held_back_by_doubt() -> None:
    said = told(doubted(wanted=State.CANCELLED, reason="read"), attempt(1, "uncertain"))
    assert "It would be cancelled, were it not for that doubt" in said


def said_later(event: Any, number: int = 1, **more: Any) -> tuple[int, Receipt]:
    return number, Receipt("resend", f"e-{event}", event, NOW + HOUR, **more)


def test_what_a_provider_said_later_is_told_with_what_it_means() -> None:
    n = make(State.ACCEPTED, basis="reported", number=1)
    delivered = told(n, attempt(1, "accepted"), receipts=[said_later("delivered", detail="250 ok")])
    assert "resend says about attempt 1: it was delivered; delivered is not yet read\n    250 ok" in delivered
    assert "What is at risk" not in delivered
    gone = said_later("bounced", permanent=True, address="ann@example.org")
    bounced = told(n, attempt(1, "accepted"), receipts=[said_later("delayed"), gone])
    assert "it came back for good: the address takes no mail\n    it is about ann@example.org" in bounced
    assert "What is at risk\n  Attempt 1 did not arrive, says resend." in bounced


def test_a_look_up_is_told_with_what_it_is_worth() -> None:
    asked = Evidence(7, 1, NOW, "lookup", "unknown", None, "its worker never reported and may still send it")
    said = told(doubted(), attempt(1, "lost"), evidence=[asked])
    assert "a look-up about attempt 1: still unknown\n    its worker never reported and may still send it" in said


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("suppressed: it bounced for good", "duebook suppressions list --channel mail"),
        ("opted out of kind mail", "duebook people show ann"),
        ("she has read it", None),
    ],
)
def test_why_nothing_was_sent_says_where_to_look(reason: str, hint: str | None) -> None:
    said = told(make(State.SKIPPED, reason=reason))
    assert f"Closed as skipped: {reason}" in said
    assert hint in said if hint else "duebook" not in said


def test_one_that_was_put_off_says_why_it_waits() -> None:
    waits: dict[str, Any] = {"event": Event.DEFER, "wake_at": NOW + HOUR}
    quiet = told(make(reason="quiet hours", **waits))
    assert "Why: quiet hours\n  What they wish: duebook people show ann" in quiet
    enough = "2 messages under the limit 'a-day' within 1 day, 0:00:00 are enough"
    assert f"in 1 h.\n  Why: {enough}" in told(make(reason=enough, **waits))


def test_a_move_to_another_channel_is_not_called_a_delay() -> None:
    entry = Entry(3, NOW, "host:1:ab", "defer", "claimed", "scheduled", "moved to channel push: its recipient is there")
    said = told(make(channel="push"), history=[entry])
    assert "2030-01-07 12:00:00 UTC  moved to channel push: its recipient is there (by host:1:ab)" in said
    assert "put off" not in said


def test_what_was_refused_says_what_must_change() -> None:
    refused = make(State.REVIEW, event=Event.REJECT, number=1, reason="550")
    assert "As it is it would be refused again" in told(refused, attempt(1, "rejected"))
    assert "refused again" not in told(make(State.REVIEW, event=Event.EXHAUST, number=1, reason="451"))


def test_what_retention_took_is_said() -> None:
    closed = make(State.SKIPPED, reason="already read")
    assert "message and the application's data: retention discarded them" in told(closed, pruned=1)
    said = told(closed, pruned=2)
    assert "The steps are no longer on record." in said
    assert "retention discarded them too" in said


def test_what_is_left_of_an_identity() -> None:
    gone = IdentityRecord("mail", "a", 7, "ann", State.ACCEPTED, NOW, NOW - DAY, NOW + MINUTE, None, "provider-9")
    said = "\n".join(tell(Story(gone, None, pruned=3), NOW))
    assert "mail/a to ann: accepted" in said
    assert "Closed as accepted at 2030-01-07 12:01:00 UTC." in said
    assert "provider-9" in said
    assert "nothing is ever sent twice under this key" in said


def test_a_traceback_shows_its_last_line_and_whole_on_request() -> None:
    trace = "Traceback (most recent call last):\n  File 'x'\nKeyError: 'plan'"
    entry = Entry(3, NOW, "host:1:ab", "defer", "claimed", "scheduled", trace)
    n = make(message='{"type": "email", "to": "ann@example.org"}')
    short, full = told(n, history=[entry]), told(n, history=[entry], full=True)
    assert "put off: KeyError: 'plan' (by host:1:ab)" in short
    assert "File 'x'" not in short
    assert "File 'x'" in full
    assert '"to": "ann@example.org"' in full


def test_words_for_lengths_of_time() -> None:
    said = [span(length) for length in (0.012 * SECOND, 1.44 * SECOND, 61 * SECOND, 3 * HOUR, 2 * DAY + 5 * HOUR)]
    assert said == ["12 ms", "1.4 s", "1 min 1 s", "3 h", "2 d 5 h"]
    assert ahead(NOW + 3 * HOUR, NOW) == "in 3 h"
    assert first_line("\n a line \n another") == "a line"


def test_other_peoples_words_cannot_steer_a_terminal() -> None:
    assert printable("a\x1b[31mb\x9b") == "a\N{REPLACEMENT CHARACTER}[31mb\N{REPLACEMENT CHARACTER}"
    assert aligned(Table(["a", "b"], [["x\ny", "z"]])) == ["a    b", "x y  z"]
    assert plain({"at": NOW, "wait": MINUTE, "state": State.REVIEW}) == {
        "at": "2030-01-07T12:00:00Z",
        "wait": 60.0,
        "state": "review",
    }
