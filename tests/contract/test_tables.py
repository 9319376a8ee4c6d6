"""What is left in the tables themselves, where no verb of the store would show it."""

from datetime import timedelta

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.outcome import Accepted
from duebook.domain.policy import Retention
from duebook.stores import catalog
from tests.support.worlds import World

KEPT = ("notifications", "identities", "attempts", "history", "evidence")


async def test_a_notification_takes_its_ledger_and_its_history_along(world: World) -> None:
    kind = world.declare(retention=Retention(timedelta(0), timedelta(0), timedelta(0)))
    await world.doubted("a", Accepted("p-1"))
    story = await world.story("a")
    assert (len(story.attempts), len(story.history)) == (2, 1)
    for _ in range(3):
        world.clock.advance(1)
        await world.do(world.store.prune(kind, world.now(), 10))
    left = {table: world.shell.value(f"select count(*) from @{table}") for table in KEPT}
    assert left == {"notifications": 0, "identities": 1, "attempts": 0, "history": 0, "evidence": 0}


@pytest.mark.parametrize("state", [State.SCHEDULED, State.CLAIMED, State.REVIEW, State.ACCEPTED, State.SKIPPED])
async def test_a_forgotten_person_is_in_no_table(world: World, state: State) -> None:
    world.declare(keep_copy="full")
    await world.bring("a", state, recipient="ann@example.org", data='{"name": "Ann"}')
    await world.schedule("b", recipient="bob@example.org", data='{"name": "Bob"}')
    await world.book.forget("ann@example.org")
    on_record = "".join(str(world.shell.run(f"select * from @{table}")) for table in KEPT)
    assert "ann@example.org" not in on_record
    assert "bob@example.org" in on_record


async def test_the_version_of_the_schema_is_that_of_the_last_migration(world: World) -> None:
    assert await world.do(world.store.read_schema()) == catalog.migrations(world.dialect)[-1][0]
