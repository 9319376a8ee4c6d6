"""The folder of tapes that are replayed by each test run, and who puts some there.

`make tapes` writes the tapes of the mutants anew, but not of those that no seed fells: theirs are written by hand. A
seed that fails leaves its tape in `build/tapes`; once the fault is repaired, it is moved to the folder and stays.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from tests.sim.mutants import MUTANTS, fall
from tests.sim.tape import Tape, record, shorten

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent / "regressions"
FOUND = ROOT / "build" / "tapes"


def keep(tape: Tape, folder: Path) -> Path:
    """Write a tape to a file that is named after what it is about."""
    name = tape.mutant or f"{tape.oracle} seed {tape.seed}"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".tape")
    path.write_text(tape.text, encoding="utf-8")
    return path


def main() -> None:
    logging.disable(logging.CRITICAL)
    for mutant in [mutant for mutant in MUTANTS if mutant.seeds]:
        report = fall(mutant)
        assert report is not None, f"{mutant.name} survives: an oracle is missing"
        tape = shorten(record(report, mutant.config, mutant.parts, mutant.name), mutant.parts)
        keep(tape, FOLDER)
        print(f"{mutant.name}: {len(tape.moments)} lines, from seed {tape.seed}, {tape.oracle}")


if __name__ == "__main__":
    main()
