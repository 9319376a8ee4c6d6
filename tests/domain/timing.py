"""Schedules and deadlines for the domain's tests, without a store."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from duebook.domain.deadlines import Deadline, ending
from duebook.domain.policy import DeadlinePolicy, Kind
from duebook.domain.recurrence import Cron
from duebook.domain.schedules import Schedule, following

MIDNIGHT = datetime(2030, 1, 7, tzinfo=UTC)
MONDAY = date(2030, 1, 7)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
BERLIN = "Europe/Berlin"

KIND = Kind("digest", "mail")
RENEWAL = Kind("renewal", "mail", deadline=DeadlinePolicy())

_SCHEDULE: dict[str, Any] = {
    "name": "hourly", "kind": "digest", "recipient": "ann", "tenant": None, "namespace": "test", "data": '{"n":1}',
    "recurrence": Cron("0 * * * *"), "zone": "UTC", "catch_up": "latest", "max_lateness": None, "most": 100,
    "until_at": None, "version": 1, "cursor_at": MIDNIGHT, "next_at": None, "paused_at": None, "reason": None,
    "created_at": MIDNIGHT, "changed_at": MIDNIGHT, "changed_by": "app",
}  # fmt: skip


def wall(text: str) -> datetime:
    """A wall time, without a zone."""
    return datetime.fromisoformat(text)


def scheduled(**changes: Any) -> Schedule:
    """A schedule that waits for its next period; `cron` stands for a recurrence."""
    if "cron" in changes:
        changes["recurrence"] = Cron(changes.pop("cron"))
    one = Schedule(**{**_SCHEDULE, **changes})
    return Schedule(**{**_SCHEDULE, **changes, "next_at": following(one, one.cursor_at)})


def deadline(on: date = date(2030, 3, 15), zone: str = BERLIN, **changes: Any) -> Deadline:
    """An open deadline in its first term."""
    wall, zone, ends_at = ending(on, zone, MIDNIGHT)
    stated: dict[str, Any] = {
        "kind": "renewal", "key": "contract", "recipient": "ann", "tenant": None, "namespace": "test", "data": "{}",
        "wall": wall, "zone": zone, "ends_at": ends_at, "term": 1, "first_term": 1, "state": "open", "reason": None,
        "created_at": MIDNIGHT, "changed_at": MIDNIGHT, "changed_by": "app",
    }  # fmt: skip
    return Deadline(**{**stated, **changes})
