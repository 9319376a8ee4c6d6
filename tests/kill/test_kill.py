"""Real worker processes, killed under load, judged by what the provider recorded and what the ledger says."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from duebook import Duebook, New, State
from tests.kill.provider import Provider
from tests.kill.served import CONCURRENCY, book

COUNT = 300
HERE = Path(__file__).parent


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/kill.db"
    return str(request.getfixturevalue("postgres_url"))


@asynccontextmanager
async def worker(url: str, port: int, mode: str) -> AsyncIterator[asyncio.subprocess.Process]:
    env = {**os.environ, "PYTHONPATH": f"{HERE.parents[1] / 'src'}"}
    process = await asyncio.create_subprocess_exec(
        sys.executable, HERE / "served.py", url, str(port), mode, env=env, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), 20)


async def promised(url: str, port: int, keyed: bool, count: int = COUNT) -> Duebook:
    made = book(url, port, keyed)
    await made.migrate()
    for earlier in await made.search(limit=100_000):
        await made.forget(earlier.recipient)
    news = [New(kind="reminder", key=f"{keyed}/{n}", recipient=f"r{n}", after=timedelta(0)) for n in range(count)]
    await made.schedule_many(news)
    return made


async def killed_on_the_wire(url: str, provider: Provider, mode: str) -> None:
    """Let a worker send until as many as it may have on the wire hang there, and kill it."""
    provider.hang_after = 100
    async with worker(url, provider.port, mode) as first:
        await asyncio.wait_for(provider.until_hanging(CONCURRENCY), 20)
        first.kill()
        await first.wait()
    provider.hang_after = None


async def states(made: Duebook, keyed: bool) -> dict[str, State]:
    return {n.key: n.state for n in await made.search(limit=100_000) if n.key.startswith(f"{keyed}/")}


async def rest(process: asyncio.subprocess.Process) -> None:
    """Wait until a worker says that nothing is left to do."""
    assert process.stdout is not None
    while (line := await process.stdout.readline()) != b"resting\n":
        assert line, "the worker ended before it was done"


async def test_on_a_keyed_channel_a_killed_worker_costs_nobody_anything(url: str) -> None:
    async with Provider(keyed=True) as provider:
        made = await promised(url, provider.port, keyed=True)
        await killed_on_the_wire(url, provider, "keyed")
        assert sum(state is State.ACCEPTED for state in (await states(made, True)).values()) < COUNT
        async with worker(url, provider.port, "keyed") as second:
            await asyncio.wait_for(rest(second), 40)
        found = await states(made, True)
        assert len(found) == COUNT
        assert set(found.values()) == {State.ACCEPTED}
        assert set(provider.accepted.values()) == {1}
        await made.close()


async def test_on_a_plain_channel_what_was_on_the_wire_waits_for_a_person_and_nothing_goes_twice(url: str) -> None:
    async with Provider(keyed=False) as provider:
        made = await promised(url, provider.port, keyed=False)
        await killed_on_the_wire(url, provider, "plain")
        async with worker(url, provider.port, "plain") as second:
            await asyncio.wait_for(rest(second), 40)
        found = await states(made, False)
        uncertain = [key for key, state in found.items() if state is State.UNCERTAIN]
        assert len(found) == COUNT
        assert 1 <= len(uncertain) <= CONCURRENCY
        assert set(provider.accepted.values()) == {1}, "somebody was told twice"
        taken = {name.removeprefix("kill:reminder:") for name in provider.accepted}
        assert {key for key, state in found.items() if state is State.ACCEPTED} <= taken, "recorded, never taken"
        assert taken - set(uncertain) == {key for key, state in found.items() if state is State.ACCEPTED}
        await made.close()
