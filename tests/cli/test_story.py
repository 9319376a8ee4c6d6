"""A whole story through the command alone, on both databases."""

from .support import deliver, duebook


def test_from_a_promise_to_the_reason_why(either_url: str) -> None:
    due = ("--recipient", "ann", "--after", "0s")
    assert duebook("schedule", "renewal", "sent-1", *due, "--data", '{"plan": "team"}').code == 0
    assert duebook("schedule", "renewal", "lost-1", *due).code == 0
    assert duebook("schedule", "renewal", "refused-1", *due).code == 0
    deliver(either_url, 3)

    sent = duebook("explain", "renewal", "sent-1")
    assert sent.code == 0
    assert "renewal/sent-1 to ann: accepted" in sent.out
    assert "attempt 1 over email: the provider accepted it" in sent.out
    assert "the provider calls it provider-sent-1" in sent.out
    assert "Accepted is not yet delivered" in sent.out

    lost = duebook("explain", "renewal", "lost-1").out
    assert "nobody knows whether it was accepted in phase unknown" in lost
    assert "ConnectionError: the line went dead" in lost
    assert "a second copy arrives" in lost

    refused = duebook("explain", "renewal", "refused-1").out
    assert "550 no such mailbox" in refused
    assert "In review since" in refused

    ruled = duebook("resolve", "renewal", "lost-1", "--as", "sent", "--reason", "seen in the log")
    assert (ruled.code, ruled.out) == (0, "renewal/lost-1: closed as accepted, on your word.\n")
    assert "ruled by a person: it was sent: seen in the log (by cli:" in duebook("explain", "renewal", "lost-1").out

    assert duebook("redrive", "renewal", "refused-1", "--reason", "mailbox made", "--force").code == 0
    deliver(either_url, 1)
    assert "attempt 2 over email: the provider refused it" in duebook("explain", "renewal", "refused-1").out
    assert duebook("drop", "renewal", "refused-1", "--reason", "she left").code == 0

    everything = duebook("explain", "--recipient", "ann")
    assert "3 stories, newest first." in everything.out
    assert duebook("explain", "--address", "ANN@example.com", "--json").json["more"] is False

    assert duebook("prune", "--older-than", "0s").code == 0
    gone = duebook("explain", "renewal", "sent-1")
    assert "retention discarded them" in gone.out
    assert "Closed as accepted" in gone.out
    assert "provider-sent-1" in gone.out
    again = duebook("schedule", "renewal", "sent-1", *due)
    assert "exists already: it is accepted" in again.out


def test_owners_change_their_minds(either_url: str) -> None:
    at = ("--at", "2030-03-10 02:30", "--zone", "America/New_York")
    made = duebook("schedule", "renewal", "k", "--recipient", "ben", "--group", "g", *at, "--json").json
    assert (made["created"], made["due_at"]) == (True, "2030-03-10T07:30:00Z")

    told = duebook("explain", "renewal", "k").out
    assert "Sunday 2030-03-10 02:30:00 in America/New_York, which is 2030-03-10 07:30:00 UTC." in told
    assert "happen twice: compatible." in told

    assert duebook("reschedule", "renewal", "k", "--at", "2030-04-01T09:00+02:00").code == 0
    assert duebook("find", "renewal", "k", "--json").json["notifications"][0]["due_at"] == "2030-04-01T07:00:00Z"
    assert "Cancelled 1 notification of group g." in duebook("cancel-group", "g", "--reason", "read").out

    late = duebook("cancel", "renewal", "k")
    assert late.code == 1
    assert late.out == "renewal/k is closed already, as cancelled. Reason: read\n"
    assert duebook("schedule", "renewal", "k", "--recipient", "ben", *at, "--if-exists", "rearm").code == 0
    assert duebook("send-now", "renewal", "k").code == 0
    assert duebook("forget", "ben").out == "Forgotten: 1 notification. What was pending is cancelled.\n"
    forgotten = duebook("explain", "renewal", "k").out
    assert "ben" not in forgotten
    assert "forgotten on request" in forgotten


