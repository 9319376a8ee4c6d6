"""Pauses, throttles, modes and rates: what steers the workers."""

from __future__ import annotations

from datetime import timedelta

from ....domain.control import Control
from ....ports import Plan
from .clauses import Contract, Trial, clause

CHANNEL = "channel:mail"
RATES = ((0.7, 1), (1, 40), (3, 7), (10, 1), (10, 40), (50, 40), (333, 40))
"""Messages per second, and how many a lane would like at once."""


async def controls(trial: Trial) -> dict[str, Control]:
    return {control.scope: control for control in await trial.do(trial.store.read_controls())}


def minute_of(trial: Trial, rate: float, wanted: int) -> Plan[tuple[int, float]]:
    burst = max(1.0, rate * 0.1)
    total, worst = 0, 0.0
    for tick in range(60 * 20):
        granted, free_at = yield from trial.store.take_rate("mail", wanted, rate, "lane", trial.now())
        assert 0 <= granted <= wanted
        assert free_at >= trial.now()
        total += granted
        worst = max(worst, total - (rate * tick / 20 + burst))
        trial.advance(0.05)
    return total, worst


class Controlling(Contract):
    """Pauses, throttles, modes and rates."""

    @clause()
    async def test_a_pause_says_since_when_by_whom_and_why(self, trial: Trial) -> None:
        now = trial.now()
        await trial.do(trial.store.set_pause(CHANNEL, True, "migration", "ops", now))
        assert (await controls(trial))[CHANNEL] == Control(CHANNEL, now, None, None, "migration", "ops", now)
        later = trial.advance(5)
        await trial.do(trial.store.set_pause(CHANNEL, False, "done", "ops", later))
        assert (await controls(trial))[CHANNEL] == Control(CHANNEL, None, None, None, "done", "ops", later)

    @clause()
    async def test_a_throttle_is_never_shortened_and_a_resume_ends_it(self, trial: Trial) -> None:
        for seconds in (60, 30, 90):
            await trial.do(trial.store.throttle("mail", trial.at(seconds), "429", "lane", trial.now()))
            assert (await controls(trial))[CHANNEL].paused_until == trial.at(max(60, seconds))
        await trial.do(trial.store.set_pause(CHANNEL, False, "the provider is fine", "ops", trial.now()))
        assert (await controls(trial))[CHANNEL].paused_until is None

    @clause()
    async def test_a_throttle_leaves_a_persons_pause_and_its_reason(self, trial: Trial) -> None:
        now = trial.now()
        await trial.do(trial.store.set_pause(CHANNEL, True, "migration", "ops", now))
        await trial.do(trial.store.throttle("mail", trial.at(60), "429", "lane", now))
        control = (await controls(trial))[CHANNEL]
        assert (control.paused_at, control.reason) == (now, "migration")

    @clause()
    async def test_a_mode_and_a_pause_of_one_kind_live_side_by_side(self, trial: Trial) -> None:
        trial.declare()
        await trial.book.set_mode("mail", "shadow")
        await trial.book.pause(kind="mail", reason="stop")
        await trial.book.resume(kind="mail", reason="go")
        assert (await controls(trial))["kind:mail"].mode == "shadow"
        await trial.book.set_mode("mail", "live")
        assert (await controls(trial))["kind:mail"].mode == "live"

    @clause(*((rate, wanted, known) for rate, wanted in RATES for known in (False, True)))
    async def test_a_rate_is_never_exceeded_and_is_used_up(
        self, trial: Trial, rate: float, wanted: int, known: bool
    ) -> None:
        """A minute of a lane that is always hungry: at no moment more than rate x time plus the burst."""
        if known:
            await trial.do(trial.store.set_pause(CHANNEL, False, "", "ops", trial.now()))
        total, worst = await trial.do(minute_of(trial, rate, wanted))
        assert worst < 1, f"{worst:.1f} more than rate x time + burst"
        assert total >= min(rate * 60, wanted * 20 * 60) * 0.9

    @clause()
    async def test_a_rate_survives_a_pause_and_a_throttle(self, trial: Trial) -> None:
        granted, _ = await trial.do(trial.store.take_rate("mail", 1, 1, "lane", trial.now()))
        assert granted == 1
        await trial.do(trial.store.throttle("mail", trial.at(60), "429", "lane", trial.now()))
        await trial.do(trial.store.set_pause(CHANNEL, False, "go", "ops", trial.now()))
        assert (await trial.do(trial.store.take_rate("mail", 1, 1, "lane", trial.now())))[0] == 0

    @clause()
    async def test_taking_rate_pauses_nothing(self, trial: Trial) -> None:
        await trial.schedule("a")
        await trial.do(trial.store.take_rate("mail", 5, 1, "lane", trial.now()))
        assert len(await trial.claim()) == 1
        assert (await controls(trial))[CHANNEL].paused_until is None

    @clause()
    async def test_two_channels_do_not_share_a_rate(self, trial: Trial) -> None:
        await trial.do(trial.store.take_rate("mail", 1, 1, "lane", trial.now()))
        granted, free_at = await trial.do(trial.store.take_rate("push", 1, 1, "lane", trial.now()))
        assert (granted, free_at) == (1, trial.now() + timedelta(seconds=1))
