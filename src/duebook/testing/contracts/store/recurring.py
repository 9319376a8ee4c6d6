"""Schedules stand at a point in time, and whoever changed one first has changed it."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ....domain.missed import Missed
from ....domain.recurrence import Cron, Every, Recurrence, Rrule
from ....domain.schedules import Schedule
from .clauses import Contract, Trial, clause

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


class Recurring(Contract):
    """The verbs of schedules, and of what was missed."""

    @clause(
        Cron("30 9 * * MON-FRI"),
        lambda trial: Every(2, "week", trial.now().replace(tzinfo=None)),
        lambda trial: Rrule("FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1", trial.now().replace(tzinfo=None)),
    )
    async def test_everything_in_a_schedule_comes_back(self, trial: Trial, recurrence: Any) -> None:
        found: Recurrence = recurrence(trial) if callable(recurrence) else recurrence
        one = a_schedule(
            trial, recurrence=found, tenant="acme", data='{"deep": [1.5, null, "ü"]}', max_lateness=90 * HOUR,
            until_at=trial.now() + 300 * DAY, catch_up="combine", most=7,
        )  # fmt: skip
        paused = a_schedule(trial, "paused", next_at=None, paused_at=trial.now(), reason="on holiday")
        assert await trial.do(trial.store.put_schedules([one, paused])) == {"s", "paused"}
        back = await trial.do(trial.store.lock_schedules(["s", "paused", "no"]))
        assert await trial.do(trial.store.read_schedule("s")) == back["s"]
        assert await trial.do(trial.store.read_schedule("no")) is None
        assert json.loads(back["s"].data) == json.loads(one.data)
        assert {name: replace(found, data="") for name, found in back.items()} == {
            "s": replace(one, data=""),
            "paused": replace(paused, data=""),
        }

    @clause()
    async def test_a_name_that_is_taken_is_left_alone_and_not_answered(self, trial: Trial) -> None:
        await put(trial, a_schedule(trial))
        others = [a_schedule(trial, recipient="bob"), a_schedule(trial, "t")]
        assert await trial.do(trial.store.put_schedules(others)) == {"t"}
        assert (await read(trial)).recipient == "ann"

    @clause()
    async def test_only_what_is_due_of_the_kinds_asked_for_is_answered_the_oldest_first(self, trial: Trial) -> None:
        now = trial.now()
        await put(
            trial,
            a_schedule(trial, "late", next_at=now),
            a_schedule(trial, "later", next_at=now + HOUR),
            a_schedule(trial, "earliest", cursor_at=now - DAY, next_at=now - DAY),
            a_schedule(trial, "ended", next_at=None),
            a_schedule(trial, "another kind", kind="other", next_at=now),
        )
        due = await trial.do(trial.store.lock_due_schedules(["mail"], now, 10))
        assert [one.name for one in due] == ["earliest", "late"]
        assert len(await trial.do(trial.store.lock_due_schedules(["mail", "other"], now + HOUR, 2))) == 2

    @clause("advance_schedules", "change_schedules")
    async def test_a_write_is_fenced_by_the_version_it_was_made_from(self, trial: Trial, verb: str) -> None:
        write = getattr(trial.store, verb)
        await put(trial, a_schedule(trial), a_schedule(trial, "t"))
        first = replace(await read(trial), cursor_at=trial.now() + HOUR, next_at=trial.now() + DAY)
        assert await trial.do(write([first])) == {"s"}
        assert await trial.do(write([replace(first, next_at=None)])) == set()
        found = await read(trial)
        assert (found.version, found.cursor_at, found.next_at) == (2, first.cursor_at, first.next_at)
        assert (await read(trial, "t")).version == 1

    @clause()
    async def test_to_advance_changes_nothing_else_and_to_change_changes_all_but_its_birth(self, trial: Trial) -> None:
        await put(trial, a_schedule(trial))
        other = replace(
            await read(trial), kind="other", recipient="bob", tenant="acme", data="{}", recurrence=Cron("0 1 * * *"),
            zone="Europe/Berlin", catch_up="all", max_lateness=HOUR, most=3, until_at=trial.now() + DAY,
            cursor_at=trial.now() + HOUR, next_at=None, paused_at=trial.now(), reason="why",
            changed_at=trial.now() + HOUR, changed_by="bob",
        )  # fmt: skip
        moved = replace(await read(trial), next_at=trial.now() + HOUR)
        await trial.do(
            trial.store.advance_schedules([replace(other, next_at=moved.next_at, cursor_at=moved.cursor_at)])
        )
        assert await read(trial) == replace(moved, version=2)
        await trial.do(trial.store.change_schedules([replace(other, version=2)]))
        assert await read(trial) == replace(other, version=3)

    @clause()
    async def test_pages_go_by_name(self, trial: Trial) -> None:
        await put(trial, *(a_schedule(trial, name) for name in "cab"), a_schedule(trial, "d", recipient="bob"))
        page = await trial.do(trial.store.read_schedules("", None, None, 2))
        assert [one.name for one in page] == ["a", "b"]
        assert [one.name for one in await trial.do(trial.store.read_schedules("b", None, None, 9))] == ["c", "d"]
        assert [one.name for one in await trial.do(trial.store.read_schedules("", "mail", "bob", 9))] == ["d"]

    @clause()
    async def test_one_that_is_deleted_is_gone_once(self, trial: Trial) -> None:
        await put(trial, a_schedule(trial))
        assert await trial.do(trial.store.delete_schedule("s"))
        assert not await trial.do(trial.store.delete_schedule("s"))

    @clause()
    async def test_what_was_missed_is_recorded_once_and_read_newest_first(self, trial: Trial) -> None:
        first, second = missed(trial, "09:00"), missed(trial, "10:00", outcome="combined", combined_into="11:00")
        other = missed(trial, "12:00", source="deadline", name="d/1", recipient="bob")
        for records in ([first], [second, other], [replace(first, reason="again")]):
            await trial.do(trial.store.record_missed(records))
        pages = await trial.do(trial.store.read_missed({}, 2**62, 9))
        assert [one for _, one in pages] in ([other, second, first], [second, other, first])
        assert await trial.do(trial.store.read_missed({}, pages[1][0], 9)) == pages[2:]
        for filters in ({"recipient": "bob"}, {"source": "deadline"}, {"name": "d/1"}):
            assert [one for _, one in await trial.do(trial.store.read_missed(filters, 2**62, 9))] == [other]


def a_schedule(trial: Trial, name: str = "s", **changes: Any) -> Schedule:
    stated: dict[str, Any] = {
        "name": name, "kind": "mail", "recipient": "ann", "tenant": None, "namespace": "test", "data": "{}",
        "recurrence": Cron("0 9 * * *"), "zone": "UTC", "catch_up": "latest", "max_lateness": None, "most": 100,
        "until_at": None, "version": 1, "cursor_at": trial.now(), "next_at": trial.now() + HOUR, "paused_at": None,
        "reason": None, "created_at": trial.now(), "changed_at": trial.now(), "changed_by": "app",
    }  # fmt: skip
    return Schedule(**{**stated, **changes})


async def put(trial: Trial, *schedules: Schedule) -> None:
    await trial.do(trial.store.put_schedules(schedules))


async def read(trial: Trial, name: str = "s") -> Schedule:
    return (await trial.do(trial.store.lock_schedules([name])))[name]


def missed(trial: Trial, label: str, **changes: Any) -> Missed:
    stated: dict[str, Any] = {
        "source": "schedule", "kind": "mail", "name": "s", "recipient": "ann", "first_label": label,
        "last_label": label, "first_at": trial.now(), "last_at": trial.now() + HOUR, "periods": 2,
        "outcome": "skipped", "reason": "why", "combined_into": None, "recorded_at": trial.now(),
    }  # fmt: skip
    return Missed(**{**stated, **changes})
