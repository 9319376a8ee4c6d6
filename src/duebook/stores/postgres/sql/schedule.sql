-- Promise many notifications; answers the ones created. An identity that exists is left alone and not answered.
with wanted as materialized (
    select nextval('duebook.notifications_id_seq') as id, r.*
    from jsonb_to_recordset(cast(:rows as jsonb)) as r(
        kind text, key text, recipient text, tenant text, namespace text, channel text, priority smallint,
        group_key text, data text, due_at timestamptz, wall text, zone text, rule text, tzdata text,
        expires_at timestamptz, wake_at timestamptz, created_at timestamptz)
), created as (
    insert into duebook.identities (kind, key, notification_id, recipient, due_at, created_at)
    select kind, key, id, recipient, due_at, created_at from wanted
    on conflict do nothing
    returning notification_id
)
insert into duebook.notifications (
    id, kind, key, recipient, tenant, namespace, channel, priority, group_key, data, due_at, wall, zone, rule, tzdata,
    expires_at, state, event, version, wake_at, created_at, moved_at)
select
    w.id, w.kind, w.key, w.recipient, w.tenant, w.namespace, w.channel, w.priority, w.group_key, cast(w.data as jsonb), w.due_at,
    w.wall, w.zone, w.rule, w.tzdata, w.expires_at, 'scheduled', 'schedule', 1, w.wake_at, w.created_at,
    w.created_at
from wanted w join created c on c.notification_id = w.id
returning id, kind, key
