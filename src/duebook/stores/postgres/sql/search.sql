-- A page of notifications for a person to look at, newest first.
select {notification}
from duebook.notifications
where id < :before
    and (:kind is null or kind = :kind)
    and (:state is null or state = :state)
    and (:channel is null or channel = :channel)
    and (:tenant is null or tenant = :tenant)
order by id desc
limit :limit
