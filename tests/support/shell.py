"""What a person at psql or at the sqlite3 shell can do: any statement, at once, without duebook's code."""

import re
import sqlite3
from collections.abc import Sequence
from typing import Any, Literal

import psycopg

Dialect = Literal["sqlite", "postgres"]

_TABLE = re.compile(r"@(\w+)")


class Refused(Exception):
    """The database would not do it; the text is its own."""


class Shell:
    """`@notifications` in a statement stands for the table in the dialect's own naming."""

    def __init__(self, dialect: Dialect, connection: Any) -> None:
        self.dialect = dialect
        self.connection = connection

    def run(self, sql: str) -> Sequence[Sequence[Any]]:
        try:
            cursor = self.connection.execute(self.named(sql))
            return cursor.fetchall() if cursor.description else []
        except (sqlite3.IntegrityError, psycopg.IntegrityError) as error:
            raise Refused(str(error)) from error

    def complaint(self, sql: str) -> str:
        """Why the database refuses a statement; empty if it does not."""
        try:
            self.run(sql)
        except Refused as error:
            return str(error)
        return ""

    def value(self, sql: str) -> Any:
        return self.run(sql)[0][0]

    def named(self, sql: str) -> str:
        return _TABLE.sub(r"duebook.\1" if self.dialect == "postgres" else r"duebook_\1", sql)

    def close(self) -> None:
        self.connection.close()


def psql(url: str) -> Shell:
    return Shell("postgres", psycopg.connect(url, autocommit=True, prepare_threshold=None))


def sqlite_shell(path: str) -> Shell:
    return Shell("sqlite", sqlite3.connect(path, isolation_level=None, timeout=0.2, check_same_thread=False))
