-- Put on record that the broker has been told, unless the notification has moved meanwhile. Locked in the order of ids, as
-- a claim of what was delivered locks them.
with told as materialized (
    select n.id from duebook.notifications n
    join jsonb_to_recordset(cast(:rows as jsonb)) as r(id bigint, version integer)
        on n.id = r.id and n.version = r.version
    order by n.id for update of n
)
update duebook.notifications set published_for = wake_at, publish_until = null
where id = any (array(select id from told))
