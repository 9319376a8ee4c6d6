"""Race 15: what may be sent a second time, when, and with which bytes."""

from datetime import timedelta
from typing import Any

import pytest

from duebook.domain.decision import Decision, Due, Skip
from duebook.domain.lifecycle import State
from duebook.domain.message import Email
from duebook.domain.outcome import Accepted, Rejected, Retry, Uncertain
from duebook.domain.retry import Backoff
from tests.support.engine import Crew

SILENCE = Uncertain("no reply", "data")
WINDOW = timedelta(hours=1)


async def begin_again(crew: Crew, *, wait: float = 0, **kind: Any) -> None:
    """One attempt in doubt, whose kind wants it repeated; then `wait` seconds until somebody looks."""
    crew.kind(on_uncertain="resend", **kind)
    await crew.world.schedule("a")
    for channel in crew.world.registry.channels:
        crew.lane(channel)
    await crew.go_on(1)
    await crew.wait_until_quiet()
    await crew.reconciler.step()
    crew.world.clock.advance(wait)
    await crew.go_on(11)


async def test_a_keyed_repeat_goes_out_with_the_very_same_bytes(crew: Crew) -> None:
    texts = iter(["first", "second", "third"])

    async def changing(due: Due) -> Decision:
        return Email(to="ann@example.org", subject="hi", text=next(texts))

    channel = crew.channel(key_window=WINDOW)
    channel.answers = [SILENCE]
    await begin_again(crew, handler=changing)
    (one, first), (two, second) = channel.sent
    assert one == two
    assert (first.idempotency_key, first.message_id, first.rendered_at) == (
        second.idempotency_key, second.message_id, second.rendered_at,
    )  # fmt: skip
    assert (first.number, second.number) == (1, 2)
    assert await crew.world.state("a") is State.ACCEPTED


async def test_a_provably_unaccepted_one_is_decided_afresh(crew: Crew) -> None:
    texts = iter(["first", "second"])

    async def changing(due: Due) -> Decision:
        return Email(to="ann@example.org", subject="hi", text=next(texts))

    channel = crew.channel()
    channel.answers = [Retry("451")]
    crew.kind(handler=changing)
    await crew.world.schedule("a")
    crew.lane()
    await crew.go_on(5)
    assert [getattr(message, "text", "") for message, _ in channel.sent] == ["first", "second"]


@pytest.mark.parametrize(
    ("wait", "repeated"), [(0, True), (3_600 - 200, True), (3_600 - 95, False), (3_600, False), (90_000, False)]
)
async def test_a_repeat_goes_out_only_if_the_window_is_still_open_when_it_begins(
    crew: Crew, wait: float, repeated: bool
) -> None:
    channel = crew.channel(key_window=WINDOW)
    channel.answers = [SILENCE]
    await begin_again(crew, wait=wait)
    n = await crew.world.read("a")
    assert len(channel.sent) == 1 + repeated
    assert (n.state, n.doubt) == ((State.ACCEPTED, 1) if repeated else (State.UNCERTAIN, 1))


async def test_without_a_key_window_nothing_in_doubt_is_repeated(crew: Crew) -> None:
    channel = crew.channel()
    channel.answers = [SILENCE]
    await begin_again(crew)
    assert (len(channel.sent), await crew.world.state("a")) == (1, State.UNCERTAIN)


async def test_a_repeat_does_not_move_to_a_channel_that_never_saw_its_key(crew: Crew) -> None:
    """The window belongs to the provider that was asked first; another one would take it as new."""
    channels = iter([None, "push", "push"])

    async def fickle(due: Due) -> Decision:
        return Email(to="ann@example.org", subject="hi", text="hi", channel=next(channels))

    channel = crew.channel(key_window=WINDOW)
    push = crew.channel("push", key_window=WINDOW)
    channel.answers = [SILENCE]
    await begin_again(crew, handler=fickle)
    assert (len(channel.sent), len(push.sent)) == (2, 0)


