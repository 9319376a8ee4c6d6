"""Says at the end what was simulated, so that a figure in the docs can be had again: `make sim`."""

from collections import Counter
from typing import Any

import pytest


def pytest_terminal_summary(terminalreporter: Any) -> None:
    runs, steps = Counter[str](), Counter[str]()
    fallen = []
    for name, value in _recorded(terminalreporter.stats.get("passed", [])):
        if name == "mutant":
            fallen.append(value)
        else:
            runs[name] += value[0]
            steps[name] += value[1]
    if runs or fallen:
        terminalreporter.section("simulated")
    for name in runs:
        terminalreporter.write_line(f"{name}: {runs[name]:,} runs, {steps[name]:,} steps")
    for name, seed, oracle in sorted(fallen, key=lambda one: one[1]):
        terminalreporter.write_line(f"mutant at seed {seed:>3}: {name} ({oracle})")


def _recorded(reports: list[pytest.TestReport]) -> list[tuple[str, Any]]:
    return [one for report in reports if "tests/sim/" in report.nodeid for one in report.user_properties]
