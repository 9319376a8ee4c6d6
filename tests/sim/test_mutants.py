"""Every safeguard taken out is noticed. A mutant that survives is a missing oracle."""

import logging

import pytest

from tests.sim.mutants import MUTANTS, Mutant
from tests.sim.run import run


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_mutant_falls(mutant: Mutant, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)
    for seed in range(mutant.seeds):
        if run(seed, mutant.config, mutant.parts).violation is not None:
            return
    pytest.fail(f"{mutant.name}: no oracle noticed in {mutant.seeds} seeds")
