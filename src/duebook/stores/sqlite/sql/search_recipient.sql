-- A page of one recipient's notifications, newest first.
select {notification}
from duebook_notifications
where id in (
    select notification_id from duebook_identities
    where recipient = :recipient and notification_id < :before
    order by notification_id desc
    limit :limit)
order by id desc
