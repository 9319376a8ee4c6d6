"""Real workers, killed, stopped and cut off while real receivers take what they send; and their database restarted."""

import asyncio
import signal

from duebook import State
from tests import postgres
from tests.kill.disruptions import cut_connections, stop_outside_of_a_transaction
from tests.kill.served import CONCURRENCY
from tests.kill.stage import at_rest, stage, without_doubt

COUNT = 120
BEFORE = 40
SHORT_LEASE_SECONDS = 0.9
LONG_LEASE_SECONDS = 3.0
"""Where only an outage is meant, not the death of a worker."""


async def test_a_worker_is_killed_with_sends_on_the_wire(url: str) -> None:
    """Half of them were accepted. The provider that knows keys gets them all again, and nobody gets a mail twice."""
    async with stage(url, COUNT, lease_seconds=SHORT_LEASE_SECONDS) as run:
        await run.receivers.ask("hang", CONCURRENCY, BEFORE)
        async with run.worker() as first:
            await run.receivers.ask("troubled")
            await first.kill()
        assert sum(n.state is State.ACCEPTED for n in await run.ledger("hook")) < COUNT
        async with run.worker() as second:
            await second.until(at_rest)
        await run.judged(disruptions=1)


async def test_a_worker_stands_still_past_its_lease_and_goes_on(url: str) -> None:
    """Others take over what it held, and what it learns when it wakes up is evidence: nothing stays uncertain."""
    async with stage(url, COUNT, lease_seconds=SHORT_LEASE_SECONDS) as run:
        await run.receivers.ask("hold", CONCURRENCY, BEFORE)
        async with run.worker() as first:
            await run.receivers.ask("troubled")
            await stop_outside_of_a_transaction(first, url)
            async with run.worker() as second:
                await second.until(at_rest)
                assert second.left["uncertain"] == CONCURRENCY
                await run.receivers.ask("release")
                first.signal(signal.SIGCONT)
                await second.until(without_doubt)
        await run.judged(disruptions=0)


async def test_postgres_is_restarted_while_answers_are_on_their_way(
    restartable_url: str, server: postgres.OwnServer
) -> None:
    async with stage(restartable_url, COUNT, lease_seconds=LONG_LEASE_SECONDS) as run:
        await run.receivers.ask("hold", CONCURRENCY, BEFORE)
        async with run.worker() as worker:
            await run.receivers.ask("troubled")
            restarting = asyncio.create_task(asyncio.to_thread(server.restart))
            await run.receivers.ask("release")
            await restarting
            await worker.until(at_rest)
        await run.judged(disruptions=0)


async def test_every_connection_to_postgres_is_cut_while_answers_are_written_down(fresh_postgres_url: str) -> None:
    async with stage(fresh_postgres_url, COUNT, lease_seconds=LONG_LEASE_SECONDS) as run:
        async with run.worker() as worker:
            for _ in range(3):
                await run.receivers.ask("hold", CONCURRENCY, 4)
                await run.receivers.ask("troubled")
                await run.receivers.ask("release")
                assert cut_connections(fresh_postgres_url)
            await worker.until(at_rest)
        await run.judged(disruptions=0)
