"""Whatever happens, nobody is told of what they have read, and nobody is told twice; and an oracle notices if not."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import pytest

from duebook.domain import unread
from duebook.domain.decision import Defer, Skip
from duebook.domain.notification import Intent, Notification
from duebook.domain.unread import About, Seen
from duebook.ports import Plan
from duebook.stores.reading import do
from duebook.stores.rows import dumps
from duebook.stores.store import SqlStore
from tests.sim.crowd import Parts
from tests.sim.gathering import Report, altered, run
from tests.sim.seeds import SEEDS as ALL
from tests.sim.seeds import each
from tests.sim.unread import A_DAY, Config, Unread

pytestmark = pytest.mark.timeout(60 + ALL // 5)
SEEDS = each(12)
PLAIN = Config()
KEYED = Config(A_DAY, "resend")
CONFIGS = {
    "plain": PLAIN,
    "keyed, resent": KEYED,
    "plain, and reading withdraws nothing": Config(withdraws=False),
    "keyed, resent, and reading withdraws nothing": replace(KEYED, withdraws=False),
}


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A simulated second costs steps, whether anything happens in it or not."""
    caplog.set_level(logging.CRITICAL)
    monkeypatch.setattr(unread, "WAIT_IN_DOUBT", timedelta(seconds=8))


def simulate(seed: int, config: Config, parts: Parts | None = None) -> Report:
    return run(lambda seed, parts: Unread(seed, config, parts), seed, parts)


@pytest.mark.parametrize("name", CONFIGS)
def test_every_promise_about_unread_messages_holds(name: str, record_property: Callable[[str, object], None]) -> None:
    reports = [simulate(seed, CONFIGS[name]) for seed in range(SEEDS)]
    assert [(report.seed, report.violation) for report in reports if report.violation] == []
    ends = Counter(state for report in reports for state in report.states)
    assert min(ends["accepted"], ends["skipped"], sum(report.kills for report in reports)) > SEEDS
    record_property("seeds of unread messages", (SEEDS, sum(report.steps for report in reports)))


def test_a_seed_replays_identically() -> None:
    assert simulate(7, KEYED).trace == simulate(7, KEYED).trace


# Engines and stores that are broken on purpose

_foregone, _waits_for = unread.foregone, unread._waits_for


def _reads_no_watermark(n: Notification, seen: Seen, now: datetime) -> Skip | Defer | None:
    return _foregone(n, replace(seen, up_to=0), now)


def _is_covered_already(n: Notification, seen: Seen, now: datetime) -> Skip | Defer | None:
    waiting = _waits_for(n, seen, now)
    return Skip(f"covered by {waiting.reason.partition(' ')[0]}") if waiting is not None else None


class CoversWhenItDecides(SqlStore):
    """Who speaks is settled when the facts are read, and not when the intent is put on record."""

    def read_unread(self, about: Collection[About]) -> Plan[dict[int, Seen]]:
        seen = yield from super().read_unread(about)
        rows = [
            {
                "id": one.id, "kind": one.kind, "conversation": one.conversation, "recipient": one.recipient,
                "version": seen[one.id].version,
            }
            for one in about
        ]  # fmt: skip
        yield from do("take_cover", rows=dumps(rows))
        return seen

    def take_cover(self, intents: Sequence[Intent]) -> Plan[set[int]]:
        yield from ()
        return {intent.id for intent in intents}


@dataclass(frozen=True)
class Mutant:
    parts: Parts
    oracle: str
    config: Config = PLAIN
    seeds: int = field(default=200)


FENCE = "where w.version = (select value ->> 'version' from json_each(:rows) where value ->> 'id' = excluded.cover_id)"
ACCEPTED = "and c.to_position > coalesce(w.up_to, 0) and n.state = 'accepted'"
BLIND = Config(withdraws=False)

MUTANTS = {
    "a cover taken without its fence": Mutant(
        Parts(text=altered("take_cover", (FENCE, "where true"))), "no_message_is_new_twice"
    ),
    "a cover taken when it is decided": Mutant(Parts(CoversWhenItDecides), "no_message_is_new_twice"),
    "the watermark is not read again": Mutant(
        Parts(patches=(("duebook.domain.unread.foregone", _reads_no_watermark),)), "nothing_read_is_begun", BLIND
    ),
    "covered ones are closed before the coverer is accepted": Mutant(
        Parts(patches=(("duebook.domain.unread._waits_for", _is_covered_already),)),
        "nobody_is_covered_by_what_was_not_accepted",
    ),
    "one in doubt is forgotten when another speaks": Mutant(
        Parts(
            text=altered(
                "read_unread",
                ("(n.doubt > 0 or n.state = 'sending')", "n.state = 'sending'"),
                ("and n.doubt > 0), 0)", "and n.doubt < 0), 0)"),
            )
        ),
        "no_message_is_new_twice",
    ),
    "what is in doubt is taken for told": Mutant(
        Parts(
            text=altered(
                "read_unread",
                (ACCEPTED, ACCEPTED.replace("n.state = 'accepted'", "(n.state = 'accepted' or n.doubt > 0)")),
            )
        ),
        "nobody_is_covered_by_what_was_not_accepted",
    ),
    "a watermark moves back": Mutant(
        Parts(text=altered("mark_read", ("where w.up_to < excluded.up_to", "where true"))),
        "a_watermark_never_moves_back",
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_the_mutant_falls(name: str, record_property: Callable[[str, object], None]) -> None:
    mutant = MUTANTS[name]
    reports = (simulate(seed, mutant.config, mutant.parts) for seed in range(mutant.seeds))
    fallen = next((report for report in reports if report.violation), None)
    assert fallen is not None, f"no oracle noticed in {mutant.seeds} seeds"
    assert fallen.oracle == mutant.oracle, fallen.violation
    record_property("mutant", (name, fallen.seed, fallen.oracle))
