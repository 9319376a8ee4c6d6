"""The real engine leaves nothing to find: at rest, after crashes, and while it works."""

import asyncio
from datetime import timedelta

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Rejected, Retry, Throttled, Uncertain
from duebook.domain.policy import Retention
from duebook.engine.auditor import Auditor
from tests.audit.support import LATER, audited, serve
from tests.support.engine import Crew, Gate
from tests.support.worlds import World

DAY = timedelta(days=1)


@pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)
async def test_what_the_engine_leaves_behind_is_clean(crew: Crew) -> None:
    world, channel = crew.world, crew.channel()
    crew.kind(retention=Retention(bodies=DAY, ledger=2 * DAY, rows=3 * DAY))
    await serve(world)
    await world.schedule(*(f"n{number}" for number in range(20)))
    channel.answers = [
        Rejected("550"),
        Retry("451"),
        Uncertain("broken"),
        ConnectionError("gone"),
        Throttled(),
        Retry(""),
    ]
    lane = crew.lane()
    for key in ("n17", "n18"):
        await world.book.cancel("mail", key)
    await world.book.schedule("mail", "n18", recipient="ann", after=timedelta(seconds=1), if_exists="rearm")
    await crew.go_on()
    assert (await audited(world)).clean
    for n in await world.book.search(state="uncertain"):
        await world.book.resolve("mail", n.key, "resend" if n.key < "n3" else "sent", reason="she asked")
    for n in await world.book.search(state="review"):
        await world.book.redrive("mail", n.key, reason="fixed", force=True)
    world.clock.advance(90)
    await crew.go_on(90)
    assert (await audited(world)).clean

    stuck = Gate()
    channel.answers = [stuck] * 3
    await world.schedule("killed-1", "killed-2", "killed-3")
    world.clock.advance(1)
    lane.lane.expect(0.0, False)
    await lane.until(lambda: stuck.entered == 3)
    assert (await audited(world)).clean
    await lane.die()
    assert (await audited(world)).clean
    await crew.rescue()
    await crew.reconciler.step()
    assert world.tally()["uncertain"] == 3
    report = await audited(world)
    assert report.clean, report.violations
    for _ in range(4):
        world.clock.advance(DAY.total_seconds())
        while await crew.pruner.step():
            pass
        await serve(world)
        report = await audited(world)
        assert report.clean, report.violations
    assert world.tally() == {"uncertain": 3}


@pytest.mark.parametrize("world", ["sqlite", "postgres"], indirect=True)
async def test_an_audit_beside_a_working_lane_finds_nothing(crew: Crew) -> None:
    crew.channel(concurrency=20, breaker=0).answers = [Retry("451"), Uncertain("broken")] * 40
    crew.kind()
    await serve(crew.world)
    await crew.world.schedule(*(f"n{number}" for number in range(150)))
    lane = crew.lane()
    lane.lane.expect(0.0, False)
    working = asyncio.create_task(lane.settle_down())
    audits = 0
    while not working.done():
        report = await audited(crew.world, page=40)
        assert report.clean, report.violations
        audits += 1
    await working
    assert audits > 1
    assert crew.world.tally()["accepted"] == 70


@pytest.mark.parametrize("world", ["memory", "sqlite", "postgres"], indirect=True)
async def test_what_looked_wrong_and_has_moved_meanwhile_is_not_reported(world: World) -> None:
    await world.schedule("late", "later")
    world.clock.advance(1_200)
    await serve(world)

    def claim() -> None:
        world.shell.run(
            "update @notifications set state = 'claimed', event = 'claim', version = 2, wake_at = null, holder = 'w',"
            f" lease_until = '{LATER}' where key = 'late'"
        )

    world.database.before("audit_notifications", lambda: world.database.before("audit_notifications", claim))
    report = await audited(world)
    assert await world.state("late") is State.CLAIMED
    assert [violation.subject for violation in report.violations] == ["mail/later"]


@pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)
async def test_what_has_been_switched_meanwhile_explains(world: World) -> None:
    await world.schedule("late")
    world.clock.advance(1_200)
    await serve(world)
    at = world.clock.now().strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    sql = f"insert into @controls (scope, paused_at, by, at) values ('everything', '{at}', 'ops', '{at}')"

    def pause() -> None:
        world.shell.run(sql)

    # The first look at the controls has been; the second is yet to come.
    world.database.before("audit_rates", lambda: world.database.before("read_controls", pause))
    report = await audited(world)
    assert report.clean
    assert len(report.explained) == 1


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_one_plan_is_as_good_as_many(world: World) -> None:
    await world.schedule(*(f"n{number}" for number in range(25)))
    report = await world.do(Auditor(None, world.store, page=10).whole(world.clock.now()))
    assert report.clean
    assert report.read == {"notifications": 25, "identities": 25}
