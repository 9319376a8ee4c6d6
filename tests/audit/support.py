"""A database with something in every state, and an audit of it."""

from datetime import timedelta
from typing import Any

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted, Rejected
from duebook.engine.auditor import Auditor, Report
from tests.support.clock import START
from tests.support.worlds import World, retry

LONG_AGO = (START - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
LATER = (START + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000000Z")


async def audited(world: World, **options: Any) -> Report:
    return await Auditor(world.database, world.store, **options).report()


async def populate(world: World) -> None:
    """One in every state under the state's name; and `again`, accepted the second time; `refused`, rejected by the
    channel; `redriven`, back from review; `permitted`, to be repeated although in doubt."""
    await serve(world)
    for state in State:
        if state not in (State.SCHEDULED, State.CLAIMED):
            await world.bring(state.value, state)
    await world.settle(await world.sending("refused"), Rejected("550 no such mailbox"))
    await world.settle(await world.sending("again"), retry())
    world.clock.advance(3)
    (intent,) = await world.begin(*await world.claim())
    await world.settle(intent, Accepted("p-2"))
    await world.bring("redriven", State.REVIEW)
    await world.book.redrive("mail", "redriven", reason="the address is right now")
    await world.book.reschedule("mail", "redriven", at=world.clock.at(3_600))
    await world.doubted("permitted")
    await world.book.reschedule("mail", "permitted", at=world.clock.at(3_600))
    await world.bring("claimed", State.CLAIMED)
    await world.bring("scheduled", State.SCHEDULED, due=3_600)


async def serve(world: World) -> None:
    """Have a worker say that it serves the kind."""
    kind = world.registry.kinds.get("mail") or world.declare()
    await world.do(world.store.register_kinds([kind], world.clock.now()))


def of(key: str) -> str:
    return f"(select id from @notifications where key = '{key}')"
