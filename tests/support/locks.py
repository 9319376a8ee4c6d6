"""Waiting until somebody waits: PostgreSQL tells nobody when a lock is asked for, so it has to be asked."""

import asyncio
from typing import Any

TURNS = 5_000


async def somebody_waits_for(holder: Any) -> None:
    """Return once another backend is blocked by this connection's open transaction."""
    sql = "select count(*) from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))"
    for _ in range(TURNS):
        if await holder.fetchval(sql):
            return
        await asyncio.sleep(0)
    raise AssertionError("nobody waits")
