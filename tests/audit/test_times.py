"""Schedules and deadlines: each invariant, broken alone, is found alone; and what explains that one waits."""

from datetime import date, timedelta

import pytest

from duebook.domain.policy import DeadlinePolicy, Retention
from duebook.engine.scheduler import Scheduler
from tests.audit.support import LATER, LONG_AGO, audited
from tests.support.engine import SETTINGS, Crew
from tests.support.worlds import World

IN_BOTH = pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)
DAY = timedelta(days=1)
NEW_YEAR = date(2031, 1, 1)
CAME = "'2030-01-06T09:00:00.000000Z'"
EARLY_IN_JANUARY = '{"cron": "0 10 6 1 *"}'


def schedule(change: str) -> str:
    return f"update @schedules set {change} where name = 's'"


def deadline(change: str) -> str:
    return f"update @deadlines set {change} where key = 'd'"


BROKEN = {
    "schedule_waits_for_its_next_period": [
        (schedule(f"next_at = '{LATER}'"), "it is due next at 2030-01-07 13:00:00 UTC, and by its recurrence"),
        (schedule("next_at = null"), "it is due next at no time"),
        (schedule(f"paused_at = '{LONG_AGO}'"), "it is paused, and due next at"),
        (schedule('recurrence = \'{"cron": "0 9 * *"}\''), "when it is due cannot be said: cron"),
        (schedule("zone = 'Europe/Brelin'"), "when it is due cannot be said: zone"),
    ],
    "schedule_is_seen_to": [
        (
            schedule(f"recurrence = '{EARLY_IN_JANUARY}', cursor_at = {CAME}, next_at = {CAME}"),
            "a period came at 2030-01-06 09:00:00 UTC and nobody saw to it",
        )
    ],
    "reminders_are_of_the_term": [
        (
            deadline("term = 2")
            + "; insert into @missed (source, kind, name, recipient, first_label, last_label, first_at, last_at,"
            " periods, outcome, reason, recorded_at) values ('deadline', 'renewal', 'd/2', 'ann', '30d', '30d',"
            f" '{LONG_AGO}', '{LONG_AGO}', 1, 'skipped', 'why', '{LONG_AGO}')",
            "it is open in term 2, and still to be reminded of by d/1/1d, d/1/30d, d/1/7d",
        ),
        (deadline("state = 'completed'"), "it is completed in term 1, and still to be reminded of by d/1/1d"),
    ],
    "open_deadline_has_its_steps": [
        (
            "insert into @deadlines (kind, key, recipient, namespace, data, wall, zone, ends_at, term, first_term,"
            " state, created_at, changed_at, changed_by) values ('renewal', 'e', 'ann', 'test', '{}',"
            f" '2030-01-07T13:00', 'UTC', '{LATER}', 3, 3, 'open', '{LONG_AGO}', '{LATER}', 'app')",
            "nothing is on record of the reminders of term 3, which ends at 2030-01-07 13:00:00 UTC",
        )
    ],
}
CASES = [
    pytest.param(check, sql, said, id=f"{check}-{number}")
    for check, cases in BROKEN.items()
    for number, (sql, said) in enumerate(cases)
]


async def populate(world: World) -> None:
    """A schedule, one that is paused and one that has ended; a deadline, one that moved and one that was met."""
    kinds = [world.declare("digest"), world.declare("renewal", deadline=DeadlinePolicy())]
    await world.do(world.store.register_kinds(kinds, world.clock.now()))
    room = world.book.schedules
    for name in ("s", "paused", "ended"):
        until = world.clock.now() + DAY if name == "ended" else None
        await room.set(name, kind="digest", recipient="ann", recurrence="0 9 1 * *", zone="Europe/Berlin", until=until)
    await room.pause("paused", reason="on holiday")
    for key in ("d", "moved", "met"):
        await world.book.deadlines.set("renewal", key, recipient="ann", on=NEW_YEAR, zone="Europe/Berlin")
    await world.book.deadlines.set("renewal", "moved", recipient="ann", on=date(2030, 1, 12), zone="Europe/Berlin")
    await world.book.deadlines.complete("renewal", "met")


@IN_BOTH
@pytest.mark.parametrize(("check", "sql", "said"), CASES)
async def test_a_broken_invariant_is_found_and_nothing_else(
    defenceless: World, check: str, sql: str, said: str
) -> None:
    await populate(defenceless)
    report = await audited(defenceless)
    assert report.clean, report.violations
    for statement in sql.split("; "):
        defenceless.shell.run(statement)
    report = await audited(defenceless)
    assert [(violation.check, said in violation.found) for violation in report.violations] == [(check, True)], report


@IN_BOTH
async def test_page_after_page_is_read(world: World) -> None:
    await populate(world)
    report = await audited(world, page=2)
    assert report.clean
    assert (report.read["schedules"], report.read["deadlines"]) == (3, 3)


@IN_BOTH
async def test_a_schedule_that_nobody_serves_is_explained(world: World) -> None:
    await populate(world)
    world.clock.advance(60 * DAY.total_seconds())
    report = await audited(world)
    assert report.explained["no worker has served kind digest since 2030-01-07 12:00:00 UTC"] == 1
    assert report.clean
    world.shell.run("delete from @kinds")
    assert (await audited(world)).explained["no worker has ever served kind digest"] == 1


@IN_BOTH
async def test_what_is_named_by_hand_like_a_deadlines_group_is_no_reminder_of_it(world: World) -> None:
    await populate(world)
    await world.book.schedule("renewal", "by hand", recipient="ann", after=DAY, group="deadline:renewal:d")
    assert (await audited(world)).clean


@IN_BOTH
async def test_what_the_engine_and_retention_leave_behind_is_clean(crew: Crew) -> None:
    world, _ = crew.world, crew.channel()
    crew.kind("digest", retention=Retention(DAY, DAY, DAY))
    crew.kind("renewal", retention=Retention(DAY, DAY, DAY), deadline=DeadlinePolicy(passed="skip"))
    kinds = list(world.registry.kinds.values())
    await world.book.schedules.set("s", kind="digest", recipient="ann", recurrence="0 */6 * * *", zone="Europe/Berlin")
    await world.book.deadlines.set("renewal", "d", recipient="ann", on=date(2030, 3, 1), zone="Europe/Berlin")
    await world.book.deadlines.set("renewal", "all passed", recipient="ann", on=world.clock.now().date(), zone="UTC")
    for _ in range(8):
        world.clock.advance(DAY.total_seconds())
        await world.do(world.store.register_kinds(kinds, world.clock.now()))
        await Scheduler(world.registry, world.database, world.store, world.clock, SETTINGS, {}).step()
        lane = crew.lane()
        lane.lane.expect(0.0, False)
        await lane.settle_down()
        while await crew.pruner.step():
            pass
        report = await audited(world)
        assert report.clean, report.violations
