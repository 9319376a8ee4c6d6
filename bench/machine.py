"""The facts about a machine that numbers mean nothing without."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import version
from pathlib import Path

import psycopg

from duebook.stores.sqlite.database import wal_is_safe

SETTINGS = ("fsync", "synchronous_commit", "full_page_writes", "shared_buffers", "max_wal_size", "autovacuum")


def facts(server: str, origin: str) -> dict[str, str]:
    """Return what is worth knowing, by name."""
    journal = "WAL" if wal_is_safe(sqlite3.sqlite_version_info) else "rollback journal, truncated"
    packages = ("duebook", "asyncpg", "pgqueuer", "procrastinate", "uvloop")
    return {
        "processor": f"{os.cpu_count()} cores of {_processor()}",
        "load before": " ".join(f"{load:.2f}" for load in os.getloadavg()),
        "Python": f"{platform.python_version()} on {platform.system()} {platform.release()}",
        "SQLite": f"{sqlite3.sqlite_version}, {journal}, synchronous = full",
        "PostgreSQL": f"{_postgres(server)}, {origin}",
        "packages": ", ".join(f"{name} {version(name)}" for name in packages),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _postgres(server: str) -> str:
    with psycopg.connect(server) as connection:
        row = connection.execute("select split_part(current_setting('server_version'), ' ', 1)").fetchone()
        settings: dict[str, str] = dict(
            connection.execute(
                "select name, current_setting(name) from pg_settings where name = any (%s)", [list(SETTINGS)]
            ).fetchall()
        )
    (number,) = row or ("?",)
    return ", ".join([number, *(f"{name} {settings[name]}" for name in SETTINGS)])
