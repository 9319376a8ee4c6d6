"""What is overdue is a violation only where nothing explains it."""

from datetime import timedelta

import pytest

from duebook.domain.audited import Patience
from tests.audit.support import audited, serve
from tests.support.worlds import World

pytestmark = pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)


@pytest.fixture
async def late(world: World) -> World:
    """One that was due twenty minutes ago, of a kind that is served."""
    await world.schedule("late")
    world.clock.advance(1_200)
    await serve(world)
    return world


async def test_late_without_a_reason(late: World) -> None:
    report = await audited(late)
    assert report.counts == {"nothing_is_overdue": 1}
    assert not report.explained
    assert (await audited(late, patience=Patience(overdue=timedelta(hours=1)))).clean


@pytest.mark.parametrize("scope", ["everything", "channel:mail", "kind:mail"])
async def test_a_pause_explains_it_also_just_after_it_ended(late: World, scope: str) -> None:
    await late.do(late.store.set_pause(scope, True, "moving", "ops", late.clock.now()))
    late.clock.advance(3_600)
    await serve(late)
    report = await audited(late)
    assert report.clean
    assert list(report.explained) == [f"{scope.replace(':', ' ')} is paused since 2030-01-07 12:20:00 UTC"]
    await late.do(late.store.set_pause(scope, False, "moved", "ops", late.clock.now()))
    late.clock.advance(600)
    assert (await audited(late)).clean
    late.clock.advance(600)
    await serve(late)
    assert (await audited(late)).counts == {"nothing_is_overdue": 1}


async def test_a_throttle_a_mode_and_a_rate_explain_it(late: World) -> None:
    now = late.clock.now()
    await late.do(late.store.throttle("mail", late.clock.at(60), "429", "w", now - timedelta(hours=1)))
    assert list((await audited(late)).explained) == [
        "channel mail is throttled by its provider until 2030-01-07 12:21:00 UTC"
    ]
    late.shell.run("delete from @controls")
    await late.do(late.store.set_mode("kind:mail", "off", "", "ops", now - timedelta(hours=1)))
    assert list((await audited(late)).explained) == ["kind mail is off since 2030-01-07 11:20:00 UTC"]
    late.shell.run("delete from @controls")
    await late.do(late.store.take_rate("mail", 1, 2.0, "w", now - timedelta(hours=1)))
    assert not (await audited(late)).clean
    await late.do(late.store.take_rate("mail", 1, 2.0, "w", now))
    assert list((await audited(late)).explained) == ["channel mail sends as fast as its rate allows"]


async def test_nobody_serves_it(late: World) -> None:
    late.clock.advance(3_600)
    assert list((await audited(late)).explained) == ["no worker has served kind mail since 2030-01-07 12:20:00 UTC"]
    late.shell.run("delete from @kinds")
    report = await audited(late)
    assert report.explained == {"no worker has ever served kind mail": 1}
    assert report.clean
