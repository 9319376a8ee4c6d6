-- Attempts that receipts may be about: those of the notifications they refer to, and those whose provider named the
-- message as they do. The one on the wire is one of them.
with wanted as (
    select a.notification_id, a.number, a.begun_at, a.provider_id, a.channel, a.outcome
    from duebook.attempts a
    where a.notification_id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint))
    union
    select a.notification_id, a.number, a.begun_at, a.provider_id, a.channel, a.outcome
    from duebook.attempts a
    where a.provider_id = any (array(select jsonb_array_elements_text(cast(:provider_ids as jsonb))))
    union
    select n.id, n.number, n.begun_at, null, n.channel, null
    from duebook.notifications n
    where n.id = any (array(select jsonb_array_elements_text(cast(:ids as jsonb))::bigint)) and n.state = 'sending'
)
select
    wanted.notification_id, wanted.number, wanted.begun_at, wanted.provider_id, wanted.channel, wanted.outcome,
    n.namespace, n.kind, n.key
from wanted
join duebook.notifications n on n.id = wanted.notification_id
order by wanted.notification_id, wanted.number
