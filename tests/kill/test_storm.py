"""Workers that are killed again and again while they send: `make kill`.

Every tenth one stood still past its lease before, while another went on. On PostgreSQL every fifth one also had its
connections cut, and every twentieth its server restarted. Now and then a receiver takes a message and says nothing.
"""

import asyncio
import os
from time import monotonic

import pytest

from tests import postgres
from tests.kill.disruptions import cut_connections, stand_still_past_the_lease
from tests.kill.stage import Stage, Worker, at_rest, stage

KILLS = int(os.environ.get("DUEBOOK_KILLS", "5"))
COUNT = int(os.environ.get("DUEBOOK_KILL_COUNT", "1500"))
BETWEEN = COUNT // (2 * KILLS)
"""How many each channel sends before the next kill; as many again are for those that go on while one stands still."""
LEASE_SECONDS = 2.0
ANSWER_SECONDS = 0.15
SILENT_EVERY = 97
REPORTED = max(1, KILLS // 10)

pytestmark = pytest.mark.timeout(120 + 20 * KILLS)


async def test_sqlite_in_a_storm(sqlite_url: str) -> None:
    await storm(sqlite_url)


async def test_postgres_in_a_storm(restartable_url: str, server: postgres.OwnServer) -> None:
    await storm(restartable_url, server)


async def storm(url: str, server: postgres.OwnServer | None = None) -> None:
    began = monotonic()
    async with stage(
        url, COUNT, lease_seconds=LEASE_SECONDS, answer_seconds=ANSWER_SECONDS, silent_every=SILENT_EVERY
    ) as run:
        for number in range(KILLS):
            async with run.worker() as victim:
                await run.receivers.ask("more", BETWEEN)
                await disrupted(run, victim, number, server)
                await victim.kill()
            if number % REPORTED == REPORTED - 1:
                print(f"{number + 1} of {KILLS} kills after {monotonic() - began:.0f} s", flush=True)
        async with run.worker() as last:
            await last.until(at_rest)
        # One that stood still may have lost what it had on the wire, begun as much again, and lost that by its death.
        told = await run.judged(disruptions=KILLS + stood_still(KILLS))
        print(f"{KILLS} kills, {monotonic() - began:.0f} s; {told}", flush=True)


async def disrupted(run: Stage, victim: Worker, number: int, server: postgres.OwnServer | None) -> None:
    """Do to a worker what its number asks for, before it is killed."""
    if stands_still(number):
        await stand_still_past_the_lease(run, victim)
    if server is not None and number % 5 == 2:
        assert cut_connections(run.url)
    if server is not None and number % 20 == 10:
        await asyncio.to_thread(server.restart)


def stands_still(number: int) -> bool:
    return number % 10 == 4


def stood_still(kills: int) -> int:
    return sum(map(stands_still, range(kills)))
