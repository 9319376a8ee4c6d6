-- Notifications about which something was learned that nobody has looked at yet; of the kinds
-- served here, and not those on the wire.
select {notification}
from duebook_notifications
where id in (
    select e.notification_id from duebook_evidence e
    join duebook_notifications n on n.id = e.notification_id and n.state <> 'sending'
        and n.kind in (select value from json_each(:kinds))
    where e.considered_at is null
    order by e.notification_id
    limit :limit)
order by id
