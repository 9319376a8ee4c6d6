"""Each oracle complains about what it is there for, and none about a run in which everything holds."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from duebook import State
from tests.kill.oracles import ORACLES, Record, judged

FINE = Record(
    channel="mails",
    keyed=False,
    promised=frozenset({"a", "b", "c"}),
    states={"a": State.ACCEPTED, "b": State.UNCERTAIN, "c": State.UNCERTAIN},
    taken=Counter({"a": 1, "b": 1}),
    uncertain_at_most=2,
)

WRONG: dict[str, dict[str, Any]] = {
    "nothing_is_lost": {"states": {"a": State.ACCEPTED, "b": State.UNCERTAIN, "c": State.ACCEPTED}},
    "everything_promised_is_on_record": {"states": {"a": State.ACCEPTED, "b": State.UNCERTAIN}},
    "everything_came_to_an_end": {"states": {**FINE.states, "c": State.SENDING}},
    "nobody_is_told_twice": {"taken": Counter({"a": 2, "b": 1})},
    "nothing_is_accepted_that_was_not_taken": {"taken": Counter({"b": 1})},
    "what_was_taken_is_accepted_or_uncertain": {"states": {**FINE.states, "b": State.REVIEW}},
    "a_key_leaves_nothing_uncertain": {"keyed": True},
    "few_are_uncertain": {"uncertain_at_most": 1},
}


def test_a_run_in_which_everything_holds() -> None:
    assert judged(FINE) == []


def test_every_oracle_has_its_case() -> None:
    assert [oracle.__name__ for oracle in ORACLES] == list(WRONG)


@pytest.mark.parametrize("name", WRONG)
def test_what_an_oracle_is_there_for(name: str) -> None:
    assert any(f", {name}: " in said for said in judged(replace(FINE, **WRONG[name])))