def test_rulings_in_bulk_show_first_what_they_would_do(url: str) -> None:
    for number in range(3):
        duebook("schedule", "renewal", f"lost-{number}", "--recipient", "ann", "--after", "0s")
    deliver(url, 3)
    bulk = ("resolve", "--all-uncertain", "--kind", "renewal", "--channel", "email", "--as", "drop", "--reason", "old")
    dry = duebook(*bulk)
    assert (dry.code, "3 notifications are uncertain" in dry.out, "add --yes" in dry.out) == (0, True, True)
    assert duebook("find", "--state", "uncertain", "--json").json["notifications"].__len__() == 3
    assert "Ruled on 3 notifications: dropped." in duebook(*bulk, "--yes").out
    assert duebook("find", "--state", "uncertain").out == "None found.\n"


def test_a_dry_run_of_a_ruling_changes_nothing(url: str) -> None:
    duebook("schedule", "renewal", "lost", "--recipient", "ann", "--after", "0s")
    duebook("schedule", "renewal", "later", "--recipient", "ann", "--after", "1d")
    deliver(url, 1)
    ruling = ("--as", "resend", "--reason", "she asked", "--dry-run")
    assert "a second copy arrives" in duebook("resolve", "renewal", "lost", *ruling).out
    refused = duebook("resolve", "renewal", "later", *ruling)
    assert (refused.code, refused.out) == (1, "renewal/later is not uncertain; it is scheduled.\n")
    assert duebook("find", "renewal", "lost", "--json").json["notifications"][0]["state"] == "uncertain"


def test_filters_meet_and_pages_go_on(url: str) -> None:
    for number in range(4):
        tenant = ("--tenant", "blue") if number % 2 else ()
        duebook("schedule", "renewal", f"k{number}", "--recipient", "ann", "--after", "1d", *tenant)
    duebook("cancel", "renewal", "k1")
    found = duebook("find", "--recipient", "ann", "--tenant", "blue", "--state", "scheduled", "--json").json
    assert [n["key"] for n in found["notifications"]] == ["k3"]
    found = duebook("find", "--limit", "2", "--json").json
    assert ([n["key"] for n in found["notifications"]], found["more"]) == (["k3", "k2"], True)


def test_what_was_refused_goes_out_again_once_something_is_new(either_url: str, app: str) -> None:
    for key in ("refused-1", "refused-2"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(either_url, 2)
    stays = duebook("redrive", "renewal", "refused-1", "--reason", "again")
    assert stays.code == 1
    assert stays.out.startswith("renewal/refused-1 stays review. Reason: it was refused as it is: 550 no such mailbox;")
    data = ("--reason", "another account", "--data", '{"account": 7}')
    assert duebook("redrive", "renewal", "refused-1", *data, "--json").failure["field"] == "app"
    assert duebook("redrive", "renewal", "refused-1", *data, "--app", app).code == 0
    found = duebook("find", "renewal", "refused-1", "--json").json["notifications"][0]
    assert (found["state"], found["data"]) == ("scheduled", {"account": 7})
    assert duebook("people", "set", "ann", "--address", "email=ann@example.org").code == 0
    assert duebook("redrive", "renewal", "refused-2", "--reason", "another address").code == 0


def test_what_its_owner_withdrew_is_not_sent_again(either_url: str) -> None:
    duebook("schedule", "renewal", "lost-1", "--recipient", "ann", "--after", "0s")
    deliver(either_url, 1)
    duebook("cancel", "renewal", "lost-1", "--reason", "she has read it")
    answer = duebook("resolve", "renewal", "lost-1", "--as", "resend", "--reason", "try again")
    assert answer.code == 1
    assert answer.out == "renewal/lost-1 stays uncertain. Reason: its owner has withdrawn it: she has read it\n"
