-- Store new schedules; answers the names that were free.
insert into duebook.schedules (
    name, kind, recipient, tenant, namespace, data, recurrence, zone, catch_up, max_lateness_seconds, most,
    until_at, version, cursor_at, next_at, paused_at, reason, created_at, changed_at, changed_by)
select
    name, kind, recipient, tenant, namespace, cast(data as jsonb), cast(recurrence as jsonb), zone, catch_up,
    max_lateness_seconds, most, until_at, version, cursor_at, next_at, paused_at, reason, created_at, changed_at,
    changed_by
from jsonb_to_recordset(cast(:rows as jsonb)) as r(
    name text, kind text, recipient text, tenant text, namespace text, data text, recurrence text, zone text,
    catch_up text, max_lateness_seconds bigint, most integer, until_at timestamptz, version integer,
    cursor_at timestamptz, next_at timestamptz, paused_at timestamptz, reason text, created_at timestamptz,
    changed_at timestamptz, changed_by text)
order by name
on conflict do nothing
returning name
