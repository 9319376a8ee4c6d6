"""Moving in: what another program has sent is on record as sent, and nobody is told twice."""

from pathlib import Path

import pytest

from .support import deliver, duebook

SENT = "key,recipient,at\nk1,ann,2026-01-14T09:00Z\nk2,ben,2026-02-14T09:00Z\nk2,ben,2026-02-14T09:00Z\n"
IMPORT = ("import", "sent.csv", "--kind", "renewal", "--already-sent")


@pytest.fixture(autouse=True)
def _file(tmp_path: Path) -> None:
    (tmp_path / "sent.csv").write_text(SENT)


def test_what_was_sent_before_is_closed_and_never_sent(either_url: str) -> None:
    assert duebook(*IMPORT, "--dry-run").out == "Would put on record as sent: 2; 1 existed already.\n"
    assert duebook("find").out == "None found.\n"

    first = duebook(*IMPORT)
    assert (first.code, first.out, first.err) == (0, "Put on record as sent: 2; 1 existed already.\n", "")
    assert duebook(*IMPORT).out == "Put on record as sent: 0; 3 existed already.\n"
    deliver(either_url, 0)
    found = duebook("find", "renewal", "k1", "--json").json["notifications"][0]
    assert (found["state"], found["basis"], found["number"]) == ("accepted", "ruled", 0)
    assert found["reason"] == "sent before duebook took over (import)"

    again = duebook("schedule", "renewal", "k1", "--recipient", "ann", "--after", "1h")
    assert "exists already: it is accepted" in again.out
    assert duebook("audit").code == 0


@pytest.mark.usefixtures("url")
def test_its_story_says_on_whose_word() -> None:
    duebook(*IMPORT)
    told = duebook("explain", "renewal", "k1").out
    assert "settled as accepted: sent before duebook took over (import) (by cli:" in told
    assert "It counts as accepted because a person ruled so. Nothing else proves it." in told
    assert "What is at risk" not in told


@pytest.mark.usefixtures("url")
def test_one_that_waits_here_is_left_and_told() -> None:
    duebook("schedule", "renewal", "k1", "--recipient", "ann", "--after", "1h")
    assert duebook(*IMPORT, "--dry-run", "--json").json["open"] == 1
    answer = duebook(*IMPORT)
    assert "Put on record as sent: 1; 2 existed already." in answer.out
    assert "1 of those that existed are open and will be sent; cancel what should not be." in answer.out
    assert duebook("find", "renewal", "k1", "--json").json["notifications"][0]["state"] == "scheduled"
    assert duebook(*IMPORT, "--json").json["open"] == 1


@pytest.mark.usefixtures("url")
def test_strict_and_bad_rows_are_as_in_any_import(tmp_path: Path) -> None:
    (tmp_path / "sent.csv").write_text(SENT + ",ann,2026-01-14T09:00Z\n")
    assert duebook(*IMPORT, "--strict").code == 2
    assert duebook("find").out == "None found.\n"
    answer = duebook(*IMPORT)
    assert (answer.code, "line 5: key: is empty" in answer.out) == (1, True)
    assert "has no meaning with --already-sent" in duebook(*IMPORT, "--if-exists", "reschedule").err
