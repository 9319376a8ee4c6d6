-- A page of one recipient's notifications, newest first.
select {notification}
from duebook_notifications
where id in (
    select notification_id from duebook_identities
    where recipient = :recipient and notification_id < :before)
    and (:kind is null or kind = :kind)
    and (:state is null or state = :state)
    and (:channel is null or channel = :channel)
    and (:tenant is null or tenant = :tenant)
order by id desc
limit :limit
