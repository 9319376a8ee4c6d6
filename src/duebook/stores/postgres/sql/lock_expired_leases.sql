-- Notifications whose worker has not been heard of since its lease ran out.
select {notification}
from duebook.notifications
where lease_until < cast(:before as timestamptz)
order by lease_until
limit :limit
for update skip locked