@pytest.mark.parametrize(
    ("outcome", "state", "wanted"),
    [
        (Rejected("same key, other body"), State.UNCERTAIN, State.REVIEW),
        (SILENCE, State.UNCERTAIN, None),
        (Accepted("p-2"), State.ACCEPTED, None),
        (Retry("451"), State.SCHEDULED, None),
    ],
    ids=["rejected", "silence", "accepted", "retry"],
)
async def test_the_outcome_of_a_repeat_does_not_resolve_the_first_attempt(
    crew: Crew, outcome: Any, state: State, wanted: State | None
) -> None:
    channel = crew.channel(key_window=WINDOW)
    crew.kind(on_uncertain="resend", retry=Backoff(ceiling=timedelta(hours=1), attempts=20))
    channel.answers = [SILENCE, outcome]
    await crew.world.schedule("a")
    crew.lane()
    await crew.go_on(1)
    await crew.wait_until_quiet()
    await crew.reconciler.step()
    await crew.go_on(1)
    n = await crew.world.read("a")
    assert (len(channel.sent), n.state, n.wanted) == (2, state, wanted)
    assert n.doubt == (2 if outcome is SILENCE else 1)


async def test_a_handler_that_says_skip_while_in_doubt_leaves_it_uncertain(crew: Crew) -> None:
    answers: list[Decision] = [Email(to="ann@example.org", subject="hi", text="hi"), Skip("read")]

    async def handler(due: Due) -> Decision:
        assert due.in_doubt is (due.number == 2)
        return answers.pop(0)

    channel = crew.channel(key_window=WINDOW)
    channel.answers = [SILENCE]
    await begin_again(crew, handler=handler)
    n = await crew.world.read("a")
    assert (n.state, n.wanted, len(channel.sent)) == (State.UNCERTAIN, State.SKIPPED, 1)
    await crew.wait_until_quiet()
    await crew.reconciler.step()
    await crew.go_on(11)
    assert len(channel.sent) == 1


async def test_a_provider_that_never_answers_is_asked_no_more_often_than_the_budget_allows(crew: Crew) -> None:
    channel = crew.channel(key_window=timedelta(hours=24))
    channel.answers = [SILENCE] * 1_000
    crew.kind(on_uncertain="resend", retry=Backoff(attempts=3))
    await crew.world.schedule("a")
    crew.lane()
    for _ in range(12):
        await crew.go_on(11)
        await crew.wait_until_quiet()
        await crew.reconciler.step()
    assert (len(channel.sent), await crew.world.state("a")) == (3, State.UNCERTAIN)


LIVES = ["untouched", "rescheduled", "rearmed", "handed back by a worker that stopped"]


@pytest.mark.parametrize("life", LIVES)
async def test_an_outage_of_the_workers_uses_up_nobodys_patience(crew: Crew, life: str) -> None:
    """Three days without a worker; the first attempt is refused for the moment, and must be tried again."""
    world = crew.world
    channel = crew.channel()
    crew.kind()
    await world.schedule("a", due=60)
    if life == "rescheduled":
        await world.book.reschedule("mail", "a", after=timedelta(hours=1))
    elif life == "rearmed":
        await world.book.cancel("mail", "a")
        await world.book.schedule("mail", "a", recipient="ann", after=timedelta(hours=1), if_exists="rearm")
    elif life.startswith("handed back"):
        world.clock.advance(60)
        lane = crew.lane()
        await world.database.run(world.store.set_pause("channel:mail", True, "x", "ops", world.clock.now()))
        await world.database.run(world.store.set_pause("channel:mail", False, "x", "ops", world.clock.now()))
        lane.lane.round([])
        while not lane.lane.held:
            lane.lane.round(await lane.tasks.wait(5))
        lane.tasks.stop()
        await lane.settle_down()
        crew.lanes.clear()
        assert (await world.read("a")).state is State.SCHEDULED
    world.clock.advance(3 * 86_400)
    channel.answers = [Retry("451 in a moment")]
    crew.lane(holder="worker-2")
    await crew.go_on(5)
    assert await world.state("a") is State.ACCEPTED
