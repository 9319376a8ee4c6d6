"""Where a test's book is kept: an SQLite file, or a PostgreSQL database of this worker process."""

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from tests.support.fixtures import TABLES


@dataclass(frozen=True)
class Place:
    """`ask` runs SQL on a connection of its own; @ before a table stands for the dialect's prefix."""

    dialect: str
    url: str
    ask: Callable[[str], Sequence[Sequence[Any]]]

    def count(self, table: str = "notifications") -> int:
        return int(self.ask(f"select count(*) from @{table}")[0][0])

    def everything(self) -> str:
        """Every row of every table, as text."""
        return "\n".join(f"{table} {row!r}" for table in TABLES for row in self.ask(f"select * from @{table}"))


def sqlite_place(path: Path) -> Place:
    def ask(sql: str) -> Sequence[Sequence[Any]]:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            return connection.execute(sql.replace("@", "duebook_")).fetchall()

    return Place("sqlite", f"sqlite:///{path}", ask)


def postgres_place(url: str, connection: psycopg.Connection) -> Place:
    def ask(sql: str) -> Sequence[Sequence[Any]]:
        cursor = connection.execute(sql.replace("@", "duebook.").encode())
        return cursor.fetchall() if cursor.description else []

    return Place("postgres", url, ask)
