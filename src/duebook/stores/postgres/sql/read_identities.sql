-- What became of these identities, whether or not retention has removed the notification.
select
    i.kind, i.key, i.notification_id, i.recipient, coalesce(n.state, i.state), coalesce(n.due_at, i.due_at), i.created_at,
    coalesce(n.closed_at, i.closed_at), coalesce(n.reason, i.reason), coalesce(n.provider_id, i.provider_id)
from jsonb_to_recordset(cast(:rows as jsonb)) as r(kind text, key text)
join duebook.identities i on i.kind = r.kind and i.key = r.key
left join duebook.notifications n on n.id = i.notification_id
