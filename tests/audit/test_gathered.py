"""Reminders of unread messages and digests: each invariant, broken alone, is found alone; and what explains a wait."""

from datetime import timedelta

import pytest

from duebook.domain.decision import Due
from duebook.domain.message import Email
from duebook.domain.outcome import Rejected
from duebook.domain.policy import DigestPolicy, Retention, UnreadPolicy
from duebook.engine.digester import Digester
from tests.audit.support import LONG_AGO, audited
from tests.support.engine import SETTINGS, Crew
from tests.support.worlds import World

IN_BOTH = pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)
HOUR_SECONDS = 3_600
DAY = timedelta(days=1)
THE_LAST = "notification_id = (select max(notification_id) from @covers)"
IN_THE_FIRST = "item = 'a' and recipient = 'ann'"

BROKEN = {
    "cover_has_its_notification": [
        ("update @covers set recipient = 'eve'", "it is for eve, its notification for another"),
        (f"update @covers set notification_id = 99 where {THE_LAST}", "it speaks for a notification that is not"),
    ],
    "cover_ends_in_its_conversation": [
        ("update @covers set to_position = 9", "it covers up to 9, and the conversation ends at 2"),
    ],
    "digest_holds_what_it_froze": [
        (f"delete from @digest_items where {IN_THE_FIRST}", "1 items are in it, and 2 should be"),
        ("update @digests set outcome = 'released' where recipient = 'ann'", "2 items are in it, and 0 should be"),
    ],
    "unsent_digest_is_seen_to": [
        ("update @digests set outcome = null where recipient = 'bob'", "it was dropped, and nothing was done"),
    ],
    "item_has_its_digest": [
        ("delete from @digests where recipient = 'ann'", "it is in the digest 1894"),
    ],
    "waiting_item_is_looked_for": [
        ("update @digest_cursors set next_close_at = null where recipient = 'cid'", "no period is to be closed"),
        (f"update @digest_items set ready_at = '{LONG_AGO}' where item = 'waits'", "it waits since before"),
    ],
    "period_is_seen_to": [
        (f"update @digest_cursors set next_close_at = '{LONG_AGO}' where recipient = 'cid'", "nobody saw to it"),
    ],
}  # fmt: skip
CASES = [
    pytest.param(check, sql, said, id=f"{check}-{number}")
    for check, cases in BROKEN.items()
    for number, (sql, said) in enumerate(cases)
]


async def telling(due: Due) -> Email:
    return Email(to="ann@example.org", subject=due.key, text="…")


@pytest.fixture
def staffed(crew: Crew) -> Crew:
    crew.channel()
    crew.kind("chat", telling, unread=UnreadPolicy(after=timedelta(minutes=1)))
    crew.kind("news", telling, digest=DigestPolicy(limit=2, unsent="undelivered"))
    return crew


async def close(world: World) -> None:
    await Digester(world.registry, world.database, world.store, world.clock, SETTINGS, {}).step()


async def populate(crew: Crew) -> None:
    """Two messages of which one reminder told; a digest that was delivered, one that was dropped, and an item that
    waits."""
    world = crew.world
    for message in ("m1", "m2"):
        await world.book.unread.posted("chat", "room", message, author="bob", recipients=["ann"])
    for recipient, item in (("ann", "a"), ("ann", "b"), ("bob", "a")):
        await world.book.digests.add("news", recipient, item)
    world.clock.advance(HOUR_SECONDS)
    await close(world)
    lane = crew.lane()
    lane.channel.answers += [Rejected("no such mailbox")] * 3
    lane.lane.expect(0.0)
    await lane.settle_down()
    for n in await world.book.search(state="review", kind="news"):
        if n.recipient == "bob":
            await world.book.drop("news", n.key, reason="no use")
        else:
            await world.book.redrive("news", n.key, reason="again")
    for n in await world.book.search(state="review", kind="chat"):
        await world.book.redrive("chat", n.key, reason="again")
    await crew.go_on(12)
    await world.book.digests.add("news", "cid", "waits")
    await world.do(world.store.register_kinds(list(world.registry.kinds.values()), world.clock.now()))


@IN_BOTH
async def test_what_holds_is_clean_and_is_read_page_after_page(staffed: Crew) -> None:
    await populate(staffed)
    report = await audited(staffed.world, page=1)
    assert report.violations == []
    assert {name: report.read[name] for name in ("covers", "digests", "digest items", "digest periods")} == {
        "covers": 2, "digests": 2, "digest items": 4, "digest periods": 3,
    }  # fmt: skip


@IN_BOTH
@pytest.mark.parametrize(("check", "sql", "said"), CASES)
async def test_what_is_broken_is_found(staffed: Crew, defenceless: World, check: str, sql: str, said: str) -> None:
    await populate(staffed)
    defenceless.shell.run(sql)
    report = await audited(defenceless)
    assert check in report.counts
    assert any(said in violation.found for violation in report.violations if violation.check == check)


@IN_BOTH
async def test_a_period_that_nobody_serves_is_explained(staffed: Crew) -> None:
    await populate(staffed)
    world = staffed.world
    world.clock.advance(2 * HOUR_SECONDS)
    report = await audited(world)
    assert report.clean
    assert [reason.startswith("no worker has served kind news since") for reason in report.explained] == [True]


@IN_BOTH
async def test_what_retention_and_forgetting_leave_behind_is_clean(crew: Crew) -> None:
    world, _ = crew.world, crew.channel()
    keep = Retention(DAY, DAY, DAY)
    crew.kind("chat", telling, unread=UnreadPolicy(after=timedelta(minutes=1)), retention=keep)
    crew.kind("news", telling, digest=DigestPolicy(limit=2, unsent="undelivered"), retention=keep)
    await populate(crew)
    await world.book.forget("ann")
    assert (await audited(world)).violations == []
    for _ in range(3):
        world.clock.advance(DAY.total_seconds())
        await world.do(world.store.register_kinds(list(world.registry.kinds.values()), world.clock.now()))
        await close(world)
        await crew.go_on(2)
        while await crew.pruner.step():
            pass
        assert (await audited(world)).violations == []
    assert world.shell.value("select count(*) from @digests where recipient <> 'cid'") == 0
