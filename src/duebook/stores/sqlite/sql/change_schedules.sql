-- Write what schedules are now, their places in time included. Fenced by version: whoever changed one first wins.
update duebook_schedules as s set
    kind = r.kind, recipient = r.recipient, tenant = r.tenant, data = r.data, recurrence = r.recurrence,
    zone = r.zone, catch_up = r.catch_up, max_lateness_seconds = r.max_lateness_seconds, most = r.most,
    until_at = r.until_at, cursor_at = r.cursor_at, next_at = r.next_at, paused_at = r.paused_at,
    reason = r.reason, changed_at = r.changed_at, changed_by = r.changed_by, version = s.version + 1
from (
    select
        value ->> 'name' as name, value ->> 'kind' as kind, value ->> 'recipient' as recipient,
        value ->> 'tenant' as tenant, value ->> 'data' as data, value ->> 'recurrence' as recurrence,
        value ->> 'zone' as zone, value ->> 'catch_up' as catch_up,
        value ->> 'max_lateness_seconds' as max_lateness_seconds, value ->> 'most' as most,
        value ->> 'until_at' as until_at, value ->> 'version' as version, value ->> 'cursor_at' as cursor_at,
        value ->> 'next_at' as next_at, value ->> 'paused_at' as paused_at, value ->> 'reason' as reason,
        value ->> 'changed_at' as changed_at, value ->> 'changed_by' as changed_by
    from json_each(:rows)
) as r
where s.name = r.name and s.version = r.version
returning name
