"""Whatever happens, an item is told once or is on record as untold; and an oracle notices if not."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest

from duebook.domain.digests import Cursor
from duebook.engine.digester import Digester
from duebook.ports import Plan
from duebook.stores.store import SqlStore
from tests.sim.crowd import Parts
from tests.sim.digests import LIMIT, Config, Digests
from tests.sim.gathering import Report, altered, run
from tests.sim.seeds import SEEDS as ALL
from tests.sim.seeds import each

pytestmark = pytest.mark.timeout(60 + ALL // 5)
SEEDS = each(14)
PLAIN = Config()
CONFIGS = {
    "plain": PLAIN,
    "keyed, resent": Config(86_400.0, "resend"),
    "unsent ones are recorded": Config(unsent="undelivered"),
    "only the latest period": Config(catch_up="latest"),
    "missed periods are skipped": Config(catch_up="skip"),
}


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL)


def simulate(seed: int, config: Config, parts: Parts | None = None) -> Report:
    return run(lambda seed, parts: Digests(seed, config, parts), seed, parts)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_promise_about_digests_holds(name: str, record_property: Callable[[str, object], None]) -> None:
    reports = [simulate(seed, CONFIGS[name]) for seed in range(SEEDS)]
    assert [(report.seed, report.violation) for report in reports if report.violation] == []
    ends = Counter(state for report in reports for state in report.states)
    assert min(4 * ends["accepted"], sum(report.kills for report in reports)) > SEEDS
    record_property("seeds of digests", (SEEDS, sum(report.steps for report in reports)))


def test_a_seed_replays_identically() -> None:
    assert simulate(7, PLAIN).trace == simulate(7, PLAIN).trace


# Digesters and stores that are broken on purpose


class Remembers(SqlStore):
    """Answers what it has read before."""

    def __init__(self, cursors: Sequence[Cursor]) -> None:
        self.cursors = cursors

    def lock_due_cursors(self, kinds: Collection[str], now: datetime, limit: int) -> Plan[list[Cursor]]:
        yield from ()
        return list(self.cursors)


class HoldsNoCursor(Digester):
    """It looks in one transaction and closes in another."""

    async def step(self) -> bool:
        now = self.clock.now()
        found = await self.database.run(self.store.lock_due_cursors(["news"], now, 20))
        stale = Digester(
            self.registry, self.database, Remembers(found), self.clock, self.settings, self.expect
        )  # fmt: skip
        if found:
            await self.database.run(stale._close({"news"}, now))
        return False


class GivesBackWhatMayHaveBeenTold(SqlStore):
    def end_digests(self, ended: Mapping[int, bool], now: datetime) -> Plan[None]:
        yield from super().end_digests(dict.fromkeys(ended, False), now)


class GivesNothingBack(SqlStore):
    def end_digests(self, ended: Mapping[int, bool], now: datetime) -> Plan[None]:
        yield from ()


@dataclass(frozen=True)
class Mutant:
    parts: Parts
    oracle: str
    seeds: int = 200


ALL_WAITING = "i.label is null and i.outcome is null"
MUTANTS: dict[str, Mutant] = {
    "the selection is not frozen": Mutant(
        Parts(
            text=altered(
                "read_selections",
                ("and i.label = d.label ", "and (i.label = d.label or i.label is null) "),
                ("order by i.score desc, i.item", f"order by i.score desc, i.item limit {LIMIT}"),
            )
        ),
        "an_item_is_told_by_one_digest",
    ),
    "no cursor is held from the look to the close": Mutant(
        Parts(digester=HoldsNoCursor), "what_it_tells_and_what_it_leaves_out_are_all"
    ),
    "what may have been told is given back": Mutant(
        Parts(GivesBackWhatMayHaveBeenTold), "an_item_is_told_by_one_digest"
    ),
    "nothing is given back": Mutant(Parts(GivesNothingBack), "every_item_is_accounted_for"),
    "nobody looks for what is given back": Mutant(
        Parts(text=altered("mark_cursors", ("where c.kind = r.kind", "where false and c.kind = r.kind"))),
        "what_it_tells_and_what_it_leaves_out_are_all",
    ),
    "an item is taken again": Mutant(
        Parts(text=altered("take_items", (ALL_WAITING, "i.outcome is null"))), "an_item_is_told_by_one_digest"
    ),
    "more is taken than fits": Mutant(
        Parts(text=altered("take_items", ("and r.place <= r.most", ""))), "no_digest_is_too_long"
    ),
    "what did not fit is not counted": Mutant(
        Parts(text=altered("weigh_items", ("(i.label is null or i.label = r.label)", "i.label = r.label"))),
        "what_it_tells_and_what_it_leaves_out_are_all",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_falls(name: str, record_property: Callable[[str, object], None]) -> None:
    mutant = MUTANTS[name]
    reports = (simulate(seed, PLAIN, mutant.parts) for seed in range(mutant.seeds))
    fallen: Any = next((report for report in reports if report.violation), None)
    assert fallen is not None, f"no oracle noticed in {mutant.seeds} seeds"
    assert fallen.oracle == mutant.oracle, fallen.violation
    record_property("mutant", (name, fallen.seed, fallen.oracle))
