-- Open notifications of cancellation groups, held until the transaction ends; in id order, so that two never deadlock.
select {notification}
from duebook_notifications
where group_key in (select value from json_each(:groups)) and closed_at is null
order by id
limit :limit
