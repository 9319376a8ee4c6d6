"""Two hundred thousand notifications, most of them far in the future, messages and items, in both databases; and twenty
thousand schedules, deadlines, conversations and recipients of digests."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.plans.statements import BIG
from tests.support.fixtures import clock, migrated_file, psql_session, world
from tests.support.shell import Shell

__all__ = ["clock", "migrated_file", "psql_session", "world"]

ROWS = 200_000
FEWER = 20_000
NOW = "2030-01-07T12:00:00.000000Z"

# One row in forty is not scheduled: held, uncertain, in review or closed. Ten thousand are due on their own channels:
# `paused` is paused, `orphan` is of a kind nobody serves.
COLUMNS = """
    insert into @notifications (
        id, kind, key, recipient, namespace, channel, priority, group_key, data, due_at, wall, zone, tzdata, expires_at,
        state, event, version, wake_at, lease_until, attention_at, review_at, closed_at, holder, age_from, created_at,
        moved_at, reason, basis, number, message, begun_at)
    select
        i, case when i > 195000 then 'unknown' else 'mail' end, 'k' || i, 'r' || (i % 20000), 'test',
        case when i > 195000 then 'orphan' when i > 190000 then 'paused' else 'mail' end, i % 3,
        'g' || (i % 50000), '{{}}', at, '2030-06-03T09:00:00', case when i % 3 = 0 then 'Europe/Berlin' end, '1999a',
        case when i % 10 = 0 and i <= 190000 then at end, s, 'schedule', 1,
        case when s = 'scheduled' then at end, case when s = 'claimed' then at end,
        case when s = 'uncertain' then at end,
        case when s = 'review' then at end, case when s = 'accepted' then at end,
        case when s = 'claimed' then 'w' end, at, at, at, 'why', case when s = 'accepted' then 'reported' end,
        case when s = 'scheduled' then 0 else 1 end, '{{}}', at
    from (
        select i, case when i > 190000 or i % 40 <> 0 then 'scheduled' when i % 160 = 0 then 'claimed'
            when i % 160 = 40 then 'uncertain' when i % 160 = 80 then 'review' else 'accepted' end as s,
            {at} as at
        from {numbers}) as made"""

IDENTITIES = """
    insert into @identities (kind, key, notification_id, recipient, due_at, created_at)
    select kind, key, id, recipient, due_at, created_at from @notifications"""

LEDGER = """
    insert into @attempts (notification_id, number, channel, begun_at, ended_at, holder, outcome, provider_id)
    select id, 1, channel, due_at, due_at, 'w', 'uncertain', 'p' || id from @notifications where id % 8 = 0"""

EVIDENCE = """
    insert into @evidence (notification_id, number, source, says, at, considered_at)
    select id, 1, 'receipt', 'unknown', due_at, due_at from @notifications where id % 8 = 0"""

# One schedule in a hundred is due and of a kind nobody serves; of the others every second one waits.
SCHEDULES = """
    insert into @schedules (
        name, kind, recipient, namespace, data, recurrence, zone, catch_up, most, version, cursor_at, next_at,
        created_at, changed_at, changed_by)
    select
        's' || i, case when i % 100 = 0 then 'unknown' else 'mail' end, 'r' || i, 'test', '{{}}',
        '{{"cron": "0 9 * * *"}}', 'UTC', 'latest', 100, 1, start,
        case when i % 100 = 0 then start when i % 2 = 0 then at end, at, at, 'app'
    from (select i, {at} as at, {start} as start from {numbers}) as made"""

DEADLINES = """
    insert into @deadlines (
        kind, key, recipient, namespace, data, wall, zone, ends_at, term, first_term, state, created_at, changed_at,
        changed_by)
    select 'mail', 'd' || i, 'r' || i, 'test', '{{}}', '2031-01-01', 'UTC', at, 1, 1, 'open', at, at, 'app'
    from (select i, {at} as at from {numbers}) as made"""

MISSED = """
    insert into @missed (
        source, kind, name, recipient, first_label, last_label, first_at, last_at, periods, outcome, reason,
        recorded_at)
    select 'schedule', 'mail', 's' || i, 'r' || (i % 5000), 'a', 'b', at, at, 1, 'skipped', 'why', at
    from (select i, {at} as at from {numbers}) as made"""

# Twenty thousand reminders of as many conversations, each with ten messages, a watermark and a cover.
REMINDERS = """
    update @notifications set
        group_key = 'unread:mail:' || length('c' || (id - 100000)) || ':c' || (id - 100000) || ':ann',
        data = ('{{"conversation": "c' || (id - 100000) || '", "message": "m", "position": 1}}'){json}
    where id > 100000 and id <= 120000"""

CONVERSATIONS = """
    insert into @conversations (kind, conversation, last_position)
    select 'mail', 'c' || i, 1 from {numbers}"""

MESSAGES = """
    insert into @messages (kind, conversation, position, message, author, posted_at)
    select 'mail', 'c' || (1 + i % 20000), 1 + i / 20000, 'm' || i, 'bob', {at} from {numbers}"""

WATERMARKS = """
    insert into @watermarks (kind, conversation, recipient, cover_id)
    select 'mail', 'c' || i, 'ann', i from {numbers}"""

COVERS = """
    insert into @covers (
        notification_id, kind, conversation, recipient, after_position, to_position, total, fresh, begun_at)
    select i, 'mail', 'c' || i, 'ann', 0, 1, 1, 1, {at} from {numbers}"""

# Twenty thousand recipients with ten items each, of which two are in a digest; one in four has something to close.
ITEMS = """
    insert into @digest_items (kind, recipient, item, ready_at, score, data, added_at, label)
    select 'mail', 'r' || (i % 20000), 'i' || i, {at}, i % 7, '{{}}', {at}, case when i > 160000 then 'before' end
    from {numbers}"""

CURSORS = """
    insert into @digest_cursors (kind, recipient, namespace, zone, open_from, next_close_at)
    select 'mail', 'r' || i, 'test', 'UTC', {start}, case when i % 4 = 0 then {start} else {at} end
    from {numbers}"""

DIGESTS = """
    insert into @digests (
        kind, recipient, label, notification_id, first_label, periods, cutoff_at, open_from, total, selected, late,
        closed_at, unsent)
    select 'mail', 'r' || i, 'before', i, 'before', 1, {at}, {start}, 5, 2, 0, {at}, 'carry'
    from {numbers}"""

PEOPLE = """
    insert into @people (recipient, addresses, changed_at, changed_by)
    select 'r' || i, '{{}}', {at}, 'app' from {numbers}"""

OPT_OUTS = """
    insert into @opt_outs (recipient, scope, reason, at, by)
    select 'r' || i, 'kind:chat', 'why', {at}, 'app' from {numbers}"""

# One receipt in a hundred is about nothing that is known.
RECEIPTS = """
    insert into @receipts (
        provider, id, event, at, provider_id, permanent, received_at, notification_id, number)
    select 'resend', 'e' || i, 'delivered', {at}, 'p' || i, i < 0, {at}, case when i % 100 <> 0 then i end,
        case when i % 100 <> 0 then 1 end
    from {numbers}"""

SUPPRESSIONS = """
    insert into @suppressions (channel, address, scope, reason, at, by)
    select 'mail', 'r' || i || '@example.org', 'everything', 'why', {at}, 'app' from {numbers}"""

MANY = (MESSAGES, ITEMS)
SEVERAL = (
    SCHEDULES, DEADLINES, MISSED, CONVERSATIONS, WATERMARKS, COVERS, CURSORS, DIGESTS, PEOPLE, OPT_OUTS, RECEIPTS,
    SUPPRESSIONS,
)  # fmt: skip

PAUSE = f"insert into @controls (scope, paused_at, by, at) values ('channel:paused', '{NOW}', 'ops', '{NOW}')"


@pytest.fixture(scope="session")
def crowded_postgres(psql_session: tuple[str, Shell]) -> Shell:
    _, shell = psql_session
    at = f"timestamptz '{NOW}' + case when i > 190000 then -i * interval '1 ms' else i * interval '1 s' end"
    # Indexes are made once the rows are there: it takes half the time.
    indexes = shell.run(
        "select indexname, indexdef from pg_indexes where tablename = 'notifications' and indexname not like '%pkey'"
    )
    with shell.connection.transaction():
        for name, _ in indexes:
            shell.run(f"drop index duebook.{name}")
        shell.run("alter table @notifications disable trigger user")
        shell.run(COLUMNS.format(at=at, numbers=f"generate_series(1, {ROWS}) as i"))
        shell.run(REMINDERS.format(json="::jsonb"))
        shell.run("alter table @notifications enable trigger user")
        for statement in (IDENTITIES, LEDGER, EVIDENCE, PAUSE, *(definition for _, definition in indexes)):
            shell.run(statement)
        for statement in (*SEVERAL, *MANY):
            numbers = f"generate_series(1, {ROWS if statement in MANY else FEWER}) as i"
            later = f"timestamptz '{NOW}' + i * interval '1 s'"
            shell.run(statement.format(at=later, start=f"timestamptz '{NOW}'", numbers=numbers))
    for table in BIG:
        shell.run(f"vacuum analyze @{table}")
    return shell


@pytest.fixture(scope="session")
def crowded_sqlite(migrated_file: Path) -> Iterator[Shell]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    with sqlite3.connect(migrated_file) as empty:
        empty.backup(connection)
    empty.close()
    shell = Shell("sqlite", connection)
    made = shell.run("select type, name, sql from sqlite_master where type in ('trigger', 'index') and sql is not null")
    numbers, fewer = (
        f"(with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows}) select i from n)"
        for rows in (ROWS, FEWER)
    )
    offset = "case when i > 190000 then -i / 1000.0 else i end"
    at = f"strftime('%Y-%m-%dT%H:%M:%f000Z', '{NOW}', ({offset}) || ' seconds')"
    shell.run("begin")
    for kind, name, _ in made:
        shell.run(f"drop {kind} {name}")
    for statement in (
        COLUMNS.format(at=at, numbers=numbers),
        IDENTITIES,
        LEDGER,
        EVIDENCE,
        PAUSE,
        REMINDERS.format(json=""),
    ):
        shell.run(statement)
    later = f"strftime('%Y-%m-%dT%H:%M:%f000Z', '{NOW}', i || ' seconds')"
    for statement in (*SEVERAL, *MANY):
        shell.run(statement.format(at=later, start=f"'{NOW}'", numbers=numbers if statement in MANY else fewer))
    for *_, sql in made:
        shell.run(sql)
    shell.run("commit")
    shell.run("analyze")
    yield shell
    shell.close()


@pytest.fixture
def pinned_past(psql_session: tuple[str, Shell], crowded_postgres: Shell) -> Iterator[Shell]:
    """Three thousand rows were due long ago and went through the index, and a transaction of somebody else that began
    before keeps their dead entries from being cleared away."""
    with psycopg.connect(psql_session[0]) as elsewhere:
        elsewhere.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        elsewhere.execute("select count(*) from duebook.kinds")
        rows = "where id <= 3000 and wake_at is not null"
        for shift in ("- interval '40 days'", "+ interval '40 days'"):
            crowded_postgres.run(f"update @notifications set wake_at = wake_at {shift} {rows}")
        yield crowded_postgres
        elsewhere.rollback()
    crowded_postgres.run("vacuum analyze @notifications")
