-- Notifications about which something was learned that nobody has looked at yet; of the kinds
-- served here, and not those on the wire.
select {notification}
from duebook.notifications
where id = any (array(
    select e.notification_id from duebook.evidence e
    join duebook.notifications n on n.id = e.notification_id and n.state <> 'sending'
        and n.kind = any (array(select jsonb_array_elements_text(cast(:kinds as jsonb))))
    where e.considered_at is null
    order by e.notification_id
    limit :limit))
order by id
for update skip locked
