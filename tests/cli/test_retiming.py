"""Newer zone rules: a promise that older ones put at another instant keeps its wall time."""

import pytest

from duebook.cli.doctor import restores
from tests.support.shell import Shell

from .support import duebook

OLD = "'2040-01-14T15:00:00.000000Z'"


@pytest.fixture
def stale(shell: Shell) -> None:
    """Three promises made under older rules, of which one is due at another instant by those of today."""
    for key in ("moves", "stays"):
        at = ("--at", "2040-01-14 09:00", "--zone", "America/New_York")
        duebook("schedule", "renewal", key, "--recipient", "ann", *at)
    duebook("schedule", "renewal", "instant", "--recipient", "ann", "--at", "2040-01-14T14:00Z")
    shell.run("update @notifications set tzdata = '2019a' where zone is not null")
    shell.run(f"update @notifications set due_at = {OLD}, wake_at = {OLD} where key = 'moves'")


@pytest.mark.usefixtures("stale")
def test_what_was_promised_for_nine_stays_at_nine() -> None:
    foreseen = duebook("retime", "--dry-run", "--json").json
    assert (foreseen["dry_run"], foreseen["looked_at"]) == (True, 2)
    moved = {
        "kind": "renewal", "key": "moves", "wall": "2040-01-14T09:00:00", "zone": "America/New_York",
        "before": "2040-01-14T15:00:00Z", "after": "2040-01-14T14:00:00Z",
    }  # fmt: skip
    assert foreseen["notifications"] == [moved]
    assert "1 notification and 0 schedules would move." in duebook("retime", "--dry-run").out

    told = duebook("retime").out
    assert "2040-01-14 15:00:00 UTC  2040-01-14 14:00:00 UTC" in told
    assert "1 notification and 0 schedules moved." in told
    found = duebook("find", "renewal", "moves", "--json").json["notifications"][0]
    assert (found["due_at"], found["wake_at"]) == ("2040-01-14T14:00:00Z", "2040-01-14T14:00:00Z")
    assert "given another time: zone rules" in duebook("explain", "renewal", "moves").out

    again = duebook("retime", "--json").json
    assert (again["looked_at"], again["notifications"], again["schedules"]) == (0, [], [])
    assert duebook("audit").code == 0


def test_a_schedule_is_due_at_its_wall_time_again(shell: Shell) -> None:
    cron = ("--cron", "0 9 14 1 *", "--zone", "America/New_York")
    duebook("schedules", "set", "yearly", "--kind", "renewal", "--recipient", "ann", *cron)
    due = duebook("schedules", "show", "yearly", "--json").json["schedule"]["next_at"]
    wrong = due.replace("T14:", "T15:")
    shell.run(f"update @schedules set next_at = '{wrong}'")
    (moved,) = duebook("retime", "--json").json["schedules"]
    assert moved == {"name": "yearly", "before": wrong, "after": due}
    assert "Nothing moves." in duebook("retime").out


@pytest.mark.usefixtures("stale")
def test_the_doctor_says_how_many_were_made_under_other_rules() -> None:
    told = duebook("doctor").out
    assert "advice   promises: 2 pending wall times were resolved by others" in told
    assert "Run: duebook retime --dry-run" in told
    duebook("retime")
    assert "good     promises: every pending wall time was resolved by these rules" in duebook("doctor").out


@pytest.mark.usefixtures("either_url")
def test_the_doctor_says_whether_a_restored_copy_is_noticed() -> None:
    assert "good     restores: another database in its place is noticed" in duebook("doctor").out
    assert restores(False).level == "advice"
