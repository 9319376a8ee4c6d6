-- What became of these identities, whether or not retention has removed the notification.
select
    i.kind, i.key, i.notification_id, i.recipient, coalesce(n.state, i.state), coalesce(n.due_at, i.due_at), i.created_at,
    coalesce(n.closed_at, i.closed_at), coalesce(n.reason, i.reason), coalesce(n.provider_id, i.provider_id)
from (
    select value ->> 'kind' as kind, value ->> 'key' as key
    from json_each(:rows)
) as r
join duebook_identities i on i.kind = r.kind and i.key = r.key
left join duebook_notifications n on n.id = i.notification_id
