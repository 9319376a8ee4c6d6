"""The tables of duebook, read as anybody can read them: with SQL."""

from __future__ import annotations

import sqlite3
from collections import Counter
from datetime import datetime
from pathlib import Path

_NEXT = """select min(at) from (
    select min(wake_at) as at from duebook_notifications
    union all select min(next_close_at) from duebook_digest_cursors)"""


class Ledger:
    def __init__(self, file: Path) -> None:
        # Not read-only: a worker that was killed may leave a journal, and whoever opens the file next rolls it back.
        self._connection = sqlite3.connect(file, isolation_level=None)

    def counts(self) -> Counter[str]:
        """Return how many notifications are in each state."""
        rows = self._connection.execute("select state, count(*) from duebook_notifications group by state")
        return Counter(dict(rows.fetchall()))

    def next_wake(self) -> datetime | None:
        """Return when the next notification is due, or the next period of a digest ends."""
        row = self._connection.execute(_NEXT).fetchone()
        return datetime.fromisoformat(row[0]) if row[0] else None

    def close(self) -> None:
        self._connection.close()
