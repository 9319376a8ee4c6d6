"""The least that a drain can cost on PostgreSQL: three set-based statements and nothing else.

Claim, begin and settle in batches of 200 on one asyncpg connection, each in its own commit, on duebook's own tables
with their triggers, checks and indexes. What it leaves out: the handler, the channel, freezing and hashing a message of
each its own (all rows get the same one), the fence of each row, pauses and fairness, and the ledger's insert.
"""

from __future__ import annotations

import time

import asyncpg

from .subject import CHANNEL, settle_down

BATCH = 200
MESSAGE = '{"body": "Number 1, as you asked.", "channel": null, "data": {}, "title": "Your return is due", "to": "you"}'

CLAIM = """
update duebook.notifications set
    state = 'claimed', event = 'claim', version = version + 1, moved_at = now(), wake_at = null,
    lease_until = now() + interval '15 seconds', holder = 'raw'
where id = any (array(
    select id from duebook.notifications
    where channel = $1 and priority = 1 and not alone and wake_at <= now()
    order by wake_at limit $2 for update skip locked))
returning id
"""

BEGIN = """
update duebook.notifications set
    state = 'sending', event = 'begin', version = version + 1, moved_at = now(), number = number + 1, begun_at = now(),
    first_begun_at = now(), message = $2, rendered_at = now()
where id = any ($1::bigint[])
"""

SETTLE = """
update duebook.notifications set
    state = 'accepted', event = 'accept', version = version + 1, moved_at = now(), lease_until = null, holder = null,
    closed_at = now(), basis = 'reported'
where id = any ($1::bigint[])
"""


async def drain_raw(url: str) -> tuple[int, float]:
    """Move everything due to accepted; answers how many and the seconds."""
    connection = await asyncpg.connect(url)
    claim, begin, settle = [await connection.prepare(text) for text in (CLAIM, BEGIN, SETTLE)]
    settle_down(url)
    count, started = 0, time.perf_counter()
    while found := await claim.fetch(CHANNEL, BATCH):
        ids = [row[0] for row in found]
        await begin.fetch(ids, MESSAGE)
        await settle.fetch(ids)
        count += len(ids)
    seconds = time.perf_counter() - started
    await connection.close()
    return count, seconds
