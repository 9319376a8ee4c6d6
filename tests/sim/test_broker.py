"""The world with a broker, without the safeguard that makes a broker a convenience."""

import logging
from collections import Counter

import pytest

from tests.sim.crowd import Parts
from tests.sim.run import run
from tests.sim.world import Config

BROKERED = Config(None, brokered=True)
SEEDS = 20


def test_a_lane_that_never_sweeps_is_found_out() -> None:
    """It has no tape: that something never happens cannot be told by a dozen lines."""
    mutant = Parts(
        patches=(("duebook.engine.claiming_delivered.DeliveredClaimer._sweeps", lambda claimer, monotonic: False),)
    )
    found = Counter(report.oracle for seed in range(SEEDS) if (report := run(seed, BROKERED, mutant)).violation)
    assert found["everything_rests"] > 0


def test_work_goes_by_the_broker_as_well_as_by_the_sweep(caplog: pytest.LogCaptureFixture) -> None:
    """The canary: ids are delivered and claimed, and some are lost."""
    caplog.set_level(logging.CRITICAL)
    moments = Counter(moment.what for seed in range(SEEDS) for moment in run(seed, BROKERED).moments)
    assert moments["_claim_delivered:after"] > SEEDS
    assert moments["claim:after"] > SEEDS
