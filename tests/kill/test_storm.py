"""Workers that are killed and stopped again and again while they send: `make kill`.

Every fifth time a worker is not killed but stopped until its lease is long over, and then goes on with what it had on
the wire. Now and then the provider takes a message and says nothing.
"""

import asyncio
import os
import signal
from contextlib import AsyncExitStack, suppress
from time import monotonic

import pytest

from duebook import State
from tests.kill.provider import Provider
from tests.kill.test_kill import promised, rest, states, url, worker

KILLS = int(os.environ.get("DUEBOOK_KILLS", "5"))
COUNT = int(os.environ.get("DUEBOOK_KILL_COUNT", "600"))

__all__ = ["url"]


@pytest.mark.timeout(60 + 10 * KILLS)
@pytest.mark.parametrize("mode", ["keyed", "plain"])
async def test_nothing_is_lost_and_nothing_goes_twice_however_often_workers_die(url: str, mode: str) -> None:
    keyed = mode == "keyed"
    began = monotonic()
    async with Provider(keyed=keyed) as provider, AsyncExitStack() as stack:
        provider.silent_every = 97
        made = await promised(url, provider.port, keyed=keyed, count=COUNT)
        for number in range(KILLS):
            async with worker(url, provider.port, mode) as victim:
                await provider.until_received(COUNT * (number + 1) // (KILLS + 2))
                if number % 5 == 4:
                    victim.send_signal(signal.SIGSTOP)
                    second = await stack.enter_async_context(worker(url, provider.port, mode))
                    # A process stopped inside an SQLite transaction holds its lock, and then nobody gets on.
                    with suppress(TimeoutError):
                        await asyncio.wait_for(provider.until_received(provider.received + COUNT // (KILLS + 2)), 4)
                    victim.send_signal(signal.SIGCONT)
                    second.send_signal(signal.SIGTERM)
                else:
                    victim.kill()
        async with worker(url, provider.port, mode) as last:
            await rest(last)
        found = await states(made, keyed)
        print(f"{mode}, {KILLS} kills and stops, {monotonic() - began:.0f} s: {judge(provider, found, keyed)}")
        await made.close()


def judge(provider: Provider, found: dict[str, State], keyed: bool) -> str:
    """Compare the ledger with what the provider took; answers the comparison in words."""
    taken = {name.removeprefix("kill:reminder:"): times for name, times in provider.accepted.items()}
    accepted = {key for key, state in found.items() if state is State.ACCEPTED}
    uncertain = {key for key, state in found.items() if state is State.UNCERTAIN}
    lost = COUNT - len(accepted) - len(uncertain) + len(accepted - set(taken))
    double = sum(times - 1 for times in taken.values())
    unrecorded = set(taken) - accepted - uncertain
    assert (lost, double, unrecorded) == (0, 0, set())
    assert not (keyed and uncertain)
    return f"promised {COUNT}, accepted {len(accepted)}, uncertain {len(uncertain)}, lost {lost}, double {double}"
