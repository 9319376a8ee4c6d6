"""How long what a dead worker had claimed waits for another, with the default settings: `make kill`."""

from datetime import UTC, datetime

import pytest

from duebook import EngineSettings, State
from tests.kill.stage import at_rest, stage

COUNT = 600
BEFORE = 100
LONGEST_SECONDS = 30


@pytest.mark.timeout(180)
async def test_what_a_dead_worker_had_claimed_is_delivered_within_half_a_minute(url: str) -> None:
    async with stage(url, COUNT, lease_seconds=EngineSettings().lease_seconds) as run:
        async with run.worker() as first:
            await run.receivers.ask("more", BEFORE)
            await first.kill()
        killed_at = datetime.now(UTC)
        held = {n.id for kind in run.promised for n in await run.ledger(kind) if n.state is State.CLAIMED}
        assert held
        async with run.worker() as second:
            await second.until(at_rest)
        delivered = [n.moved_at for kind in run.promised for n in await run.ledger(kind) if n.id in held]
        seconds = (max(delivered) - killed_at).total_seconds()
        told = await run.judged(disruptions=1)
        print(f"{len(held)} claimed were delivered {seconds:.1f} s after their worker was killed; {told}", flush=True)
        assert seconds <= LONGEST_SECONDS
