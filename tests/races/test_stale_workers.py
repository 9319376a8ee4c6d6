"""A worker that was given up on comes back: its write changes nothing, and what it knows is kept as evidence."""

from typing import Any

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted, Outcome, Rejected, Retry, Throttled, Uncertain
from duebook.domain.recovery import Evidence
from duebook.engine.settings import EngineSettings
from tests.support.engine import Crew, Gate, Serving


async def lost(crew: Crew, *keys: str, then: Outcome | None = None) -> tuple[Serving, Gate]:
    """A lane whose sends hang, and whose leases ran out meanwhile."""
    channel = crew.channel() if "mail" not in crew.world.registry.channels else crew.world.registry.channels["mail"]
    assert hasattr(channel, "answers")
    gate = Gate(then or Accepted("p-late"))
    channel.answers = [gate] * len(keys)
    await crew.world.schedule(*keys)
    lane = crew.lane()
    await lane.settle_down()
    assert gate.entered == len(keys)
    await crew.rescue()
    for key in keys:
        assert await crew.world.state(key) is State.UNCERTAIN
    return lane, gate


async def reports(lane: Serving, gate: Gate) -> None:
    gate.open()
    await lane.settle_down()


async def reconcile(crew: Crew) -> None:
    for _ in range(20):
        if not await crew.reconciler.step():
            return


@pytest.mark.parametrize(
    ("outcome", "says", "end"),
    [
        (Accepted("p-late"), "accepted", State.ACCEPTED),
        (Rejected("550"), "rejected", State.REVIEW),
        (Retry("451"), "not_accepted", State.SCHEDULED),
        (Throttled("429"), "not_accepted", State.SCHEDULED),
        (Uncertain("silence"), "unknown", State.UNCERTAIN),
    ],
    ids=["accepted", "rejected", "retry", "throttled", "uncertain"],
)
async def test_what_a_stale_worker_says_changes_nothing_and_is_evidence(
    crew: Crew, outcome: Outcome, says: str, end: State
) -> None:
    crew.kind()
    lane, gate = await lost(crew, "a", then=outcome)
    before = await crew.world.read("a")
    await reports(lane, gate)
    assert await crew.world.read("a") == before
    story = await crew.world.story("a")
    assert [(e.number, e.source, e.says) for e in story.evidence] == [(1, "late_report", says)]
    assert [a.outcome for a in story.attempts] == ["lost"]
    await reconcile(crew)
    n = await crew.world.read("a")
    assert n.state is end
    if end is State.ACCEPTED:
        assert (n.basis, n.provider_id, n.doubt) == ("evidence", "p-late", 0)
    elif end is not State.UNCERTAIN:
        assert n.doubt == 0


@pytest.mark.parametrize("seconds", [15.1, 19.9])
async def test_the_rescuer_has_a_grace_for_long_lock_waits(crew: Crew, seconds: float) -> None:
    crew.kind()
    channel = crew.channel()
    gate = Gate()
    channel.answers = [gate]
    await crew.world.schedule("a")
    lane = crew.lane()
    await lane.settle_down()
    crew.world.clock.advance(seconds)
    await crew.rescuer.step()
    assert await crew.world.state("a") is State.SENDING
    await reports(lane, gate)
    assert (await crew.world.read("a")).basis == "reported"


async def test_a_lane_that_is_alive_keeps_its_leases(crew: Crew) -> None:
    crew.kind()
    channel = crew.channel(send_seconds=300)
    gate = Gate()
    channel.answers = [gate]
    await crew.world.schedule("a")
    lane = crew.lane()
    await lane.settle_down()
    for _ in range(60):
        crew.world.clock.advance(2)
        await lane.settle_down()
        await crew.rescuer.step()
    assert await crew.world.state("a") is State.SENDING
    await reports(lane, gate)
    assert await crew.world.state("a") is State.ACCEPTED


ALREADY_ENDED: dict[str, tuple[State, Any]] = {
    "dropped by a person": (State.DROPPED, "drop"),
    "ruled as sent": (State.ACCEPTED, "sent"),
    "assumed": (State.ACCEPTED, "assume"),
    "accepted by a repeat": (State.ACCEPTED, "repeat"),
}


