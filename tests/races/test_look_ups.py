"""A provider that can be asked afterwards: what its answer is worth depends on who might still send."""

from dataclasses import dataclass, field

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.message import Email
from duebook.domain.outcome import Accepted, Uncertain
from duebook.domain.policy import ChannelPolicy
from duebook.ports import Found, LooksUp, Sought
from tests.support.engine import Crew, Gate, Recorder

SILENCE = Uncertain("no reply", "data")


@dataclass
class Register(Recorder):
    """A channel whose provider says what it knows."""

    says: Found | Exception = field(default_factory=lambda: Found("unknown"))
    sought: list[Sought] = field(default_factory=list)

    async def look_up(self, sought: Sought) -> Found:
        self.sought.append(sought)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


def register(crew: Crew, says: Found | Exception) -> Register:
    channel = Register(ChannelPolicy("mail"), says=says)
    crew.world.registry.channels["mail"] = channel
    return channel


async def leave_in_doubt(crew: Crew, channel: Register) -> None:
    channel.answers = [SILENCE]
    crew.kind()
    await crew.world.schedule("a")
    crew.lane()
    await crew.go_on(1)
    await crew.wait_until_quiet()


async def reconcile(crew: Crew) -> None:
    for _ in range(3):
        await crew.reconciler.step()


async def test_a_channel_without_the_method_is_never_asked(crew: Crew) -> None:
    assert not isinstance(crew.channel(), LooksUp)
    assert isinstance(register(crew, Found("unknown")), LooksUp)


async def test_it_asks_for_the_very_message_and_by_the_keys_it_was_sent_with(crew: Crew) -> None:
    channel = register(crew, Found("accepted", "p-77"))
    await leave_in_doubt(crew, channel)
    await reconcile(crew)
    ((message, context),) = channel.sent
    (sought,) = channel.sought
    assert isinstance(sought.message, Email)
    assert (sought.message, sought.number, sought.idempotency_key) == (message, 1, context.idempotency_key)


async def test_a_message_the_provider_has_is_accepted_by_evidence(crew: Crew) -> None:
    channel = register(crew, Found("accepted", "p-77"))
    await leave_in_doubt(crew, channel)
    await reconcile(crew)
    n = await crew.world.read("a")
    assert (n.state, n.basis, n.provider_id, n.doubt) == (State.ACCEPTED, "evidence", "p-77", 0)
    assert len(channel.sent) == 1


async def test_absence_proves_that_it_was_not_sent_where_its_worker_has_reported(crew: Crew) -> None:
    channel = register(crew, Found("absent"))
    await leave_in_doubt(crew, channel)
    await reconcile(crew)
    await crew.go_on(4)
    n = await crew.world.read("a")
    assert (n.state, n.basis, n.number) == (State.ACCEPTED, "reported", 2)


async def test_absence_proves_nothing_while_a_worker_that_never_reported_may_still_send(crew: Crew) -> None:
    channel = register(crew, Found("absent"))
    gate = Gate(Accepted("at last"))
    channel.answers = [gate]
    crew.kind()
    await crew.world.schedule("a")
    lane = crew.lane()
    await lane.until(lambda: gate.entered == 1)
    await crew.rescue()
    await crew.wait_until_quiet()
    await reconcile(crew)
    n = await crew.world.read("a")
    assert (n.state, n.doubt) == (State.UNCERTAIN, 1)
    assert len(channel.sought) == 1
    story = await crew.world.story("a")
    assert [item.says for item in story.evidence] == ["unknown"]
    assert "may still send it" in (story.evidence[0].detail or "")
    gate.open()
    await lane.settle_down()
    await reconcile(crew)
    assert (await crew.world.read("a")).basis == "evidence"


@pytest.mark.parametrize("says", [Found("unknown"), RuntimeError("the look-up broke")])
async def test_no_answer_leaves_it_to_a_person_and_is_on_record(crew: Crew, says: Found | Exception) -> None:
    channel = register(crew, says)
    await leave_in_doubt(crew, channel)
    await reconcile(crew)
    assert await crew.world.state("a") is State.UNCERTAIN
    assert len(channel.sought) == 1, "it is asked again only when it is looked at again"
    assert [item.says for item in (await crew.world.story("a")).evidence] == ["unknown"]
