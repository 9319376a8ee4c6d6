"""What is done to workers and their database."""

import asyncio
import signal
import sqlite3
from contextlib import closing, suppress

import psycopg

from duebook.engine.rescuer import Rescuer
from tests.kill.stage import Stage, Worker

OTHERS = "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


async def stop_outside_of_a_transaction(worker: Worker, url: str) -> None:
    """SIGSTOP a worker. Stopped inside a transaction on an SQLite file it would hold up everybody else."""
    worker.signal(signal.SIGSTOP)
    while url.startswith("sqlite") and _is_locked(url.removeprefix("sqlite:///")):
        worker.signal(signal.SIGCONT)
        await asyncio.sleep(0)
        worker.signal(signal.SIGSTOP)


async def stand_still_past_the_lease(run: Stage, worker: Worker) -> None:
    """Stop a worker, let another work alone until the rescuer has looked at its leases, and let it go on."""
    await stop_outside_of_a_transaction(worker, run.url)
    async with run.worker() as other:
        with suppress(TimeoutError):
            await asyncio.wait_for(other.process.wait(), run.lease_seconds * 4 / 3 + Rescuer.pace_seconds + 1)
    worker.signal(signal.SIGCONT)


def cut_connections(url: str) -> int:
    """End every connection to a PostgreSQL database but our own, as its server would; answers how many there were."""
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(f"select pg_terminate_backend(pid) from ({OTHERS}) as others").fetchall()
    return len(found)


def _is_locked(path: str) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("begin exclusive")
        except sqlite3.OperationalError:
            return True
        connection.execute("rollback")
        return False
