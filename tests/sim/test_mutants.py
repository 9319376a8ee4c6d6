"""Every safeguard taken out is noticed. A mutant that survives is a missing oracle."""

import logging
from collections.abc import Callable

import pytest

from tests.sim.mutants import MUTANTS, Mutant, fall


@pytest.mark.parametrize("mutant", [mutant for mutant in MUTANTS if mutant.seeds], ids=lambda mutant: mutant.name)
def test_the_mutant_falls(
    mutant: Mutant, caplog: pytest.LogCaptureFixture, record_property: Callable[[str, object], None]
) -> None:
    caplog.set_level(logging.CRITICAL)
    report = fall(mutant)
    assert report is not None, f"no oracle noticed in {mutant.seeds} seeds"
    record_property("mutant", (mutant.name, report.seed, report.oracle))
