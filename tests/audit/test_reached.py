"""Receipts and suppressions: each invariant, broken alone, is found alone; and what retention may leave."""

import pytest

from duebook.domain.lifecycle import State
from duebook.domain.receipt import Receipt
from tests.audit.support import audited, of, serve
from tests.support.worlds import World

IN_BOTH = pytest.mark.parametrize("world", ["memory", "postgres"], indirect=True)

BROKEN = {
    "receipt_has_its_attempt": [
        ("update @receipts set number = 2 where id = 'ended'", "attempt 2 of notification 1, which was never made"),
        ("update @receipts set notification_id = 99 where id = 'ended'", "notification 99, which does not exist"),
        (f"update @receipts set notification_id = {of('waits')} where id = 'wired'", "which was never made"),
    ],
    "suppression_can_be_met": [
        ("update @suppressions set address = 'Ann@example.org'", "its capital letters match no message"),
    ],
}
CASES = [
    pytest.param(check, sql, said, id=f"{check}-{number}")
    for check, cases in BROKEN.items()
    for number, (sql, said) in enumerate(cases)
]


async def populate(world: World) -> None:
    """A receipt of an attempt that ended, one of the attempt on the wire, and one of nothing that is known."""
    await serve(world)
    ended = await world.bring("ended", State.ACCEPTED)
    wired = await world.sending("wired")
    await world.bring("waits", State.SCHEDULED, due=3_600)
    now = world.clock.now()
    receipts = [Receipt("resend", id, "delivered", now) for id in ("ended", "wired", "unknown")]
    await world.do(world.store.put_receipts(receipts, now))
    attempts = await world.do(world.store.read_referred_attempts([ended.id, wired.id], []))
    await world.do(world.store.match_receipts(list(zip(receipts, attempts, strict=False))))
    await world.book.receipts.suppress("mail", "Ann@Example.org", reason="it bounced for good")


@IN_BOTH
@pytest.mark.parametrize(("check", "sql", "said"), CASES)
async def test_a_broken_invariant_is_found_and_nothing_else(
    defenceless: World, check: str, sql: str, said: str
) -> None:
    await populate(defenceless)
    report = await audited(defenceless)
    assert report.clean, report.violations
    defenceless.shell.run(sql)
    report = await audited(defenceless)
    assert [(violation.check, said in violation.found) for violation in report.violations] == [(check, True)], report


@IN_BOTH
async def test_page_after_page_is_read(world: World) -> None:
    await populate(world)
    await world.book.receipts.suppress("mail", "bob@example.org", reason="it bounced for good")
    report = await audited(world, page=1)
    assert report.clean
    assert (report.read["receipts"], report.read["suppressions"]) == (2, 2)


@IN_BOTH
async def test_a_receipt_may_outlive_the_ledger_of_its_notification(defenceless: World) -> None:
    await populate(defenceless)
    defenceless.shell.run(f"delete from @attempts where notification_id = {of('ended')}")
    defenceless.shell.run("update @notifications set pruned = 2, message = null where key = 'ended'")
    assert (await audited(defenceless)).clean
