-- A page of identities by name, each with the name of the notification it points to, for an audit.
select i.kind, i.key, i.notification_id, i.state, i.closed_at, n.kind, n.key
from duebook_identities i
left join duebook_notifications n on n.id = i.notification_id
where (i.kind, i.key) > (:kind, :key)
    and (:until_kind is null or (i.kind, i.key) <= (:until_kind, :until_key))
order by i.kind, i.key
limit :limit
