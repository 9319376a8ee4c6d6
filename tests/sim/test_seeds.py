"""Random worlds: whatever happens to the engine, its promises hold, and once it stops everything comes to rest.

`DUEBOOK_SIM_SEEDS` says how many; `make sim SEEDS=…` sets it.
"""

import logging
import os

import pytest

from tests.sim.run import run, shrink
from tests.sim.world import Config

SEEDS = int(os.environ.get("DUEBOOK_SIM_SEEDS", "500"))
WORLDS = {
    "keyed, held": Config(),
    "keyed, resent": Config(on_uncertain="resend"),
    "keyed, resent, nobody meddles": Config(on_uncertain="resend", owners=False),
    "a short key window": Config(130.0, "resend"),
    "plain, held": Config(None, "hold"),
    "plain, assumed sent": Config(None, "assume_sent"),
    "plain, pruned at once": Config(None, prunes=True),
}


@pytest.mark.timeout(60 + SEEDS // 5)
@pytest.mark.parametrize("name", WORLDS)
def test_every_promise_holds_in_every_world(name: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    for seed in range(-(-SEEDS // len(WORLDS))):
        report = run(seed, WORLDS[name])
        if report.violation is not None:
            least = shrink(report, WORLDS[name])
            pytest.fail(f"seed {seed}: {least.violation}; it takes {least.faults}")


def test_a_seed_replays_identically() -> None:
    assert run(7, Config()).fingerprint == run(7, Config()).fingerprint


def test_the_machinery_finds_something_where_there_is_something() -> None:
    """The canary: faults are really applied, workers really die, and the ends really differ."""
    reports = [run(seed, Config()) for seed in range(20)]
    assert sum(report.kills for report in reports) > 50
    assert {state for report in reports for state in report.states.values()} >= {"accepted", "cancelled", "skipped"}
