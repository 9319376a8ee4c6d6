-- Promise many notifications; answers the ones created. An identity that exists is left alone and not answered.
-- Differs because SQLite has one writer at a time, so that "not exists" is exact; a trigger writes the identity.
insert into duebook_notifications (
    kind, key, recipient, tenant, namespace, channel, priority, group_key, data, due_at, wall, zone, rule, tzdata,
    expires_at, state, event, version, wake_at, created_at, moved_at)
select
    value ->> 'kind', value ->> 'key', value ->> 'recipient', value ->> 'tenant', value ->> 'namespace',
    value ->> 'channel', value ->> 'priority', value ->> 'group_key', value ->> 'data', value ->> 'due_at',
    value ->> 'wall', value ->> 'zone', value ->> 'rule', value ->> 'tzdata', value ->> 'expires_at',
    'scheduled', 'schedule', 1, value ->> 'wake_at', value ->> 'created_at',
    value ->> 'created_at'
from json_each(:rows)
where not exists (
    select 1 from duebook_identities i where i.kind = value ->> 'kind' and i.key = value ->> 'key')
returning id, kind, key
