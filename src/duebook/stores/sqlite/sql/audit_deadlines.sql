-- A page of deadlines by name, each with its reminders that nobody has begun, and whether any step of its term is on
-- record, for an audit: all as one statement sees it.
select
    d.kind, d.key, d.term, d.state, d.ends_at, d.changed_at,
    exists (
        select 1 from duebook_identities i
        where i.recipient = d.recipient and i.kind = d.kind
            and substr(i.key, 1, length(d.key || '/' || d.term || '/')) = d.key || '/' || d.term || '/')
    or exists (
        select 1 from duebook_missed m
        where m.recipient = d.recipient and m.source = 'deadline' and m.kind = d.kind
            and m.name = d.key || '/' || d.term),
    (select json_group_array(n.key) from duebook_notifications n
    where n.group_key = 'deadline:' || d.kind || ':' || d.key and n.closed_at is null
        and n.state in ('scheduled', 'claimed', 'review'))
from duebook_deadlines d
where (d.kind, d.key) > (:kind, :key)
    and (:until_kind is null or (d.kind, d.key) <= (:until_kind, :until_key))
order by d.kind, d.key
limit :limit