@pytest.mark.parametrize("name", ALREADY_ENDED)
@pytest.mark.parametrize(
    "outcome", [Accepted("p-late"), Rejected("550"), Retry("451")], ids=["accepted", "no", "retry"]
)
async def test_evidence_about_one_that_has_ended_does_not_stop_the_reconciler(
    crew: Crew, name: str, outcome: Outcome
) -> None:
    """Another notification waits for it; one late report must not hold up the rest for ever."""
    world = crew.world
    end, how = ALREADY_ENDED[name]
    crew.kind(on_uncertain="assume_sent" if how == "assume" else "hold")
    lane, gate = await lost(crew, "a", then=outcome)
    if how == "assume":
        await crew.wait_until_quiet()
        await reconcile(crew)
    else:
        await world.book.resolve("mail", "a", "resend" if how == "repeat" else how, reason="she said so")
    if how == "repeat":
        second = crew.lane(holder="worker-2")
        await second.settle_down()
    assert await world.state("a") is end
    await reports(lane, gate)
    other, other_gate = await lost(crew, "b")
    await reports(other, other_gate)
    await reconcile(crew)
    assert [await world.state(key) for key in "ab"] == [end, State.ACCEPTED]
    assert await world.do(world.store.lock_evidenced(["mail"], 10)) == []


async def test_late_evidence_stops_a_repeat_that_waits_for_its_turn(crew: Crew) -> None:
    crew.kind()
    lane, gate = await lost(crew, "a")
    await crew.world.book.resolve("mail", "a", "resend", reason="she says it never came")
    lane.tasks.stop()
    await reports(lane, gate)
    await reconcile(crew)
    second = crew.lane(holder="worker-2")
    await second.settle_down()
    assert len(lane.channel.sent) == 1
    assert (await crew.world.read("a")).basis == "evidence"


async def test_proof_about_one_attempt_says_nothing_about_the_next(crew: Crew) -> None:
    """The first attempt is proved absent and repeated; then the second is in doubt, and for that there is no proof.

    With a batch of one the proof is read on the way of uncertain ones, not on the way of evidence.
    """
    world = crew.world
    crew.settings = EngineSettings(batch=1)
    crew.kind()
    lane, gate = await lost(crew, "first", "second", then=Retry("451"))
    await reports(lane, gate)
    channel = lane.channel
    sent = len(channel.sent)
    await crew.wait_until_quiet()
    await crew.reconciler.step()
    channel.answers = [Uncertain("silence"), Uncertain("silence")]
    again = crew.lane(holder="worker-2")
    await again.settle_down()
    await again.settle_down()
    for _ in range(8):
        await crew.reconciler.step()
    await crew.wait_until_quiet()
    for _ in range(8):
        await crew.reconciler.step()
        await crew.go_on(1)
    for key in ("first", "second"):
        n = await world.read(key)
        assert (n.state, n.doubt, n.number) == (State.UNCERTAIN, 1, 2), f"{len(channel.sent) - sent} more were sent"


@pytest.mark.parametrize("source", ["lookup", "receipt"])
async def test_absence_proves_nothing_while_the_message_may_still_be_on_its_way(crew: Crew, source: str) -> None:
    """Race 15: its worker has not reported and may send when it wakes; only the quiet time says that it is dead."""
    crew.kind()
    await lost(crew, "a")
    n = await crew.world.read("a")
    absent = Evidence(n.id, 1, crew.world.clock.now(), source, "not_accepted")  # type: ignore[arg-type]
    await crew.world.do(crew.world.store.record_evidence([absent]))
    await reconcile(crew)
    assert await crew.world.state("a") is State.UNCERTAIN
    await crew.wait_until_quiet()
    await reconcile(crew)
    assert await crew.world.state("a") is State.SCHEDULED


async def test_evidence_of_an_acceptance_is_believed_at_once_whoever_brings_it(crew: Crew) -> None:
    crew.kind()
    await lost(crew, "a")
    n = await crew.world.read("a")
    seen = Evidence(n.id, 1, crew.world.clock.now(), "receipt", "accepted", "p-7")
    await crew.world.do(crew.world.store.record_evidence([seen]))
    await reconcile(crew)
    assert (await crew.world.read("a")).provider_id == "p-7"


@pytest.mark.parametrize(("policy", "end"), [("hold", State.UNCERTAIN), ("assume_sent", State.ACCEPTED)])
async def test_a_policy_waits_for_the_quiet_time(crew: Crew, policy: Any, end: State) -> None:
    crew.kind(on_uncertain=policy)
    await lost(crew, "a")
    crew.world.clock.advance(30)
    await reconcile(crew)
    assert await crew.world.state("a") is State.UNCERTAIN
    await crew.wait_until_quiet()
    await reconcile(crew)
    n = await crew.world.read("a")
    assert n.state is end
    assert n.basis == ("assumed" if end is State.ACCEPTED else None)
