-- Store new schedules; answers the names that were free.
insert into duebook_schedules (
    name, kind, recipient, tenant, namespace, data, recurrence, zone, catch_up, max_lateness_seconds, most,
    until_at, version, cursor_at, next_at, paused_at, reason, created_at, changed_at, changed_by)
select
    name, kind, recipient, tenant, namespace, data, recurrence, zone, catch_up, max_lateness_seconds, most,
    until_at, version, cursor_at, next_at, paused_at, reason, created_at, changed_at, changed_by
from (
    select
        value ->> 'name' as name, value ->> 'kind' as kind, value ->> 'recipient' as recipient,
        value ->> 'tenant' as tenant, value ->> 'namespace' as namespace, value ->> 'data' as data,
        value ->> 'recurrence' as recurrence, value ->> 'zone' as zone, value ->> 'catch_up' as catch_up,
        value ->> 'max_lateness_seconds' as max_lateness_seconds, value ->> 'most' as most,
        value ->> 'until_at' as until_at, value ->> 'version' as version, value ->> 'cursor_at' as cursor_at,
        value ->> 'next_at' as next_at, value ->> 'paused_at' as paused_at, value ->> 'reason' as reason,
        value ->> 'created_at' as created_at, value ->> 'changed_at' as changed_at,
        value ->> 'changed_by' as changed_by
    from json_each(:rows)
) as r
where true
on conflict do nothing
returning name
