"""What a recipient's next digest would hold, foretold from what waits."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from duebook.domain.decision import DigestItem
from duebook.domain.digests import Cursor, Preview, preview
from duebook.domain.policy import DigestPolicy
from tests.domain.builders import HOUR, MINUTE, NOW

HOURLY = DigestPolicy(limit=2)


def ready(*instants: datetime) -> Sequence[DigestItem]:
    return [DigestItem(f"post-{n}", at, 0, {}) for n, at in enumerate(instants, 1)]


def foretold(policy: DigestPolicy, closes_at: datetime, *instants: datetime) -> Preview | None:
    cursor = Cursor("news", "ann", None, "test", "UTC", min(instants), None, closes_at)
    return preview(cursor, policy, ready(*instants), NOW)


def counted(policy: DigestPolicy, closes_at: datetime, *instants: datetime) -> tuple[int, int] | None:
    found = foretold(policy, closes_at, *instants)
    return None if found is None else (found.selected, found.total)


def test_a_period_to_come_holds_what_is_ready_before_its_end() -> None:
    found = foretold(HOURLY, NOW + HOUR, NOW, NOW + 59 * MINUTE, NOW + HOUR)
    assert found is not None
    assert (found.cutoff_at, found.periods, found.selected, found.total) == (NOW + HOUR, 1, 2, 2)


def test_no_more_fit_than_the_limit_says() -> None:
    assert counted(HOURLY, NOW, *[NOW - MINUTE] * 5) == (2, 5)


@pytest.mark.parametrize(
    ("policy", "held"),
    [
        (HOURLY, (2, 3)),
        (replace(HOURLY, most=2), (2, 2)),
        (replace(HOURLY, catch_up="latest"), (1, 1)),
        (replace(HOURLY, catch_up="skip"), (2, 3)),
    ],
)
def test_missed_periods_count_as_the_policy_has_them(policy: DigestPolicy, held: tuple[int, int]) -> None:
    waiting = [NOW - 150 * MINUTE, NOW - 90 * MINUTE, NOW - 30 * MINUTE]
    assert counted(policy, NOW - 2 * HOUR, *waiting) == held


def test_what_was_missed_waits_where_nothing_is_sent_late() -> None:
    cursor = Cursor("news", "ann", None, "test", "UTC", NOW - 2 * HOUR, None, NOW - HOUR)
    policy = replace(HOURLY, catch_up="skip")
    assert preview(cursor, policy, ready(NOW - 90 * MINUTE), NOW + 30 * MINUTE) is None


def test_what_is_worth_nothing_by_then_is_not_counted() -> None:
    policy = replace(HOURLY, expire_after=timedelta(minutes=30))
    assert counted(policy, NOW, NOW - 30 * MINUTE, NOW - 29 * MINUTE) == (1, 1)
    assert counted(policy, NOW, NOW - 30 * MINUTE) is None
