"""Newer zone rules move the instant of a local promise and keep its wall time."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from duebook.domain.lifecycle import Event, State
from duebook.domain.notification import Notification
from duebook.domain.retiming import retimed
from duebook.domain.walltime import resolve
from tests.domain.builders import NOW, make
from tests.domain.timing import BERLIN, HOUR

WALL = "2030-06-03T09:00:00"
RIGHT = resolve(datetime.fromisoformat(WALL), BERLIN)


def promised(due_at: datetime, **changes: Any) -> Notification:
    stated: dict[str, Any] = {
        "due_at": due_at, "wake_at": due_at, "wall": WALL, "zone": BERLIN, "rule": "compatible", "tzdata": "1999a",
    }  # fmt: skip
    return make(**{**stated, **changes})


def test_a_promise_with_the_same_instant_under_both_rules_does_not_move() -> None:
    assert retimed(promised(RIGHT), NOW, "app") is None


def test_a_promise_moves_with_its_wall_time_and_what_ends_it_moves_along() -> None:
    old = promised(RIGHT - HOUR, expires_at=RIGHT + 2 * HOUR)
    found = retimed(old, NOW, "app")
    assert found is not None
    assert (found.was, found.due_at, found.wall) == (RIGHT - HOUR, RIGHT, WALL)
    move = found.move
    assert (move.event, move.next, move.wake_at, move.expires_at) == (
        Event.RESCHEDULE, State.SCHEDULED, RIGHT, RIGHT + 3 * HOUR,
    )  # fmt: skip
    assert move.promise is not None
    assert (move.promise.wall, move.promise.zone, move.promise.rule) == (WALL, BERLIN, "compatible")
    assert move.promise.tzdata != "1999a"
    assert move.reason is not None
    assert move.reason.endswith("2030-06-03T09:00:00 in Europe/Berlin is 2030-06-03 07:00 UTC")


def test_a_look_that_was_put_off_stays_where_it_was_put() -> None:
    found = retimed(promised(RIGHT - HOUR, wake_at=RIGHT + 5 * HOUR), NOW, "app")
    assert found is not None
    assert found.move.wake_at == RIGHT + 5 * HOUR


def test_what_ought_to_have_been_due_already_is_looked_at_now() -> None:
    late = RIGHT + timedelta(minutes=30)
    found = retimed(promised(RIGHT + HOUR), late, "app")
    assert found is not None
    assert (found.due_at, found.move.wake_at) == (RIGHT, late)


@pytest.mark.parametrize(("rule", "hours"), [("compatible", 0), ("earlier", 0), ("raise", 0), ("later", 1)])
def test_the_rule_for_an_hour_that_comes_twice_is_kept(rule: str, hours: int) -> None:
    wall = "2030-10-27T02:30:00"
    first = resolve(datetime.fromisoformat(wall), BERLIN)
    found = retimed(promised(first - HOUR, wall=wall, rule=rule), NOW, "app")
    assert found is not None
    assert found.due_at == first + hours * HOUR
