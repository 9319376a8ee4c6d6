"""After a restore: everything is paused, status says why, and resuming says what goes out."""

import shutil
from pathlib import Path

import pytest

from .support import duebook, register


@pytest.fixture
def restored(url: str, tmp_path: Path) -> str:
    """A file that was put back after a worker has looked at a later one, and a worker that has noticed."""
    duebook("schedule", "renewal", "old", "--recipient", "ann", "--at", "2026-01-14T09:00Z")
    shutil.copy(tmp_path / "book.db", tmp_path / "backup.db")
    register(url)
    (tmp_path / "backup.db").replace(tmp_path / "book.db")
    register(url)
    return url


def test_status_says_that_everything_is_paused_and_why(restored: str) -> None:
    told = duebook("status").out
    assert "In force: everything is paused since" in told
    assert "by duebook: this database was restored from a backup, or another server took over" in told
    assert "then: duebook resume" in told
    assert duebook("find", "renewal", "old", "--json").json["notifications"][0]["state"] == "scheduled"


def test_resuming_says_how_much_is_overdue(restored: str) -> None:
    told = duebook("resume").out
    assert "Resumed everything.\nNothing is held.\nOverdue: 1, the oldest was promised " in told
    duebook("pause")
    document = duebook("resume", "--json").json
    assert (document["overdue"], document["oldest_due_at"]) == (1, "2026-01-14T09:00:00Z")


def test_resuming_says_that_nothing_is_overdue(url: str) -> None:
    duebook("pause")
    assert duebook("resume").out.endswith("Nothing is overdue.\n")
    duebook("pause", "--channel", "email")
    assert "overdue" not in duebook("resume", "--channel", "email").out
