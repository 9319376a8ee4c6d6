"""The command: its exit code, what it prints, and the function for programs."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from duebook import Duebook
from duebook.cli.auditing import violations
from duebook.engine.auditor import SWEEPS
from duebook.errors import StoreUnavailable
from tests.cli.support import deliver, duebook, register


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = tmp_path / "book.db"
    monkeypatch.setenv("DUEBOOK_URL", f"sqlite:///{found}")
    monkeypatch.delenv("DUEBOOK_APP", raising=False)
    assert duebook("migrate").code == 0
    register(f"sqlite:///{found}")
    return found


@pytest.fixture
def broken(path: Path) -> Path:
    """Three whose identity is gone, and one that is accepted for no reason."""
    for key in ("lost-1", "refused-1", "sent-1", "sent-2", "sent-3"):
        duebook("schedule", "renewal", key, "--recipient", "ann", "--after", "0s")
    deliver(f"sqlite:///{path}", 5)
    assert duebook("audit").code == 0
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from duebook_identities where key like 'sent%'")
        connection.execute("update duebook_attempts set outcome = 'rejected' where notification_id = 3")
        connection.commit()
    return path


@pytest.mark.usefixtures("path")
def test_an_empty_database_is_clean() -> None:
    found = duebook("audit")
    assert (found.code, found.out) == (0, "Read nothing, as there is nothing. Everything holds.\n")


@pytest.mark.usefixtures("broken")
def test_each_violation_is_printed_with_its_rows() -> None:
    found = duebook("audit", "--examples", "2")
    assert found.code == 1
    assert "identity_points_back: 3 violations\n" in found.out
    assert "  renewal/sent-1: it has no identity, so its name could be used again\n" in found.out
    assert "  … and 1 more\n" in found.out
    assert "outcome_fits_the_state: 1 violation\n" in found.out
    assert "state=accepted event=accept version=4" in found.out
    assert "attempts=[1 rejected]" in found.out
    assert found.out.endswith("Read 5 of notifications, 2 of identities, 5 of ledger. 4 violations in all.\n")


@pytest.mark.usefixtures("broken")
def test_json_has_counts_and_examples() -> None:
    found = duebook("audit", "--examples", "1", "--json")
    assert found.code == 1
    assert found.json["ok"] is False
    assert found.json["violations"] == {"identity_points_back": 3, "outcome_fits_the_state": 1}
    assert found.json["read"] == {"notifications": 5, "identities": 2, "ledger": 5}
    first = found.json["examples"][0]
    assert (first["check"], first["subject"]) == ("identity_points_back", "renewal/sent-1")
    assert first["row"]["attempts"] == [{"number": 1, "outcome": "rejected", "resolution": None}]


def test_what_waits_with_a_reason_is_told_and_no_violation(path: Path) -> None:
    duebook("schedule", "renewal", "old", "--recipient", "ann", "--at", "2026-01-01T00:00Z")
    duebook("pause", "--reason", "moving")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("update duebook_notifications set wake_at = due_at")
        connection.commit()
    found = duebook("audit")
    assert found.code == 0
    assert "Overdue and explained: 1, everything is paused since" in found.out
    duebook("resume")
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("delete from duebook_controls")
        connection.commit()
    assert duebook("audit").code == 1
    assert duebook("audit", "--overdue", "1000d").code == 0
    assert duebook("audit", "--overdue", "soon").code == 2


def test_a_program_asks_for_the_violations_of_a_url(broken: Path) -> None:
    found = asyncio.run(violations(f"sqlite:///{broken}"))
    assert [violation.check for violation in found] == ["identity_points_back"] * 3 + ["outcome_fits_the_state"]
    with pytest.raises(StoreUnavailable):
        asyncio.run(violations(f"sqlite:///{broken}.not-there"))


def test_a_program_asks_postgres_too(postgres_url: str) -> None:
    async def go() -> list[object]:
        book = Duebook(postgres_url)
        await book.migrate()
        await book.close()
        return list(await violations(postgres_url))

    assert asyncio.run(go()) == []


def test_the_page_names_every_check() -> None:
    page = (Path(__file__).parents[2] / "docs/operate/audit.md").read_text(encoding="utf-8")
    assert not [check.__name__ for sweep in SWEEPS for check in sweep.checks if f"| `{check.__name__}` |" not in page]
