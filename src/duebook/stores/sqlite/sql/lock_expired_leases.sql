-- Notifications whose worker has not been heard of since its lease ran out.
select {notification}
from duebook_notifications
where lease_until < :before
order by lease_until
limit :limit
