"""A channel that wants less: who goes on, when, and how many at a time."""

from datetime import timedelta

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted, Rejected, Retry, Throttled
from duebook.domain.policy import ChannelPolicy
from duebook.domain.retry import Backoff
from duebook.engine.pacing import LONGEST_PAUSE, Pacing
from tests.support.engine import Crew, Gate

PAUSE = timedelta(seconds=30)
DOWN = Retry("connection refused")


async def several(crew: Crew, number: int) -> None:
    await crew.world.schedule(*[f"k{position:02}" for position in range(number)])


async def test_a_throttle_stops_every_worker_and_uses_no_attempt(crew: Crew) -> None:
    channel = crew.channel(concurrency=2, pause=PAUSE)
    channel.answers = [Throttled("429"), Throttled("429")]
    crew.kind(retry=Backoff(attempts=2))
    await several(crew, 6)
    crew.lane(holder="one")
    crew.lane(holder="two")
    await crew.go_on(25)
    assert len(channel.sent) <= 4, "what was on the wire already, and nothing after the pause was on record"
    found = [await crew.world.read(f"k{position:02}") for position in range(6)]
    assert {n.budget_used for n in found} == {0}


async def test_after_a_pause_one_send_tries_it_out_for_all_workers(crew: Crew) -> None:
    channel = crew.channel(concurrency=4, pause=PAUSE)
    channel.answers = [Throttled("429")]
    crew.kind()
    await several(crew, 1)
    one, two = crew.lane(holder="one"), crew.lane(holder="two")
    await crew.go_on(2)
    await several_more(crew, 8)
    gate = Gate(Accepted("p"))
    channel.answers = [gate]
    crew.world.clock.advance(PAUSE.total_seconds())
    await crew.lookout.step()
    await one.until(lambda: gate.entered == 1)
    await two.settle_down()
    assert len(channel.sent) == 2, "the throttled one, and the one that tries it out"
    gate.open()
    await crew.go_on(4)
    assert len(channel.sent) == 1 + 9


async def several_more(crew: Crew, number: int) -> None:
    await crew.world.schedule(*[f"m{position:02}" for position in range(number)])


async def test_a_probe_that_is_throttled_lets_nobody_else_try(crew: Crew) -> None:
    channel = crew.channel(concurrency=4, pause=PAUSE)
    channel.answers = [Throttled("429")] * 50
    crew.kind()
    await several(crew, 8)
    crew.lane(holder="one")
    crew.lane(holder="two")
    await crew.go_on(2)
    before = len(channel.sent)
    for _ in range(2):
        crew.world.clock.advance(PAUSE.total_seconds())
        await crew.go_on(3)
    assert len(channel.sent) - before == 2, "one probe for each pause"


async def test_a_dead_prober_is_followed_by_another(crew: Crew) -> None:
    channel = crew.channel(concurrency=1, pause=PAUSE)
    gate = Gate()
    channel.answers = [Throttled("429"), gate]
    crew.kind()
    await several(crew, 2)
    one = crew.lane(holder="one")
    await crew.go_on(2)
    crew.world.clock.advance(PAUSE.total_seconds())
    await crew.lookout.step()
    await one.until(lambda: gate.entered == 1)
    await one.die()
    crew.lanes.clear()
    crew.lane(holder="two")
    await crew.go_on(3)
    assert len(channel.sent) == 2
    await crew.rescue()
    await crew.go_on(40)
    assert len(channel.sent) == 3


async def test_an_outage_opens_the_breaker_before_it_uses_up_attempts(crew: Crew) -> None:
    channel = crew.channel(concurrency=5, breaker=5, pause=PAUSE)
    channel.answers = [DOWN] * 8
    crew.kind(retry=Backoff(attempts=3))
    await several(crew, 20)
    crew.lane()
    await crew.go_on(20)
    assert len(channel.sent) == 5
    (control,) = await crew.world.do(crew.world.store.read_controls())
    assert "breaker is open" in (control.reason or "")
    assert control.throttle(crew.world.clock.now()) == "open"
    for _ in range(20):
        crew.world.clock.advance(30)
        await crew.go_on(3)
    states = [await crew.world.state(f"k{position:02}") for position in range(20)]
    assert set(states) == {State.ACCEPTED}
    assert len(channel.sent) == 5 + 3 + 20


async def test_a_breaker_of_nought_never_opens(crew: Crew) -> None:
    channel = crew.channel(concurrency=5, breaker=0)
    channel.answers = [DOWN] * 30
    crew.kind(retry=Backoff(attempts=1))
    await several(crew, 30)
    crew.lane()
    await crew.go_on(10)
    assert len(channel.sent) == 30


class TestPacing:
    def pacing(self, **policy: int) -> Pacing:
        return Pacing(ChannelPolicy("mail", **{"concurrency": 16, **policy}))  # type: ignore[arg-type]

    def test_a_throttle_halves_and_good_sends_bring_it_back_one_by_one(self) -> None:
        pacing = self.pacing()
        pacing.throttled()
        assert pacing.size == 8
        for _ in range(8):
            pacing.answered()
        assert pacing.size == 9
        for _ in range(200):
            pacing.answered()
        assert pacing.size == 16, "never over what the channel declares"

    def test_it_never_falls_below_one(self) -> None:
        pacing = self.pacing(concurrency=3)
        for _ in range(5):
            pacing.throttled()
        assert pacing.size == 1

    @pytest.mark.parametrize("answer", [Accepted("p"), Rejected("no such mailbox")])
    def test_an_answer_between_failures_keeps_the_breaker_closed(self, answer: object) -> None:
        pacing = self.pacing(breaker=3)
        for _ in range(10):
            assert pacing.failed(probing=False) is None
            assert pacing.failed(probing=False) is None
            pacing.answered()

    def test_the_pause_doubles_while_the_outage_lasts_up_to_a_limit(self) -> None:
        pacing = self.pacing(breaker=1)
        pauses = [pacing.failed(probing=True) for _ in range(8)]
        assert pauses[:3] == [PAUSE, 2 * PAUSE, 4 * PAUSE]
        assert pauses[-1] == LONGEST_PAUSE
        pacing.answered()
        assert pacing.failed(probing=False) == PAUSE
