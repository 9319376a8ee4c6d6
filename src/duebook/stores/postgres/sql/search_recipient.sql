-- A page of one recipient's notifications, newest first.
select {notification}
from duebook.notifications
where id = any (array(
    select notification_id from duebook.identities
    where recipient = :recipient and notification_id < :before
    order by notification_id desc
    limit :limit))
order by id desc
