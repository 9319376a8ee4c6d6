"""What went wrong once does not go wrong again, and each tape still shows what it was kept for."""

import logging
from pathlib import Path

import pytest

from tests.sim.mutants import MUTANTS, Mutant, fall
from tests.sim.regressions import FOLDER, keep
from tests.sim.tape import falls, read, record, replay, shorten

TAPES = {path.stem: read(path) for path in sorted(FOLDER.glob("*.tape"))}
OF_MUTANTS = {tape.mutant: tape for tape in TAPES.values() if tape.mutant is not None}


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


@pytest.mark.parametrize("name", TAPES)
def test_the_engine_stands_what_a_tape_tells(name: str) -> None:
    assert replay(TAPES[name]).violation is None


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_falls_by_its_tape(mutant: Mutant) -> None:
    tape = OF_MUTANTS.get(mutant.name)
    assert tape is not None, "it has no tape: run `make tapes` and commit what it writes"
    found = replay(tape, mutant.parts)
    assert found.oracle == tape.oracle, (
        f"its tape expects a complaint of {tape.oracle}, and got {found.violation}. If the engine only calls its ports "
        "in another order than before, run `make tapes`, look at what changed, and commit it; where the mutant has no "
        "seeds, write its tape anew by hand"
    )


def test_no_tape_is_about_a_mutant_that_is_gone() -> None:
    gone = OF_MUTANTS.keys() - {mutant.name for mutant in MUTANTS}
    assert not gone, f"delete the tapes of {sorted(gone)}"


def test_a_run_that_fails_is_kept_as_a_short_tape_that_fails_alike(tmp_path: Path) -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "cancel ignores the state")
    report = fall(mutant)
    assert report is not None
    whole = record(report, mutant.config, mutant.parts)
    short = shorten(whole, mutant.parts)
    assert len(whole.moments) > 50 > 15 > len(short.moments)
    assert set(short.moments) <= set(whole.moments)
    kept = read(keep(short, tmp_path))
    assert kept == short
    assert falls(kept, mutant.parts)


def test_a_tape_replays_identically() -> None:
    for tape in TAPES.values():
        assert replay(tape).fingerprint == replay(tape).fingerprint
