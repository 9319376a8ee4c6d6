-- Attempts that receipts may be about: those of the notifications they refer to, and those whose provider named the
-- message as they do. The one on the wire is one of them.
with wanted as (
    select a.notification_id, a.number, a.begun_at, a.provider_id, a.channel, a.outcome
    from duebook_attempts a
    where a.notification_id in (select value from json_each(:ids))
    union
    select a.notification_id, a.number, a.begun_at, a.provider_id, a.channel, a.outcome
    from duebook_attempts a
    where a.provider_id in (select value from json_each(:provider_ids))
    union
    select n.id, n.number, n.begun_at, null, n.channel, null
    from duebook_notifications n
    where n.id in (select value from json_each(:ids)) and n.state = 'sending'
)
select
    wanted.notification_id, wanted.number, wanted.begun_at, wanted.provider_id, wanted.channel, wanted.outcome,
    n.namespace, n.kind, n.key
from wanted
join duebook_notifications n on n.id = wanted.notification_id
order by wanted.notification_id, wanted.number
