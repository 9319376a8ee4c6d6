"""Whatever happens to two schedulers, every minute of a schedule is seen to once; and an oracle notices if not."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.schedules import advance, advanced
from duebook.engine.scheduler import Scheduler, see_to
from duebook.stores import catalog
from tests.sim.schedules import Config, Harm, Parts, run, run_with
from tests.sim.seeds import SEEDS as ALL
from tests.sim.seeds import each

pytestmark = pytest.mark.timeout(60 + ALL // 5)
SEEDS = each(12)
CONFIGS = {
    "latest": Config("latest"),
    "all": Config("all"),
    "combine": Config("combine"),
    "skip": Config("skip"),
    "all, no later than two minutes": Config("all", timedelta(minutes=2)),
    "combine, nobody meddles": Config("combine", owner=False),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_every_minute_is_seen_to_once_whatever_happens(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    reports = [run(seed, CONFIGS[name]) for seed in range(SEEDS)]
    assert [(report.seed, report.violation) for report in reports if report.violation] == []
    assert sum(report.sent for report in reports) > SEEDS, "the machinery really works"
    assert sum(report.missed for report in reports) > SEEDS, "and really fails"
    record_property("seeds of schedules", (SEEDS, sum(report.steps for report in reports)))


@pytest.mark.parametrize("kind", ["kill", "stall"])
@pytest.mark.parametrize("config", [Config("latest"), Config("all")], ids=["latest", "all"])
def test_harm_at_every_point_of_a_scheduler_loses_no_minute_and_repeats_none(
    config: Config, kind: str, record_property: Callable[[str, object], None]
) -> None:
    points = run_with(config, Harm(0, kind)).points
    assert points > 40
    reports = [run_with(config, Harm(point, kind)) for point in range(1, points + 1)]
    assert [(point, report.violation) for point, report in enumerate(reports, 1) if report.violation] == []
    assert min(report.sent for report in reports) >= 3
    record_property("harm at one point of a scheduler", (points, sum(report.steps for report in reports)))


# Schedulers that are broken on purpose


class WritesItsCursorApart(Scheduler):
    """The notifications in one transaction, the cursor in another."""

    async def step(self) -> bool:
        now, store = self.clock.now(), self.store
        found = await self.database.run(store.lock_due_schedules(["digest"], now, 20))
        steps = [(one, advance(one, now)) for one in found]
        if steps:
            await self.database.run(see_to(store, self.registry.kinds, steps, now))
            await self.database.run(store.advance_schedules([advanced(one, step) for one, step in steps]))
        return False


class LooksInOneTransactionAndWritesInAnother(Scheduler):
    """What it read may be old by the time it writes."""

    async def step(self) -> bool:
        now, store = self.clock.now(), self.store
        found = await self.database.run(store.lock_due_schedules(["digest"], now, 20))
        steps = [(one, advance(one, now)) for one in found]

        def write() -> Any:
            yield from see_to(store, self.registry.kinds, steps, now)
            yield from store.advance_schedules([advanced(one, step) for one, step in steps])

        if steps:
            await self.database.run(write())
        return False


class StandsWhereItsClockStands(Scheduler):
    """The cursor is the present, and not what has been seen to."""

    def _advance(self, now: Any) -> Any:
        found = yield from self.store.lock_due_schedules(["digest"], now, 20)
        steps = [(one, advance(one, now)) for one in found]
        yield from see_to(self.store, self.registry.kinds, steps, now)
        if steps:
            moved = [replace(advanced(one, step), cursor_at=now - timedelta(seconds=90)) for one, step in steps]
            yield from self.store.advance_schedules(moved)
        return set(), False


FENCE = "s.name = r.name and s.version = r.version"


def _without(verb: str, old: str, new: str) -> Any:
    assert old in catalog.text("sqlite", verb), f"{verb} reads differently now"
    return lambda asked, text: text.replace(old, new) if asked == verb else text


MUTANTS = {
    "the cursor in another transaction": Parts(WritesItsCursorApart),
    "no version fence, and nothing held between look and write": Parts(
        LooksInOneTransactionAndWritesInAnother, _without("advance_schedules", FENCE, "s.name = r.name")
    ),
    "the cursor is the clock": Parts(StandsWhereItsClockStands),
    "what was missed is not recorded": Parts(text=_without("record_missed", "where true", "where false")),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_falls(name: str, record_property: Callable[[str, object], None]) -> None:
    reports = (run(seed, Config(), MUTANTS[name]) for seed in range(SEEDS))
    fallen = next((report for report in reports if report.violation), None)
    assert fallen is not None, f"no oracle noticed in {SEEDS} seeds"
    record_property("mutant", (name, fallen.seed, fallen.oracle))
