"""What waits for a person, from the command line."""

import pytest

from .support import deliver, duebook


def test_each_says_which_attempt_how_far_it_got_and_what_is_at_risk(either_url: str) -> None:
    for key in ("sent-1", "lost-1", "refused-1"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(either_url, 3)
    lost, refused = duebook("review", "--json").json["waiting"]
    assert (lost["key"], lost["attempt"]["number"], lost["attempt"]["phase"]) == ("lost-1", 1, "unknown")
    assert "the line went dead" in lost["attempt"]["reason"]
    assert lost["at_risk"] == "a second copy if it is sent again, nobody told if it is not"
    assert (refused["key"], refused["attempt"]["outcome"]) == ("refused-1", "rejected")
    assert refused["at_risk"] == "it was not sent; as it is, nobody is told"
    said = duebook("review").out
    assert "ConnectionError: the line went dead" in said
    assert "550 no such mailbox" in said
    assert "2 wait for a person: duebook review" in duebook("status").out


@pytest.mark.usefixtures("url")
def test_a_limit_says_that_there_are_more(url: str) -> None:
    for key in ("lost-1", "lost-2"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(url, 2)
    assert duebook("review", "--limit", "1", "--json").json["more"] is True
    assert "There are more (--limit)." in duebook("review", "--limit", "1").out
    assert duebook("review", "--channel", "push").out == "Nothing waits for a person.\n"
