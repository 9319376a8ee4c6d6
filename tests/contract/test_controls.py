from datetime import timedelta

import pytest

from duebook.domain.control import Control
from duebook.ports import Plan
from tests.support.worlds import World

CHANNEL = "channel:mail"


async def controls(world: World) -> dict[str, Control]:
    return {control.scope: control for control in await world.do(world.store.read_controls())}


async def test_a_pause_says_since_when_by_whom_and_why(world: World) -> None:
    now = world.clock.now()
    await world.do(world.store.set_pause(CHANNEL, True, "migration", "ops", now))
    assert (await controls(world))[CHANNEL] == Control(CHANNEL, now, None, None, "migration", "ops", now)
    later = world.clock.advance(5)
    await world.do(world.store.set_pause(CHANNEL, False, "done", "ops", later))
    assert (await controls(world))[CHANNEL] == Control(CHANNEL, None, None, None, "done", "ops", later)


async def test_a_throttle_is_never_shortened_and_a_resume_ends_it(world: World) -> None:
    for seconds in (60, 30, 90):
        await world.do(world.store.throttle("mail", world.clock.at(seconds), "429", "lane", world.clock.now()))
        assert (await controls(world))[CHANNEL].paused_until == world.clock.at(max(60, seconds))
    await world.do(world.store.set_pause(CHANNEL, False, "the provider is fine", "ops", world.clock.now()))
    assert (await controls(world))[CHANNEL].paused_until is None


async def test_a_throttle_leaves_a_persons_pause_and_its_reason(world: World) -> None:
    now = world.clock.now()
    await world.do(world.store.set_pause(CHANNEL, True, "migration", "ops", now))
    await world.do(world.store.throttle("mail", world.clock.at(60), "429", "lane", now))
    control = (await controls(world))[CHANNEL]
    assert (control.paused_at, control.reason) == (now, "migration")


async def test_a_mode_and_a_pause_of_one_kind_live_side_by_side(world: World) -> None:
    world.declare()
    await world.book.set_mode("mail", "shadow")
    await world.book.pause(kind="mail", reason="stop")
    await world.book.resume(kind="mail", reason="go")
    assert (await controls(world))["kind:mail"].mode == "shadow"
    await world.book.set_mode("mail", "live")
    assert (await controls(world))["kind:mail"].mode == "live"


@pytest.mark.parametrize(
    ("rate", "wanted"), [(0.7, 1), (1, 40), (3, 7), (10, 1), (10, 40), (50, 40), (333, 40)], ids=str
)
@pytest.mark.parametrize("known", [False, True], ids=["first use", "controlled before"])
async def test_a_rate_is_never_exceeded_and_is_used_up(world: World, rate: float, wanted: int, known: bool) -> None:
    """A minute of a lane that is always hungry: at no moment more than rate x time plus the burst."""
    if known:
        await world.do(world.store.set_pause(CHANNEL, False, "", "ops", world.clock.now()))
    total, worst = await world.do(minute_of(world, rate, wanted))
    assert worst < 1, f"{worst:.1f} more than rate x time + burst"
    assert total >= min(rate * 60, wanted * 20 * 60) * 0.9


def minute_of(world: World, rate: float, wanted: int) -> Plan[tuple[int, float]]:
    burst = max(1.0, rate * 0.1)
    total, worst = 0, 0.0
    for tick in range(60 * 20):
        granted, free_at = yield from world.store.take_rate("mail", wanted, rate, "lane", world.clock.now())
        assert 0 <= granted <= wanted
        assert free_at >= world.clock.now()
        total += granted
        worst = max(worst, total - (rate * tick / 20 + burst))
        world.clock.advance(0.05)
    return total, worst


async def test_a_rate_survives_a_pause_and_a_throttle(world: World) -> None:
    granted, _ = await world.do(world.store.take_rate("mail", 1, 1, "lane", world.clock.now()))
    assert granted == 1
    await world.do(world.store.throttle("mail", world.clock.at(60), "429", "lane", world.clock.now()))
    await world.do(world.store.set_pause(CHANNEL, False, "go", "ops", world.clock.now()))
    assert (await world.do(world.store.take_rate("mail", 1, 1, "lane", world.clock.now())))[0] == 0


async def test_taking_rate_pauses_nothing(world: World) -> None:
    await world.schedule("a")
    await world.do(world.store.take_rate("mail", 5, 1, "lane", world.clock.now()))
    assert len(await world.claim()) == 1
    assert (await controls(world))[CHANNEL].paused_until is None


async def test_two_channels_do_not_share_a_rate(world: World) -> None:
    await world.do(world.store.take_rate("mail", 1, 1, "lane", world.clock.now()))
    granted, free_at = await world.do(world.store.take_rate("push", 1, 1, "lane", world.clock.now()))
    assert (granted, free_at) == (1, world.clock.now() + timedelta(seconds=1))
