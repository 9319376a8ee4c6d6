-- A page of identities by name, each with the name of the notification it points to, for an audit.
-- Differs because the lateral limit keeps the planner from reading a whole table for each page.
select i.kind, i.key, i.notification_id, i.state, i.closed_at, n.kind, n.key
from duebook.identities i
left join lateral (select kind, key from duebook.notifications where id = i.notification_id limit 1) n on true
where (i.kind, i.key) > (:kind, :key)
    and (:until_kind is null or (i.kind, i.key) <= (:until_kind, :until_key))
order by i.kind, i.key
limit :limit
