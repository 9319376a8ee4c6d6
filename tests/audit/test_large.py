"""An audit of many holds few of them at a time, however many are wrong."""

import tracemalloc

import pytest

from duebook.engine.auditor import Auditor
from tests.support.worlds import World

ROWS = 50_000
HELD = 12 * 2**20

FILL = f"""
    insert into @notifications (
        id, kind, key, recipient, namespace, channel, priority, data, due_at, state, event, version, wake_at,
        created_at, moved_at)
    with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < {ROWS})
    select i, 'mail', 'k' || i, 'r' || i, 'test', 'mail', 1, '{{}}', '2031-01-01T00:00:00.000000Z', 'scheduled',
        'schedule', 1, '2031-01-01T00:00:00.000000Z', '2030-01-01T00:00:00.000000Z', '2030-01-01T00:00:00.000000Z'
    from numbers"""


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_memory_is_bounded(world: World) -> None:
    world.shell.run(FILL)
    world.shell.run("delete from @identities where notification_id > 45000 and notification_id % 2 = 0")
    auditor = Auditor(world.database, world.store, examples=3, page=1_000)
    heard: list[int] = []
    tracemalloc.start()
    try:
        report = await auditor.report(heard.append)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < HELD
    assert report.counts == {"identity_points_back": 2_500}
    assert [violation.subject for violation in report.violations] == ["mail/k45002", "mail/k45004", "mail/k45006"]
    assert report.read == {"notifications": ROWS, "identities": ROWS - 2_500}
    assert sum(heard) == 2 * ROWS - 2_500
    assert max(heard) == 1_000
    assert await world.do(world.store.audit_size()) in (3 * ROWS, 3 * ROWS - 1)
