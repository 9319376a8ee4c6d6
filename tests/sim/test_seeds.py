"""Random worlds: whatever happens to the engine, its promises hold, and once it stops everything comes to rest.

`DUEBOOK_SIM_SEEDS` says how many; `make sim SEEDS=…` sets it.
"""

import logging
from collections.abc import Callable

import pytest

from tests.sim.regressions import FOUND, ROOT, keep
from tests.sim.run import Report, run
from tests.sim.seeds import SEEDS, each
from tests.sim.tape import record, shorten
from tests.sim.world import Config

WORLDS = {
    "keyed, held": Config(),
    "keyed, resent": Config(on_uncertain="resend"),
    "keyed, resent, nobody meddles": Config(on_uncertain="resend", owners=False),
    "a short key window": Config(130.0, "resend"),
    "plain, held": Config(None, "hold"),
    "plain, assumed sent": Config(None, "assume_sent"),
    "plain, pruned at once": Config(None, prunes=True),
    "plain, can be asked": Config(None, asks="truth"),
    "plain, and not knowing is proof": Config(None, asks="proof"),
    "plain, says later what it took": Config(None, receipts=True),
    "plain, by a hostile broker": Config(None, brokered=True),
}


@pytest.mark.timeout(60 + SEEDS // 5)
@pytest.mark.parametrize("name", WORLDS)
def test_every_promise_holds_in_every_world(
    name: str, caplog: pytest.LogCaptureFixture, record_property: Callable[[str, object], None]
) -> None:
    caplog.set_level(logging.CRITICAL)
    count, steps = each(len(WORLDS)), 0
    for seed in range(count):
        report = run(seed, WORLDS[name])
        if report.violation is not None:
            pytest.fail(told(report, name), pytrace=False)
        steps += report.steps
    record_property("seeds", (count, steps))


def told(report: Report, name: str) -> str:
    """Say what went wrong by the shortest tape that shows it."""
    tape = shorten(record(report, WORLDS[name]))
    path = keep(tape, FOUND).relative_to(ROOT)
    return (
        f"{name}, seed {report.seed}: {report.violation}\n\n{tape.text}\n"
        f"This tape is {path}. Once the fault is repaired, move it to tests/sim/regressions and commit it: there it is "
        "replayed by each test run."
    )


def test_a_seed_replays_identically() -> None:
    assert run(7, Config()).fingerprint == run(7, Config()).fingerprint


def test_the_machinery_finds_something_where_there_is_something() -> None:
    """The canary: faults are really applied, workers really die, and the ends really differ."""
    reports = [run(seed, Config()) for seed in range(20)]
    assert sum(report.kills for report in reports) > 50
    assert {state for report in reports for state in report.states.values()} >= {"accepted", "cancelled", "skipped"}
