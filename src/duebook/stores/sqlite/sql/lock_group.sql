-- Open notifications of a cancellation group, held until the transaction ends; in id order, so that two never deadlock.
select {notification}
from duebook_notifications
where group_key = :group and closed_at is null
order by id
limit :limit
